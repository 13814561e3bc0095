import { ThroughlineError } from '../../errors.ts';

const maxDepth = 1_000;
const arrayIndex = /^(?:0|[1-9]\d*)$/;

/**
 * The value that a JSON Pointer names (RFC 6901), as it is written: numbers keep all of their digits.
 * Undefined where there is none; of members of one name it is the last, as parsers have it.
 */
export function valueAt(bytes: Uint8Array, path: readonly string[]): Uint8Array | undefined {
  const text = textOf(bytes);
  let at: number | undefined = afterBlanks(text, 0);
  for (const segment of path) {
    at = childOf(text, at, segment);
    if (at === undefined) return undefined;
  }
  return new TextEncoder().encode(text.slice(at, endOf(text, at)));
}

function textOf(bytes: Uint8Array): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    // A parser takes seconds for what is nothing but depth.
    if (depthOf(text) <= maxDepth) {
      JSON.parse(text);
      return text;
    }
  } catch (cause) {
    throw new ThroughlineError('unsupported', 'selector: the content is no JSON', { cause });
  }
  throw new ThroughlineError(
    'unsupported',
    `selector: the content is nested deeper than ${maxDepth} levels`,
  );
}

function depthOf(text: string): number {
  let [depth, deepest] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at) - 1;
    else if (character === '{' || character === '[') deepest = Math.max(deepest, ++depth);
    else if (character === '}' || character === ']') depth -= 1;
  }
  return deepest;
}

/** Where the value of a member or an element begins. */
function childOf(text: string, at: number, segment: string): number | undefined {
  const opening = text[at];
  if (opening !== '{' && opening !== '[') return undefined;
  if (opening === '[' && !arrayIndex.test(segment)) return undefined;
  let found: number | undefined;
  let next = afterBlanks(text, at + 1);
  for (let index = 0; text[next] !== '}' && text[next] !== ']'; index++) {
    let name = String(index);
    if (opening === '{') {
      const end = endOfString(text, next);
      name = nameOf(text.slice(next, end));
      next = afterBlanks(text, afterBlanks(text, end) + 1);
    }
    if (name === segment) found = next;
    next = afterBlanks(text, endOf(text, next));
    if (text[next] === ',') next = afterBlanks(text, next + 1);
  }
  return found;
}

function nameOf(written: string): string {
  const name: unknown = JSON.parse(written);
  return typeof name === 'string' ? name : '';
}

/** Where the value that begins at `at` is over. Loops, since a text may be long and deep. */
function endOf(text: string, at: number): number {
  if (text[at] === '"') return endOfString(text, at);
  let depth = 0;
  for (let next = at; next < text.length; next++) {
    const character = text[next] ?? '';
    if (depth === 0 && next > at && endsScalar.has(character)) return next;
    if (character === '"') next = endOfString(text, next) - 1;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') {
      depth -= 1;
      if (depth === 0) return next + 1;
    }
  }
  return text.length;
}

/** What a number or a word is followed by. */
const endsScalar: ReadonlySet<string> = new Set([' ', '\t', '\n', '\r', ',', ']', '}']);
const blanks: ReadonlySet<string> = new Set([' ', '\t', '\n', '\r']);

function endOfString(text: string, at: number): number {
  let next = at + 1;
  while (next < text.length && text[next] !== '"') next += text[next] === '\\' ? 2 : 1;
  return next + 1;
}

function afterBlanks(text: string, at: number): number {
  let next = at;
  while (blanks.has(text[next] ?? '')) next += 1;
  return next;
}
