import { ThroughlineError } from '../../errors.ts';

const maxDepth = 1_000;

/**
 * The value that a JSON Pointer names (RFC 6901), as it is written: numbers keep all of their digits.
 * Undefined where there is none; of members of one name it is the last, as parsers have it.
 */
export function valueAt(bytes: Uint8Array, path: readonly string[]): Uint8Array | undefined {
  const text = textOf(bytes);
  const found = rangeOf(text, path);
  return found && new TextEncoder().encode(text.slice(...found));
}

/** An object or array that is open where the text is read. */
interface Container {
  readonly begins: number;
  /** Whether the path leads through it. */
  readonly isOnPath: boolean;
  readonly isTarget: boolean;
  /** Of the element that comes next; undefined in an object. */
  index: number | undefined;
  /** Of the member that comes next; undefined until it was read. */
  name: string | undefined;
}

/** Reads the text once, whatever the path: a long text may be deep, too. */
function rangeOf(text: string, path: readonly string[]): [from: number, to: number] | undefined {
  let found: [number, number] | undefined;
  const open: Container[] = [];
  for (let at = 0; at < text.length;) {
    const character = text[at] ?? '';
    const inside = open.at(-1);
    if (separators.has(character)) {
      if (character === ',' && inside?.index !== undefined) inside.index += 1;
      at += 1;
    } else if (character === '}' || character === ']') {
      at += 1;
      open.pop();
      if (inside?.isTarget === true) found = [inside.begins, at];
    } else if (inside !== undefined && inside.index === undefined && inside.name === undefined) {
      const end = endOfString(text, at);
      inside.name = inside.isOnPath ? nameOf(text.slice(at, end)) : '';
      at = end;
    } else {
      const name = inside?.index === undefined ? inside?.name : String(inside.index);
      const isOnPath = inside === undefined || (inside.isOnPath && name === path[open.length - 1]);
      const isTarget = isOnPath && open.length === path.length;
      if (inside !== undefined) inside.name = undefined;
      // Of members of one name the last counts, with all that is in it.
      if (isOnPath) found = undefined;
      const isContainer = character === '{' || character === '[';
      const index = character === '[' ? 0 : undefined;
      const end = isContainer ? at + 1 : endOfScalar(text, at);
      const leads = isOnPath && !isTarget;
      if (isContainer) open.push({ begins: at, isOnPath: leads, isTarget, index, name: undefined });
      else if (isTarget) found = [at, end];
      at = end;
    }
  }
  return found;
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

function nameOf(written: string): string {
  const name: unknown = JSON.parse(written);
  return typeof name === 'string' ? name : '';
}

/** What stands between values, and says nothing. */
const separators: ReadonlySet<string> = new Set([' ', '\t', '\n', '\r', ',', ':']);
/** What a number or a word is followed by. */
const endsScalar: ReadonlySet<string> = new Set([...separators, ']', '}']);

function endOfScalar(text: string, at: number): number {
  if (text[at] === '"') return endOfString(text, at);
  let next = at;
  while (next < text.length && !endsScalar.has(text[next] ?? '')) next += 1;
  return next;
}

function endOfString(text: string, at: number): number {
  let next = at + 1;
  while (next < text.length && text[next] !== '"') next += text[next] === '\\' ? 2 : 1;
  return next + 1;
}
