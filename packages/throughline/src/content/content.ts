import { ThroughlineError } from '../errors.ts';
import { limits } from '../model/limits.ts';

/** Bytes that an object may have: a piece of content, and what sealing adds. */
export const maxObjectBytes: number = limits.contentBytes + 1_024;
/** Ids in one call of `delete`, and in one answer of `list`. */
export const maxObjectIds = 1_000;

/**
 * Where sealed bytes lie, by ids that say nothing: 32 hexadecimal digits, from 16 random bytes. An id
 * names the same bytes for ever. A driver knows neither what they hold nor whose they are.
 *
 * Where the place can't be reached, calls throw `unavailable` and may be repeated; for an id that is
 * none, or too much at once, `invalid`; for bytes beyond `maxObjectBytes`, `too-large`.
 */
export interface ContentDriver {
  /** Resolves once the bytes survive a crash. Done before, it changes nothing. */
  put(id: string, bytes: Uint8Array): Promise<void>;
  get(id: string): Promise<Uint8Array | undefined>;
  /** Those that are not there are gone already. */
  delete(ids: readonly string[]): Promise<void>;
  /** Ids after one (all: `''`), ascending, at most `limit`. */
  list(after: string, limit: number): Promise<readonly string[]>;
  /** May be called again. */
  close(): Promise<void>;
}

const idForm = /^[0-9a-f]{32}$/;

export const isObjectId = (id: string): boolean => idForm.test(id);

/** Refuses what is no id: a driver makes paths of them. */
export function checkId(id: string): void {
  if (isObjectId(id)) return;
  throw new ThroughlineError('invalid', 'content: an object’s id is 32 hexadecimal digits');
}

export function checkPut(id: string, bytes: Uint8Array): void {
  checkId(id);
  if (bytes.length <= maxObjectBytes) return;
  throw new ThroughlineError('too-large', `content: an object is over ${maxObjectBytes} bytes`);
}

export function checkDelete(ids: readonly string[]): void {
  checkCount(ids.length);
  for (const id of ids) checkId(id);
}

export function checkList(after: string, limit: number): void {
  if (after !== '') checkId(after);
  checkCount(limit);
}

function checkCount(count: number): void {
  if (Number.isInteger(count) && count >= 0 && count <= maxObjectIds) return;
  throw new ThroughlineError('invalid', `content: at most ${maxObjectIds} ids at a time`);
}

/** Something that was kept is longer than anything that is ever kept here. */
export const tooLong = (id: string): ThroughlineError =>
  new ThroughlineError('damaged', `content: the object ${id} is longer than any that is put`);

export const closed = (): ThroughlineError =>
  new ThroughlineError('unavailable', 'content: the place is closed', { retryable: false });
