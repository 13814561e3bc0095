import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import type { GraphObject } from '../graph/index.ts';
import {
  activitySchema,
  contentFields,
  dialogSchema,
  participantSchema,
  relationshipSchema,
  resourceSchema,
  taskSchema,
  type Relationship,
} from '../model/index.ts';
import type { StoredEdge, StoredObject } from '../store/store.ts';
import { toJson } from './records.ts';
import type { KeyBox } from './vault.ts';

type Fields = Readonly<Record<string, unknown>>;

const isContent: ReadonlySet<string> = new Set(contentFields);

/** What people may have written apart from ids, states and numbers. */
export function splitContent(value: object): { shape: Fields; content: Fields | undefined } {
  const [shape, content]: [Record<string, unknown>, Record<string, unknown>] = [{}, {}];
  for (const [name, field] of Object.entries(value)) {
    if (field !== undefined) (isContent.has(name) ? content : shape)[name] = field;
  }
  return { shape, content: Object.keys(content).length === 0 ? undefined : content };
}

/** What is in them is looked at with the whole. */
const fields = z.custom<Fields>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);
const stored = z.object({ born: z.int(), value: fields });

/** Case key that covers an object: its Activity's; a Participant has one of its own. */
export const scopeOf = (id: string, activity: string | undefined): string => activity ?? id;

export function activityOf(object: GraphObject): string | undefined {
  if (object.kind === 'participant') return undefined;
  return object.kind === 'activity' ? object.value.id : object.value.activity;
}

/** `born`: number of the assertion that it began with; `seq`: of the last that changed it. */
export interface Numbered {
  readonly born: number;
  readonly seq: number;
}

export function encodeObject(object: GraphObject, at: Numbered, box: KeyBox): StoredObject {
  const { id } = object.value;
  const activity = activityOf(object);
  const { shape, content: written } = splitContent(object.value);
  return {
    id,
    kind: object.kind,
    ...(activity === undefined ? {} : { activity }),
    ...(object.kind === 'task' ? { parent: object.value.dialog } : {}),
    shape: toJson({ born: at.born, value: shape }),
    ...(written === undefined ? {} : { sealed: box.seal(`object/${id}`, written).sealed }),
    seq: at.seq,
  };
}

/** Without a key only the shape comes back: what people wrote is gone. */
export function decodeObject(
  object: StoredObject,
  box: KeyBox | undefined,
): { object: GraphObject } & Numbered {
  const { id, kind, seq } = object;
  const { born, value: shape } = check(stored, object.shape, id);
  const value = { ...shape, ...open(`object/${id}`, object.sealed, box) };
  return { object: decodeValue(kind, value, id), born, seq };
}

function decodeValue(kind: string, value: Fields, id: string): GraphObject {
  switch (kind) {
    case 'participant':
      return { kind, value: check(participantSchema, value, id) };
    case 'activity':
      return { kind, value: check(activitySchema, value, id) };
    case 'dialog':
      return { kind, value: check(dialogSchema, { local: [], ...value }, id) };
    case 'task':
      return { kind, value: check(taskSchema, value, id) };
    case 'resource':
      return { kind, value: check(resourceSchema, value, id) };
    default:
      throw damaged(id);
  }
}

export function encodeEdge(edge: Relationship, at: Numbered, box: KeyBox): StoredEdge {
  const { id, type, from, to, activity, status } = edge;
  const { shape, content: written } = splitContent(edge);
  return {
    id,
    type,
    from,
    to,
    activity,
    status,
    shape: toJson({ born: at.born, value: shape }),
    ...(written === undefined ? {} : { sealed: box.seal(`edge/${id}`, written).sealed }),
    seq: at.seq,
  };
}

export function decodeEdge(
  edge: StoredEdge,
  box: KeyBox | undefined,
): { relationship: Relationship } & Numbered {
  const { born, value } = check(stored, edge.shape, edge.id);
  const written = open(`edge/${edge.id}`, edge.sealed, box);
  const relationship = check(relationshipSchema, { ...value, ...written }, edge.id);
  return { relationship, born, seq: edge.seq };
}

function open(label: string, sealed: Uint8Array | undefined, box: KeyBox | undefined): Fields {
  if (sealed === undefined || box === undefined) return {};
  return check(fields, box.open(label, sealed), label);
}

const damaged = (id: string, cause?: unknown) =>
  new ThroughlineError(
    'damaged',
    `${id} is not stored in the form this version writes; restore the data folder from a backup`,
    { cause },
  );

function check<T>(schema: z.ZodType<T>, value: unknown, id: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw damaged(id, result.error);
}
