import { blocksOf, linesOf, longestRuler, type BlockKind } from './blocks.ts';
import { insideOf, jsonIn } from './json-values.ts';
import { splitSentences } from './sentences.ts';
import { gapMark, withGaps, type Cut, type Unit } from './units.ts';
import type { Counter } from './counter.ts';

/** Longest list, in characters, that is one unit; a longer one is cut between its entries. */
const wholeList = 800;

/** A sentence of more characters that goes over several lines is no sentence. */
const longSentence = 800;
/** Characters of a heading that are taken for its title. */
const longestTitle = 200;

/**
 * Cuts prose and Markdown into units: sentences, headings, table rows, entries of lists; code blocks,
 * JSON values and short lists whole.
 */
export function cutProse(text: string, counter: Counter): Cut & { readonly tokens: number } {
  const pieces = piecesOf(text);
  const units = pieces.map((piece): Unit => ({ ...piece, tokens: counter.count(piece.text) }));
  return {
    units,
    tokens: counter.countJoined(pieces.map((piece) => piece.text)),
    mark: ` ${gapMark}`,
    join: (kept) => joinProse(units, kept),
  };
}

type Piece = Omit<Unit, 'tokens'>;

function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  const values = jsonIn(text);
  const isInside = insideOf(values);
  let title = '';
  let heading: number | undefined;
  let at = 0;
  for (const [block, { kind, text: whole }] of blocksOf(text, insideOf(values)).entries()) {
    const first = pieces.length;
    const parts: string[] = [];
    for (const part of cuts[kind](whole)) {
      if (parts.length > 0 && isInside(at)) parts.push(`${parts.pop() ?? ''}${part}`);
      else parts.push(part);
      at += part.length;
    }
    if (kind === 'heading') {
      title = whole.slice(0, longestTitle).replace(/^#+/, '').trim();
      heading = undefined;
    }
    const above = heading === undefined ? [] : [heading];
    const below = kind === 'table' ? [...above, first] : above;
    for (const [place, part] of parts.entries()) {
      const frame = kind === 'heading' || (kind === 'table' && place === 0 && parts.length > 1);
      const along = place === 0 ? above : below;
      pieces.push({ text: part, block, title, along, ...(frame && { frame }) });
    }
    if (kind === 'heading') heading = first;
  }
  return pieces;
}

/** How each kind of block is cut. */
const cuts: Readonly<Record<BlockKind, (text: string) => readonly string[]>> = {
  fence: (text) => [text],
  heading: (text) => [text],
  table: tableRows,
  list: (text) => (text.length <= wholeList ? [text] : text.split(/^(?=(?:[-*+]|\d+[.)])\s)/m)),
  text: (text) => splitSentences(text).flatMap(linesOfLong),
};

/** Header and the rule below it together, then the rows; blank lines close the row before them. */
function tableRows(text: string): readonly string[] {
  const rows: string[] = [];
  for (const line of linesOf(text)) {
    if (line.trim() === '' && rows.length > 0) rows.push(`${rows.pop() ?? ''}${line}`);
    else rows.push(line);
  }
  const ruler = rows[1] ?? '';
  const hasHeader = ruler.length <= longestRuler && /^[\s:|-]+$/.test(ruler) && ruler.includes('-');
  return hasHeader ? [rows.slice(0, 2).join(''), ...rows.slice(2)] : ['', ...rows];
}

/** What has no sentences, as a log, is cut between its lines; blank ones close the line before them. */
const linesOfLong = (sentence: string): string[] =>
  sentence.length > longSentence ? sentence.split(/(?<=\n)(?=[^\S\n]*\S)/) : [sentence];

function joinProse(units: readonly Unit[], kept: readonly number[]): string[] {
  const pieces: string[] = [];
  let isBehindGap = false;
  for (const at of withGaps(kept, units.length)) {
    const before = pieces.at(-1);
    const unit = at === undefined ? gapMark : (units[at]?.text ?? '');
    const isLine = before?.endsWith('\n') !== false;
    if (at === undefined)
      pieces.push(before === undefined ? unit : isLine ? `${unit}\n` : ` ${unit}`);
    else pieces.push(isBehindGap && !isLine && !/^\s/.test(unit) ? ` ${unit}` : unit);
    isBehindGap = at === undefined;
  }
  return pieces;
}
