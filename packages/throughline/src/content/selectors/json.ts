import { ThroughlineError } from '../../errors.ts';

const blank = /[ \t\n\r]*/y;
const string = /"[^"\\]*(?:\\.[^"\\]*)*"/y;
const scalar = /[^\s,\]}]+/y;
/** The next thing that matters to how deep a text is. */
const structure = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}]/g;
const arrayIndex = /^(?:0|[1-9]\d*)$/;

/**
 * The value that a JSON Pointer names (RFC 6901), as it is written: numbers keep all of their digits.
 * Undefined where there is none; of members of one name it is the last, as parsers have it.
 */
export function valueAt(bytes: Uint8Array, path: readonly string[]): Uint8Array | undefined {
  const text = textOf(bytes);
  let at: number | undefined = past(blank, text, 0);
  for (const segment of path) {
    at = childOf(text, at, segment);
    if (at === undefined) return undefined;
  }
  return new TextEncoder().encode(text.slice(at, endOf(text, at)));
}

function textOf(bytes: Uint8Array): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    JSON.parse(text);
    return text;
  } catch {
    throw new ThroughlineError('unsupported', 'selector: the content is no JSON');
  }
}

/** Where the value of a member or an element begins. */
function childOf(text: string, at: number, segment: string): number | undefined {
  const opening = text[at];
  if (opening !== '{' && opening !== '[') return undefined;
  if (opening === '[' && !arrayIndex.test(segment)) return undefined;
  let found: number | undefined;
  let next = past(blank, text, at + 1);
  for (let index = 0; text[next] !== '}' && text[next] !== ']'; index++) {
    let name = String(index);
    if (opening === '{') {
      const end = past(string, text, next);
      name = nameOf(text.slice(next, end));
      next = past(blank, text, past(blank, text, end) + 1);
    }
    if (name === segment) found = next;
    next = past(blank, text, endOf(text, next));
    if (text[next] === ',') next = past(blank, text, next + 1);
  }
  return found;
}

function nameOf(written: string): string {
  const name: unknown = JSON.parse(written);
  return typeof name === 'string' ? name : '';
}

/** Where the value that begins at `at` is over. */
function endOf(text: string, at: number): number {
  if (text[at] !== '{' && text[at] !== '[') {
    return past(text[at] === '"' ? string : scalar, text, at);
  }
  structure.lastIndex = at;
  for (let depth = 0; ;) {
    const [found = ''] = structure.exec(text) ?? [];
    if (found === '{' || found === '[') depth += 1;
    if (found === '}' || found === ']') depth -= 1;
    if (depth === 0 || found === '') return structure.lastIndex;
  }
}

/** The place behind what matches at a place. */
function past(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
