import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import {
  feedTypes,
  type Assertion,
  type CasePage,
  type CaseView,
  type FeedEvent,
  type FeedItem,
} from '../model/index.ts';
import type { StoredLogEntry } from '../store/store.ts';
import type { CaseBoxes } from './case-boxes.ts';
import { scopeOf } from './graph-codec.ts';
import { openEntry } from './statements.ts';

export type GapReason = Extract<FeedEvent, { type: typeof feedTypes.gap }>['data']['reason'];

const shape = z.looseObject({ commitment: z.string().optional() });

/**
 * The assertion of an entry, or why it can’t be told whole: with its case’s key destroyed the timeline still has its
 * shape, and a reader must not take that for all that was said.
 */
export async function tell(
  entry: StoredLogEntry,
  boxes: CaseBoxes,
): Promise<Assertion | Exclude<GapReason, 'other-history'>> {
  const { commitment } = shape.parse(entry.shape);
  const box = commitment && (await boxes.of(scopeOf(entry.about, entry.activity)));
  if (commitment !== undefined && (box === undefined || entry.sealed === undefined))
    return 'erased';
  try {
    return (await openEntry(entry, boxes)) ?? 'unreadable';
  } catch (error) {
    if (error instanceof ThroughlineError && error.code === 'damaged') return 'unreadable';
    throw error;
  }
}

const digits = 16;
const sequenceOf = (seq: number): string => String(seq).padStart(digits, '0');

/** Puts what is told into the envelopes of CloudEvents. */
export class FeedEvents {
  readonly #source: string;
  readonly #now: () => Date;

  constructor(source: string, now: () => Date) {
    this.#source = source;
    this.#now = now;
  }

  assertion(cursor: string, data: Assertion): FeedItem {
    const { id, about: subject, recordedAt: time, seq } = data;
    const sequence = sequenceOf(seq);
    return {
      cursor,
      event: { ...this.#common(id), type: feedTypes.assertion, subject, time, sequence, data },
    };
  }

  /** `seq`: of the last assertion in it. */
  snapshot(cursor: string, data: { case: CaseView } | { cases: CasePage }, seq = 0): FeedItem {
    const about = 'case' in data ? { subject: data.case.summary.activity } : {};
    const at = seq === 0 ? {} : { sequence: sequenceOf(seq) };
    return {
      cursor,
      event: { ...this.#common(cursor), type: feedTypes.snapshot, ...about, ...at, data },
    };
  }

  gap(cursor: string, reason: GapReason, seqs: { first?: number; last?: number } = {}): FeedItem {
    const data = { reason, ...seqs };
    return { cursor, event: { ...this.#common(cursor), type: feedTypes.gap, data } };
  }

  #common(id: string) {
    return {
      specversion: '1.0',
      id,
      source: this.#source,
      time: this.#now().toISOString(),
      datacontenttype: 'application/json',
    } as const;
  }
}
