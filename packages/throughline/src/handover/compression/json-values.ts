import { isValidJson } from './kinds.ts';

/** Characters of a text, from and to. */
type Range = readonly [from: number, to: number];

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
    const to = endOfValue(text, index);
    patience -= (to ?? text.length) - index;
    if (to === undefined || !isValidJson(text.slice(index, to))) continue;
    found.push([index, to]);
    from = to;
  }
  return found;
}

/** Behind the bracket that closes the one at `from`. */
function endOfValue(text: string, from: number): number | undefined {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const char = text[at];
    if (char === '"') {
      at += 1;
      while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
    } else if (char === '[' || char === '{') depth += 1;
    else if (char === ']' || char === '}') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return undefined;
}

/** Tells of places that it is asked in order whether they are inside of a range. */
export function insideOf(ranges: readonly Range[]): (at: number) => boolean {
  let next = 0;
  return (at) => {
    while ((ranges[next]?.[1] ?? Infinity) <= at) next += 1;
    return (ranges[next]?.[0] ?? Infinity) < at;
  };
}
