import { isValidJson } from './kinds.ts';

/** Characters of a text, from and to. */
export type Range = readonly [from: number, to: number];

/** A JSON array or object in a text. */
export interface Container {
  readonly from: number;
  /** Behind the closing bracket. */
  readonly to: number;
  readonly isArray: boolean;
  /** Elements of the array, or members of the object. */
  readonly children: readonly Range[];
}

/** The container that opens at `from`; undefined where none does, or nothing closes it. */
export function containerAt(text: string, from: number): Container | undefined {
  const isArray = text[from] === '[';
  if (!isArray && text[from] !== '{') return undefined;
  const children: Range[] = [];
  let depth = 0;
  let start = from + 1;
  for (let at = from; at < text.length; at++) {
    const char = text[at];
    if (char === '"') at = endOfString(text, at);
    else if (char === '[' || char === '{') depth += 1;
    else if (char === ']' || char === '}') {
      depth -= 1;
      if (depth > 0) continue;
      if (at > start) children.push([start, at]);
      return { from, to: at + 1, isArray, children };
    } else if (char === ',' && depth === 1) {
      children.push([start, at]);
      start = at + 1;
    }
  }
  return undefined;
}

/** The quote that closes the string that opens at `from`. */
export function endOfString(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

const opening = /\{\s{0,99}"|\[\s{0,99}[[{"\d-]/g;

/**
 * Where a text that is no JSON has JSON objects and lists in it, in order and not in each other.
 * Brackets that nothing closes are looked behind four times the text's length in all.
 */
export function jsonIn(text: string): readonly Range[] {
  const found: Range[] = [];
  let patience = 4 * text.length;
  let from = 0;
  for (const { index } of text.matchAll(opening)) {
    if (index < from || patience <= 0) continue;
    const to = containerAt(text, index)?.to;
    patience -= (to ?? text.length) - index;
    if (to === undefined || !isValidJson(text.slice(index, to))) continue;
    found.push([index, to]);
    from = to;
  }
  return found;
}

/** Tells of places that it is asked in order whether they are inside of a range. */
export function insideOf(ranges: readonly Range[]): (at: number) => boolean {
  let next = 0;
  return (at) => {
    while ((ranges[next]?.[1] ?? Infinity) <= at) next += 1;
    return (ranges[next]?.[0] ?? Infinity) < at;
  };
}
