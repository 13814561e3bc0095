import type { Counter } from './counter.ts';
import { gapMark, withGaps, type Cut, type Unit } from './units.ts';

/**
 * What stands inside a function, method, class or the like, without its brackets; characters from the
 * beginning of the text. Bodies lie in each other or beside each other, in order.
 */
export interface CodeBody {
  readonly from: number;
  readonly to: number;
  readonly inner: readonly CodeBody[];
}

/** Finds the bodies in code of a media type; undefined where it does not know the language. */
export type ParseCode = (mediaType: string, text: string) => readonly CodeBody[] | undefined;

/** A body of fewer characters is not worth a gap. */
const shortBody = 40;

interface Laying {
  readonly text: string;
  readonly counter: Counter;
  readonly units: (Unit & { along: number[] })[];
  blocks: number;
}

/**
 * Cuts code into what is declared and what it does: heads of declarations with the comment above them,
 * bodies, and what stands between declarations. A body comes only with its head, a head only with
 * those around it, so that what is kept reads as code with parts left out.
 */
export function cutCode(
  text: string,
  bodies: readonly CodeBody[],
  counter: Counter,
): Cut & { readonly tokens: number } {
  const laying: Laying = { text, counter, units: [], blocks: 0 };
  layOut(laying, { from: 0, to: text.length, inner: bodies }, '', []);
  const { units } = laying;
  return {
    units,
    tokens: counter.count(text),
    strategy: 'outline',
    outline: [...units.keys()].filter((at) => units[at]?.frame !== true && isHead(units, at)),
    mark: ` ${gapMark}`,
    join: (kept) => join(units, kept),
  };
}

/** Something comes along with it that is only a frame: its end. */
const isHead = (units: readonly Unit[], at: number): boolean =>
  units[at]?.along.some((other) => other > at && units[other]?.frame === true) ?? false;

function layOut(laying: Laying, around: CodeBody, title: string, along: readonly number[]): void {
  const { text } = laying;
  let at = around.from;
  for (const body of around.inner) {
    if (body.from < at || body.to < body.from || body.to > around.to) continue;
    if (body.to - body.from < shortBody) continue;
    const paragraphs = paragraphsOf(text.slice(at, body.from));
    const head = paragraphs.pop() ?? '';
    for (const paragraph of paragraphs) add(laying, paragraph, title, along);
    laying.blocks += 1;
    const name = nameIn(head);
    const place = add(laying, head, title, along);
    const inside = place === undefined ? along : [...along, place];
    if (body.inner.length > 0) layOut(laying, body, name, inside);
    else add(laying, text.slice(body.from, body.to), name, inside);
    const end = endOf(text, body.to, around.to);
    if (end > body.to) {
      const foot = add(laying, text.slice(body.to, end), '', [], true);
      if (place !== undefined && foot !== undefined) laying.units[place]?.along.push(foot);
    }
    laying.blocks += 1;
    at = end;
  }
  for (const paragraph of paragraphsOf(text.slice(at, around.to))) {
    add(laying, paragraph, title, along);
  }
}

function add(
  laying: Laying,
  text: string,
  title: string,
  along: readonly number[],
  frame = false,
): number | undefined {
  if (text === '') return undefined;
  const place = laying.units.push({
    text,
    tokens: laying.counter.count(text),
    block: laying.blocks,
    title,
    along: [...along],
    ...(frame && { frame }),
  });
  return place - 1;
}

/** Pieces that blank lines set off, each with the blank lines before it. */
const paragraphsOf = (text: string): string[] =>
  text === '' ? [] : text.split(/(?<=\S[^\S\n]*\n)(?=(?:[^\S\n]*\n)+[^\S\n]*\S)/);

/** The closing bracket and what follows it on its line. */
function endOf(text: string, from: number, most: number): number {
  const line = text.indexOf('\n', from);
  return Math.min(line === -1 ? text.length : line, most);
}

/** The last line of a head without its brackets: what is declared. */
const nameIn = (head: string): string =>
  head
    .trimEnd()
    .split('\n')
    .at(-1)
    ?.replaceAll(/[^\p{L}\p{N}_ ]+/gu, ' ')
    .trim() ?? '';

function join(units: readonly Unit[], kept: readonly number[]): string[] {
  const places = withGaps(kept, units.length);
  return places.map((at, place) => {
    if (at !== undefined) return units[at]?.text ?? '';
    return place < places.length - 1 ? ` ${gapMark} ` : ` ${gapMark}\n`;
  });
}
