import { hash } from 'node:crypto';
import { canonical } from './check.ts';
import type { LogEntry, Store } from './store.ts';

/** The hash before the first entry. */
export const genesis = '0'.repeat(64);

type Chained = Pick<LogEntry, 'id' | 'about' | 'activity' | 'shape'>;

/**
 * The hash of an entry that follows `previous`: SHA-256, hexadecimal, over the previous hash in
 * hexadecimal, a line feed, and the canonical JSON (RFC 8785) of `{about, activity?, id, shape}`.
 * The sealed part is left out, so that it can be erased; the shape commits to it.
 */
export function chainHash(previous: string, entry: Chained): string {
  return chainHashOf(previous, entry, canonical(entry.shape, 'shape'));
}

/** The same for an entry whose shape is in its canonical form already. */
export function chainHashOf(
  previous: string,
  entry: Omit<Chained, 'shape'>,
  shape: string,
): string {
  const activity =
    entry.activity === undefined ? '' : `,"activity":${JSON.stringify(entry.activity)}`;
  const text = `${previous}\n{"about":${JSON.stringify(entry.about)}${activity},"id":${JSON.stringify(entry.id)},"shape":${shape}}`;
  return hash('sha256', text, 'hex');
}

export interface ChainReport {
  /** Entries that follow from one another, from the first on. */
  readonly verified: number;
  /** Number of the first entry that is missing or does not follow; absent when all do. */
  readonly broken?: number;
}

const page = 1_000;

/** Recomputes the whole chain, page by page, up to the head at the time of the call. */
export async function verifyChain(store: Pick<Store, 'read'>): Promise<ChainReport> {
  const head = await store.read((reader) => reader.head());
  let previous = genesis;
  let verified = 0;
  while (verified < head.seq) {
    const after = verified;
    const limit = Math.min(page, head.seq - after);
    const entries = await store.read((reader) => reader.log({ after, limit }));
    for (const entry of entries) {
      if (entry.seq !== verified + 1 || entry.hash !== chainHash(previous, entry)) break;
      previous = entry.hash;
      verified = entry.seq;
    }
    if (verified < after + limit) return { verified, broken: verified + 1 };
  }
  return { verified };
}
