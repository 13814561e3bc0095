import { ThroughlineError } from '../../errors.ts';
import { limits } from '../../model/limits.ts';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

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
  return JSON.parse(text);
}

/** Same, from bytes; bytes that are not UTF-8 are a SyntaxError too. */
export function parseIJsonBytes(bytes: Uint8Array, depth?: number): unknown {
  let text: string;
  try {
    text = decoder.decode(bytes);
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
