import { ThroughlineError } from '../errors.ts';
import { limits } from '../model/limits.ts';

/** Punctuation, or a whole string; everything between them is left to JSON.parse. */
const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]/gsu;

const invalid = (message: string): ThroughlineError => new ThroughlineError('invalid', message);

/**
 * Parses JSON from outside, strictly: UTF-8, no duplicate keys, no lone surrogates, at most
 * `limits.jsonDepth` levels. Throws `invalid`, naming which of these it broke.
 */
export function parseJson(bytes: Uint8Array): unknown {
  const text = decode(bytes);
  checkStructure(text);
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    throw invalid('body: is not well-formed JSON');
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalid('body: is not UTF-8');
  }
}

/** One pass over the tokens, before anything is built from them. */
function checkStructure(text: string): void {
  const open: (Set<string> | undefined)[] = [];
  let last: string | undefined;
  for (const [part] of text.matchAll(token)) {
    if (part === '{' || part === '[') {
      open.push(part === '{' ? new Set() : undefined);
      if (open.length > limits.jsonDepth) {
        throw invalid(`body: is nested more than ${limits.jsonDepth} levels deep`);
      }
    } else if (part === '}' || part === ']') open.pop();
    else if (part === ':') noteKey(open.at(-1), last);
    else if (part.startsWith('"')) checkString(part);
    last = part;
  }
}

function noteKey(keys: Set<string> | undefined, quoted: string | undefined): void {
  if (keys === undefined || quoted?.startsWith('"') !== true) return;
  const key = unquote(quoted);
  if (keys.has(key)) throw invalid(`body: has the key ${quoted.slice(0, 80)} twice in one object`);
  keys.add(key);
}

function checkString(quoted: string): void {
  const isPlain = !quoted.includes('\\u');
  if (!(isPlain ? quoted : unquote(quoted)).isWellFormed()) {
    throw invalid('body: holds a lone surrogate, which is no Unicode text');
  }
}

function unquote(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    throw invalid('body: is not well-formed JSON');
  }
}
