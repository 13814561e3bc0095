import { blocksOf, linesOf, longestRuler, type BlockKind } from './blocks.ts';
import { insideOf, jsonIn, type Range } from './json-values.ts';
import { splitSentences } from './sentences.ts';
import { gapMark, withGaps, type Cut, type Unit } from './units.ts';
import type { Counter } from './counter.ts';

/** Longest list or set in block, in characters, that is one unit. */
const wholeBlock = 800;

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
  const wholes = wholesIn(text);
  const isInside = insideOf(wholes);
  let title = '';
  let heading: number | undefined;
  let at = 0;
  for (const [block, { kind, text: whole }] of blocksOf(text, insideOf(wholes)).entries()) {
    const parts: string[] = [];
    for (const part of cuts[kind](whole)) {
      if (parts.length > 0 && isInside(at)) parts.push(`${parts.pop() ?? ''}${part}`);
      else parts.push(part);
      at += part.length;
    }
    if (kind === 'heading') {
      title = whole.slice(0, longestTitle).replace(/^#+/, '').trim();
      heading = pieces.push({ text: whole, block, title, along: [], frame: true }) - 1;
      continue;
    }
    const above = heading === undefined ? [] : [heading];
    const below = kind === 'table' ? [...above, pieces.length] : above;
    for (const [place, part] of parts.entries()) {
      const along = place === 0 ? above : below;
      const frame = kind === 'table' && place === 0 && parts.length > 1;
      pieces.push({ text: part, block, title, along, ...(frame && { frame }) });
    }
  }
  return pieces;
}

const sentencesOf = (text: string): string[] => splitSentences(text).flatMap(linesOfLong);

/** YAML at the beginning of a document, between two rules. */
const frontMatter =
  /^---[ \t]*\r?\n(?=[\w"'#])(?:(?!---|\.\.\.).*\n){0,200}?(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/;

/** What nothing is cut inside of. */
function wholesIn(text: string): readonly Range[] {
  const length = frontMatter.exec(text)?.[0].length ?? 0;
  const values = jsonIn(text).filter(([from]) => from >= length);
  return length > 0 ? [[0, length], ...values] : values;
}

/** How each kind of block is cut. */
const cuts: Readonly<Record<BlockKind, (text: string) => readonly string[]>> = {
  fence: (text) => [text],
  heading: (text) => [text],
  table: tableRows,
  list: (text) => (text.length <= wholeBlock ? [text] : text.split(/^(?=(?:[-*+]|\d+[.)])\s)/m)),
  // What is long and set in is as likely a quotation.
  code: (text) => (text.length <= wholeBlock ? [text] : sentencesOf(text)),
  text: sentencesOf,
};

/** Header and the rule below it together, then the rows; blank lines close the row before them. */
function tableRows(text: string): readonly string[] {
  const rows: string[] = [];
  for (const line of linesOf(text)) {
    if (line.trim() === '' && rows.length > 0) rows.push(`${rows.pop() ?? ''}${line}`);
    else rows.push(line);
  }
  const ruler = rows[1] ?? '';
  const hasHeader =
    ruler.length <= longestRuler && /^[\s>:|-]+$/.test(ruler) && ruler.includes('-');
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
