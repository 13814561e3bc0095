import type { StreamResponse } from '@a2a-js/sdk';
import { z } from 'zod';
import { ThroughlineError } from '../../errors.ts';
import { correlationExtension } from '../../model/envelope.ts';

/**
 * Where an update stands among all of its task's. Numbers are the task's writes, the same for every
 * reader, process and restart. A reader that has everything up to a number from `after` on misses
 * nothing with this one but what `gap` names: those came and went, and are told in sum only.
 */
export interface Mark {
  readonly seq: number;
  readonly after?: number;
  readonly gap?: { readonly from: number; readonly to: number };
}

export interface StreamEvent extends StreamResponse {
  /** Absent where several updates make one number: the last of them carries it. */
  readonly mark?: Mark;
}

/** Key of the mark in an update's metadata, beside the envelope's. */
export const markKey = `${correlationExtension}/mark`;

/** The update with its mark in its metadata, too; a copy. */
export function withMark(event: StreamEvent): StreamEvent {
  const { payload, mark } = event;
  if (payload === undefined || mark === undefined) return event;
  const metadata = { ...payload.value.metadata, [markKey]: mark };
  if (payload.$case === 'task') {
    return { mark, payload: { $case: 'task', value: { ...payload.value, metadata } } };
  }
  if (payload.$case === 'message') {
    return { mark, payload: { $case: 'message', value: { ...payload.value, metadata } } };
  }
  if (payload.$case === 'statusUpdate') {
    return { mark, payload: { $case: 'statusUpdate', value: { ...payload.value, metadata } } };
  }
  return { mark, payload: { $case: 'artifactUpdate', value: { ...payload.value, metadata } } };
}

const shownMark = z.object({ [markKey]: z.object({ seq: z.int().min(0) }) });

/** The number that a peer's update carries; undefined where it carries none. */
export const seqIn = ({ payload }: StreamResponse): number | undefined =>
  shownMark.safeParse(payload?.value.metadata).data?.[markKey].seq;

/** Updates of one write: the last of them carries its mark. */
export const marked = (updates: readonly StreamResponse[], mark: Mark): StreamEvent[] =>
  updates.map((update, index) => (index === updates.length - 1 ? { ...update, mark } : update));

const cursorText = /^\d{1,15}$/;

/** `Last-Event-ID` → number of the last update that a reader has; throws `invalid`. */
export function parseCursor(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  if (cursorText.test(text)) return Number(text);
  throw new ThroughlineError('invalid', 'Last-Event-ID: is no event id of this agent');
}

/** What a reader lacks by a snapshot that stands at `seq`; throws `invalid` when it is ahead of it. */
export function snapshotMark(seq: number, cursor: number | undefined): Mark {
  if (cursor === undefined || cursor === seq) return { seq };
  if (cursor > seq) {
    throw new ThroughlineError(
      'invalid',
      `Last-Event-ID: ${cursor} is ahead of the task, which is at ${seq}; subscribe without it`,
    );
  }
  return { seq, gap: { from: cursor + 1, to: seq } };
}
