import { ThroughlineError } from '../../errors.ts';
import type { Range } from './range.ts';

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const quote = 0x22;

/** Offsets at which units begin, and one at the end. */
type Offsets = readonly number[];

/** The units in the ranges, in order. Empty when none is there. */
export function slices(bytes: Uint8Array, offsets: Offsets, ranges: readonly Range[]): Uint8Array {
  const count = offsets.length - 1;
  const parts = ranges.flatMap(([from, to]) => {
    const [first, last] = [offsets[from], offsets[Math.min(to, count)]];
    return first === undefined || last === undefined ? [] : [bytes.subarray(first, last)];
  });
  return new Uint8Array(Buffer.concat(parts));
}

/** Lines with their ends: LF, CRLF or CR. */
export function lineOffsets(bytes: Uint8Array): Offsets {
  const offsets = [0];
  for (let at = 0; at < bytes.length; at++) {
    const isEnd =
      bytes[at] === lineFeed || (bytes[at] === carriageReturn && bytes[at + 1] !== lineFeed);
    if (isEnd && at + 1 < bytes.length) offsets.push(at + 1);
  }
  return ended(offsets, bytes);
}

/** Rows of CSV: a line end inside of quotes ends none. */
export function rowOffsets(bytes: Uint8Array): Offsets {
  const offsets = [0];
  let isQuoted = false;
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] === quote) isQuoted = !isQuoted;
    const isEnd =
      bytes[at] === lineFeed || (bytes[at] === carriageReturn && bytes[at + 1] !== lineFeed);
    if (isEnd && !isQuoted && at + 1 < bytes.length) offsets.push(at + 1);
  }
  return ended(offsets, bytes);
}

/** Characters of UTF-8; CRLF is one, as any line end is (RFC 5147, 2.1.1). */
export function charOffsets(bytes: Uint8Array): Offsets {
  const offsets: number[] = [];
  for (const [at, byte] of bytes.entries()) {
    const isInside = (byte & 0xc0) === 0x80;
    const isSecond = byte === lineFeed && bytes[at - 1] === carriageReturn;
    if (!isInside && !isSecond) offsets.push(at);
  }
  return [...offsets, bytes.length];
}

const ended = (offsets: number[], bytes: Uint8Array): Offsets =>
  bytes.length === 0 ? [0] : [...offsets, bytes.length];

/** @throws ThroughlineError `unsupported` for text that is not UTF-8. */
export function checkText(bytes: Uint8Array): void {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new ThroughlineError('unsupported', 'selector: the content is no text of UTF-8');
  }
}
