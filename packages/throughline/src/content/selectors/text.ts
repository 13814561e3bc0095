import { ThroughlineError } from '../../errors.ts';
import type { Range } from './range.ts';

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const quote = 0x22;

/**
 * The units in the ranges, in order. Empty when none is there.
 *
 * @param starts Offsets at which units begin, ascending.
 * @param ranges Ascending, apart from each other.
 */
export function slices(
  bytes: Uint8Array,
  starts: Iterable<number>,
  ranges: readonly Range[],
): Uint8Array {
  const parts: Uint8Array[] = [];
  let [unit, at] = [0, 0];
  let begun: number | undefined;
  for (const start of starts) {
    if (begun !== undefined && unit === ranges[at]?.[1]) {
      parts.push(bytes.subarray(begun, start));
      begun = undefined;
      at += 1;
    }
    if (at === ranges.length) break;
    if (unit === ranges[at]?.[0]) begun = start;
    unit += 1;
  }
  if (begun !== undefined) parts.push(bytes.subarray(begun));
  return new Uint8Array(Buffer.concat(parts));
}

/** Lines with their ends: LF, CRLF or CR. */
export const lineStarts = (bytes: Uint8Array): Iterable<number> => unitStarts(bytes, false);

/** Rows of CSV: a line end inside of quotes ends none. */
export const rowStarts = (bytes: Uint8Array): Iterable<number> => unitStarts(bytes, true);

function* unitStarts(bytes: Uint8Array, mindsQuotes: boolean): Iterable<number> {
  let isQuoted = false;
  let isNew = true;
  for (let at = 0; at < bytes.length; at++) {
    if (isNew) yield at;
    const byte = bytes[at];
    if (mindsQuotes && byte === quote) isQuoted = !isQuoted;
    const isEnd = byte === lineFeed || (byte === carriageReturn && bytes[at + 1] !== lineFeed);
    isNew = isEnd && !isQuoted;
  }
}

/** Characters of UTF-8; CRLF is one, as any line end is (RFC 5147, 2.1.1). */
export function* charStarts(bytes: Uint8Array): Iterable<number> {
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    const isInside = (byte & 0xc0) === 0x80;
    const isSecond = byte === lineFeed && bytes[at - 1] === carriageReturn;
    if (!isInside && !isSecond) yield at;
  }
}

/** Whether it is text of UTF-8. */
export function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** @throws ThroughlineError `unsupported` for text that is not UTF-8. */
export function checkText(bytes: Uint8Array): void {
  if (isUtf8(bytes)) return;
  throw new ThroughlineError('unsupported', 'selector: the content is no text of UTF-8');
}
