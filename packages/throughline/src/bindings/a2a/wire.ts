import { Role, TaskState as WireState, type Message, type Part, type Task } from '@a2a-js/sdk';
import { z } from 'zod';
import { envelopeSchema, correlationExtension, type Envelope } from '../../model/envelope.ts';
import { limits } from '../../model/limits.ts';
import { utf8Length } from '../../model/ids.ts';
import type { AwaitingWhat, TaskState } from '../../model/task.ts';
import { ThroughlineError } from '../../errors.ts';
import type { Part as Content } from '../../handover/parts.ts';

/** A state in our words. */
export interface State {
  readonly state: TaskState;
  readonly awaiting?: AwaitingWhat;
}

const states: readonly (readonly [WireState, State])[] = [
  [WireState.TASK_STATE_SUBMITTED, { state: 'defined' }],
  [WireState.TASK_STATE_WORKING, { state: 'in-progress' }],
  [WireState.TASK_STATE_COMPLETED, { state: 'completed' }],
  [WireState.TASK_STATE_FAILED, { state: 'failed' }],
  [WireState.TASK_STATE_CANCELED, { state: 'cancelled' }],
  [WireState.TASK_STATE_REJECTED, { state: 'rejected' }],
  [WireState.TASK_STATE_INPUT_REQUIRED, { state: 'awaiting', awaiting: 'input' }],
  [WireState.TASK_STATE_AUTH_REQUIRED, { state: 'awaiting', awaiting: 'authorization' }],
];

const byWire = new Map(states);

/** Undefined for UNSPECIFIED and for what this version of A2A does not know. */
export const stateFromWire = (wire: WireState | undefined): State | undefined =>
  wire === undefined ? undefined : byWire.get(wire);

/** The wire's state for ours; undefined where A2A has no word (`interrupted`, `timed-out`). */
export const stateToWire = ({ state, awaiting }: State): WireState | undefined =>
  states.find(([, ours]) => ours.state === state && ours.awaiting === awaiting)?.[0];

export const stateOf = (task: Task): State =>
  stateFromWire(task.status?.state) ?? { state: 'defined' };

const over: readonly TaskState[] = ['completed', 'failed', 'cancelled', 'rejected', 'timed-out'];

export const isFinal = ({ state }: Pick<State, 'state'>): boolean => over.includes(state);

/** A blocking call is answered here: the task is over or needs something from outside. */
export const isSettled = (state: Pick<State, 'state'>): boolean =>
  isFinal(state) || state.state === 'awaiting';

type WireContent = NonNullable<Part['content']>;

function contentToWire(content: Content): WireContent {
  if (content.kind === 'text') return { $case: 'text', value: content.text };
  if (content.kind === 'data') return { $case: 'data', value: content.data };
  if (content.kind === 'url') return { $case: 'url', value: content.url };
  return { $case: 'raw', value: Buffer.from(content.bytes) };
}

export const partToWire = (content: Content): Part => ({
  content: contentToWire(content),
  metadata: content.metadata === undefined ? undefined : { ...content.metadata },
  filename: content.name ?? '',
  mediaType: content.mediaType ?? '',
});

/** Undefined for a part with nothing in it. */
function partFromWire(part: Part): Content | undefined {
  const rest = {
    ...(part.mediaType === '' ? {} : { mediaType: part.mediaType }),
    ...(part.filename === '' ? {} : { name: part.filename }),
    ...(part.metadata === undefined ? {} : { metadata: part.metadata }),
  };
  const { content } = part;
  if (content === undefined) return undefined;
  if (content.$case === 'text') return { kind: 'text', text: content.value, ...rest };
  if (content.$case === 'url') return { kind: 'url', url: content.value, ...rest };
  if (content.$case === 'raw') {
    return { kind: 'bytes', bytes: new Uint8Array(content.value), ...rest };
  }
  const data: unknown = content.value;
  return { kind: 'data', data, ...rest };
}

export const partsFromWire = (parts: readonly Part[]): Content[] =>
  parts.map(partFromWire).filter((part) => part !== undefined);

/** All text of these parts, a line break between two; for objectives and status lines. */
export const textOf = (parts: readonly Part[]): string =>
  parts.flatMap(({ content }) => (content?.$case === 'text' ? [content.value] : [])).join('\n');

export const isFromUser = ({ role }: Pick<Message, 'role'>): boolean => role === Role.ROLE_USER;

/** A message from the agent, with nothing in it but text. */
export const agentText = (
  ids: { readonly messageId: string; readonly taskId: string; readonly contextId: string },
  text: string,
): Message => ({
  ...ids,
  role: Role.ROLE_AGENT,
  parts: [partToWire({ kind: 'text', text, mediaType: 'text/plain' })],
  metadata: undefined,
  extensions: [],
  referenceTaskIds: [],
});

const versioned = z.looseObject({ v: z.literal(1) });

/**
 * The correlation envelope in a message's or artifact's metadata. Absent, or of another version:
 * undefined. Throws `invalid` when it claims our version and is malformed or too large.
 */
export function envelopeIn(metadata: Message['metadata']): Envelope | undefined {
  const raw: unknown = metadata?.[correlationExtension];
  if (!versioned.safeParse(raw).success) return undefined;
  const bytes = utf8Length(JSON.stringify(raw));
  const parsed = envelopeSchema.safeParse(raw);
  if (parsed.success && bytes <= limits.envelopeBytes) return parsed.data;
  const issue = parsed.error?.issues[0];
  const reason =
    issue === undefined
      ? `is ${bytes} bytes, of at most ${limits.envelopeBytes}`
      : `is malformed at ${issue.path.join('.')}: ${issue.message}`;
  throw new ThroughlineError('invalid', `metadata["${correlationExtension}"] ${reason}`);
}
