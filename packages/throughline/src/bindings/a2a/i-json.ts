import { ThroughlineError } from '../../errors.ts';
import { limits } from '../../model/limits.ts';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Throws TypeError for what is no UTF-8. */
export const decodeUtf8 = (bytes: Uint8Array): string => decoder.decode(bytes);

const refuse = (what: string, at: number): never => {
  throw new ThroughlineError('invalid', `the JSON has ${what} at character ${at}; send I-JSON`, {
    details: { at },
  });
};

/** A string, a structural character, or a number or word; whitespace lies between. */
const token = /\s*("(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+)/suy;
const integer = /^-?\d+$/;

/**
 * The pieces of a text in order. Each is matched where the last one ended and nowhere else: what
 * does not match there ends the walk, so that the time stays linear in the text.
 */
function* pieces(text: string): Generator<{ readonly piece: string; readonly index: number }> {
  for (let next = 0; ;) {
    token.lastIndex = next;
    const piece = token.exec(text)?.[1];
    if (piece === undefined) {
      if (text.slice(next).trim() !== '') throw new SyntaxError(`no JSON at character ${next}`);
      return;
    }
    next = token.lastIndex;
    yield { piece, index: next - piece.length };
  }
}

/**
 * Parses I-JSON (RFC 7493) from text: no duplicate keys, no lone surrogates, no integer beyond
 * ±(2^53 − 1) and no number beyond a double, at most `depth` levels. All of that is checked on the text, before JSON.parse, which
 * would let the last key win and round numbers silently. Throws `invalid`, or SyntaxError when the
 * text is no JSON at all.
 */
export function parseIJson(text: string, depth: number = limits.jsonDepth): unknown {
  if (!text.isWellFormed()) refuse('a lone surrogate', 0);
  const members = plainMembers(text, depth);
  const value: unknown = members === undefined ? undefined : JSON.parse(text);
  // Of a key that came twice only one is left.
  if (members !== undefined && membersOf(value) === members) return value;
  checkPieces(text, depth);
  return JSON.parse(text);
}

/** Digits and signs of a number that is surely kept as it is. */
const sureLength = 15;

/**
 * How many members the objects of a text have, where that is all there is to look at: undefined where a
 * string may hide a surrogate, a number is large or small, or the levels are too many.
 */
function plainMembers(text: string, depth: number): number | undefined {
  if (text.includes('\\u')) return undefined;
  let [members, level] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    const first = text.charAt(at);
    if (first === '"') {
      at = endOfString(text, at);
      if (at < 0) return undefined;
    } else if (first === ':') {
      members += 1;
    } else if (first === '{' || first === '[') {
      level += 1;
      if (level > depth) return undefined;
    } else if (first === '}' || first === ']') {
      level -= 1;
    } else if (first === '-' || (first >= '0' && first <= '9')) {
      const begin = at;
      while (isInNumber(text.charAt(at + 1))) at += 1;
      if (at - begin >= sureLength) return undefined;
      if (/e/i.test(text.slice(begin, at + 1))) return undefined;
    }
  }
  return members;
}

const isInNumber = (char: string): boolean =>
  (char >= '0' && char <= '9') || ['.', 'e', 'E', '+', '-'].includes(char);

/** Where the string that begins at a quotation mark ends; below 0 where it does not. */
function endOfString(text: string, begin: number): number {
  for (let end = text.indexOf('"', begin + 1); ; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (before > begin && text.charAt(before) === '\\') before -= 1;
    if (end < 0 || (end - before) % 2 === 1) return end;
  }
}

function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const values: unknown[] = Object.values(value);
  const own = Array.isArray(value) ? 0 : values.length;
  return values.reduce((sum: number, each) => sum + membersOf(each), own);
}

/** Refuses what I-JSON does not allow, piece by piece. */
function checkPieces(text: string, depth: number): void {
  /** Keys of each open object; `undefined` for an open array. */
  const open: (Set<string> | undefined)[] = [];
  let key: { readonly text: string; readonly at: number } | undefined;
  for (const { piece, index } of pieces(text)) {
    const first = piece.charAt(0);
    if (first === '{' || first === '[') {
      if (open.length === depth) refuse(`more than ${depth} levels`, index);
      open.push(first === '{' ? new Set() : undefined);
    } else if (first === '}' || first === ']') {
      open.pop();
    } else if (first === ':' && key !== undefined) {
      const keys = open.at(-1);
      if (keys?.has(key.text) === true) refuse('the same key twice', key.at);
      keys?.add(key.text);
    } else if (first !== '"' && integer.test(piece) && !Number.isSafeInteger(Number(piece))) {
      refuse('an integer that can not be kept exactly', index);
    } else if (Math.abs(Number(piece)) === Infinity) {
      refuse('a number beyond those that JSON is read with', index);
    }
    key = first === '"' ? { text: unescape(piece, index), at: index } : undefined;
  }
}

/** Same, from bytes; bytes that are not UTF-8 are a SyntaxError too. */
export function parseIJsonBytes(bytes: Uint8Array, depth?: number): unknown {
  let text: string;
  try {
    text = decodeUtf8(bytes);
  } catch (error) {
    throw new SyntaxError('not UTF-8', { cause: error });
  }
  return parseIJson(text, depth);
}

function unescape(quoted: string, at: number): string {
  if (!quoted.includes('\\')) return quoted.slice(1, -1);
  const value: unknown = JSON.parse(quoted);
  const text = String(value);
  if (!text.isWellFormed()) refuse('a lone surrogate', at);
  return text;
}
