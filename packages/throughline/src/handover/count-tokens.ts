import { countTokens as count } from 'gpt-tokenizer/encoding/o200k_base';
import { O200K_TOKEN_SPLIT_REGEX } from 'gpt-tokenizer/encodingParams/constants';

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
  ['\\p{L}\\p{M}', '\\s', '^\\s\\p{L}\\p{M}\\p{N}', '\\r\\n/']
    .map((kind) => `[${kind}]{${runLength + 1},}`)
    .join('|'),
  'gu',
);

/** Kinds of characters of which a run holds only these, by the bit of each kind. */
const [inWord, inSpace, inLineEnds] = [1, 2, 4];

const kindsOf = (code: number): number => {
  if (code === 0x0a || code === 0x0d) return inSpace | inLineEnds;
  if (code === 0x20 || (code > 0x08 && code < 0x0e)) return inSpace;
  if (code === 0x2f) return inWord | inLineEnds;
  return code > 0x9f && /\s/.test(String.fromCharCode(code)) ? inWord | inSpace : inWord;
};
const kindOfCode = Uint8Array.from({ length: 0x10000 }, (_, code) => kindsOf(code));

/** Cheap look: more than `runLength` characters on end could be of one kind. */
function mayHaveLongRun(text: string): boolean {
  let [word, space, lineEnds] = [0, 0, 0];
  for (let at = 0; at < text.length; at++) {
    const kinds = kindOfCode[text.charCodeAt(at)] ?? 0;
    word = (kinds & inWord) === 0 ? 0 : word + 1;
    space = (kinds & inSpace) === 0 ? 0 : space + 1;
    lineEnds = (kinds & inLineEnds) === 0 ? 0 : lineEnds + 1;
    if (word > runLength || space > runLength || lineEnds > runLength) return true;
  }
  return false;
}

const asPlainText = { disallowedSpecial: new Set<string>() };

/**
 * Text of the Latin alphabet: in it a letter, a number and white space are what these classes name. (What is
 * both a small and a capital letter, or a number other than a digit, is left out.)
 */
const latin =
  /^[\s\x20-\x7e\xa1-\xa9\xab-\xb1\xb4-\xb8\xbb\xbf-\xff\u2010-\u2027\u2030-\u203a\u2212\u2260-\u2265]*$/;

/** Where o200k_base cuts such a text before it merges bytes: as its own pattern does, only quicker. */
const latinPiece =
  /[^\r\na-zA-Z\xb5\xc0-\xd6\xd8-\xf6\xf8-\xff0-9]?(?:[A-Z\xc0-\xd6\xd8-\xde]*[a-z\xb5\xdf-\xf6\xf8-\xff]+|[A-Z\xc0-\xd6\xd8-\xde]+)(?:'(?:[sdmtSDMT]|[lL][lL]|[vV][eE]|[rR][eE]))?|[0-9]{1,3}| ?[^\sa-zA-Z\xb5\xc0-\xd6\xd8-\xf6\xf8-\xff0-9]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+/g;

/** Tokens of words that were counted before: most words of a text are few, again and again. */
const known = new Map<string, number>();
const mostKnown = 32_768;
const longestKnown = 32;

function countPiece(piece: string): number {
  let tokens = known.get(piece);
  if (tokens !== undefined) return tokens;
  tokens = count(piece, asPlainText);
  if (piece.length > longestKnown) return tokens;
  if (known.size >= mostKnown) known.clear();
  known.set(piece, tokens);
  return tokens;
}

function countWhole(text: string): number {
  let total = 0;
  const pieces = text.match(latin.test(text) ? latinPiece : O200K_TOKEN_SPLIT_REGEX);
  for (const piece of pieces ?? []) total += countPiece(piece);
  return total;
}

/** Tokens of a text in o200k_base. Text that looks like a control token is counted as text. */
export const countTokens: CountTokens = (text) => {
  if (!mayHaveLongRun(text)) return countWhole(text);
  let total = 0;
  let from = 0;
  for (const { 0: run, index } of text.matchAll(longRun)) {
    total += countWhole(text.slice(from, index));
    for (let at = 0; at < run.length; at += runLength) {
      total += countWhole(run.slice(at, at + runLength));
    }
    from = index + run.length;
  }
  return total + countWhole(text.slice(from));
};
