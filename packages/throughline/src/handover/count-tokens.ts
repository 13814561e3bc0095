import { countTokens as count } from 'gpt-tokenizer/encoding/o200k_base';

/** Counts the tokens of a text. Pluggable: whoever records a figure names the tokenizer beside it. */
export type CountTokens = (text: string) => number;

/** Name recorded beside figures that `countTokens` gave. */
export const tokenizerName = 'o200k_base';

/**
 * The longest run of one kind of character that is counted as a whole. Byte pair encoding takes
 * quadratic time over a run without a boundary, so a longer one is counted in pieces: at most one
 * token more per piece, and no text of a stranger can stall the counter.
 */
const runLength = 512;
const longRun = new RegExp(
  `[\\p{L}\\p{M}]{${runLength + 1},}|\\s{${runLength + 1},}|[^\\s\\p{L}\\p{M}\\p{N}]{${runLength + 1},}`,
  'gu',
);

/** Cheap look: somewhere there are more than `runLength` characters all with, or all without, space. */
function mayHaveLongRun(text: string): boolean {
  if (text.length <= runLength) return false;
  let start = 0;
  let wasSpace = false;
  for (let at = 0; at < text.length; at++) {
    const isSpace = text.charCodeAt(at) <= 0x20;
    if (isSpace !== wasSpace) start = at;
    wasSpace = isSpace;
    if (at - start >= runLength) return true;
  }
  return false;
}

const asPlainText = { disallowedSpecial: new Set<string>() };

/** Tokens of a text in o200k_base. Text that looks like a control token is counted as text. */
export const countTokens: CountTokens = (text) => {
  if (!mayHaveLongRun(text)) return count(text, asPlainText);
  let total = 0;
  let from = 0;
  for (const { 0: run, index } of text.matchAll(longRun)) {
    total += count(text.slice(from, index), asPlainText);
    for (let at = 0; at < run.length; at += runLength) {
      total += count(run.slice(at, at + runLength), asPlainText);
    }
    from = index + run.length;
  }
  return total + count(text.slice(from), asPlainText);
};
