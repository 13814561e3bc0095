import { z } from 'zod';
import { assertionSchema } from '../../model/index.ts';
import { chainHash, type StoredLogEntry } from '../../store/index.ts';
import { toJson } from '../records.ts';
import type { Taken } from '../recorder.ts';
import { commitmentOf } from '../vault.ts';
import { originSchema, type LineOf } from './lines.ts';

const shapeSchema = z.looseObject({
  statement: z.looseObject({ says: z.string() }),
  commitment: z.string().optional(),
});
const storedShape = z.looseObject({ origin: originSchema.optional() });
const takenSchema = assertionSchema.omit({ seq: true });

/** The hash that an entry had where it was recorded first. */
export const firstHash = ({ shape, hash }: StoredLogEntry): string =>
  storedShape.parse(shape).origin?.hash ?? hash;

/**
 * What stands in for content that was destroyed, so that what an entry says can still be followed. Of a
 * name that must be told apart from others it is one of its own.
 */
function standIn(says: string, id: string): object {
  switch (says) {
    case 'dialog.bound':
      return { local: { protocol: 'a2a', localId: id } };
    case 'task.bound':
      return { localId: id };
    case 'activity.labelled':
      return { label: { name: id } };
    default:
      return {};
  }
}

/** What to take in of a line; undefined for a statement that this version does not know. */
export function takenFrom(line: LineOf<'entry'>): Taken | undefined {
  const { kind: _kind, domain, seq, previous, hash, id, about, activity, shape, broke } = line;
  const { statement, commitment: _commitment, ...rest } = shapeSchema.parse(shape);
  const content = line.content ?? standIn(statement.says, id);
  const assertion = takenSchema.safeParse({
    ...rest,
    id,
    about,
    ...(activity === undefined ? {} : { activity }),
    statement: { ...statement, ...content },
  });
  if (!assertion.success) return undefined;
  return {
    assertion: assertion.data,
    shape: toJson({ ...shape, origin: { domain, seq, previous, hash } }),
    content: saltedFrom(line),
    broke,
  };
}

function saltedFrom({ content, salt }: LineOf<'entry'>): Taken['content'] {
  if (content === undefined || salt === undefined) return undefined;
  return { salt: Buffer.from(salt, 'base64url'), value: content };
}

/** What is wrong with an entry by itself: hash, commitment, or a statement that is not known. */
export function problemIn(line: LineOf<'entry'>): string | undefined {
  const { id, about, activity, previous, hash } = line;
  const shape = toJson(line.shape);
  const entry = { id, about, ...(activity === undefined ? {} : { activity }), shape };
  if (chainHash(previous, entry) !== hash) return `${id}: its hash does not follow from its shape`;
  const parsed = shapeSchema.safeParse(line.shape);
  if (!parsed.success) return `${id}: its shape holds no statement`;
  const { commitment } = parsed.data;
  if ((line.content === undefined) !== (line.salt === undefined)) return `${id}: has no salt`;
  const salted = saltedFrom(line);
  if (salted !== undefined) {
    const plain = Buffer.from(JSON.stringify(salted.value));
    if (commitment !== commitmentOf(salted.salt, plain)) {
      return `${id}: its content is not what its shape commits to`;
    }
  }
  return takenFrom(line) === undefined ? `${id}: says what is not known here` : undefined;
}
