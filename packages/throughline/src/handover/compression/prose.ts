import { insideOf, jsonIn } from './json-values.ts';
import { splitSentences } from './sentences.ts';
import { gapMark, type Cut, type Unit } from './units.ts';
import type { Counter } from './counter.ts';

/** Longest list, in characters, that is one unit; a longer one is cut between its entries. */
const wholeList = 800;

/** A sentence of more characters that goes over several lines is no sentence. */
const longSentence = 800;
/** Characters of a heading that are taken for its title. */
const longestTitle = 200;
/** Characters of the line that sets a table's header off. */
const longestRule = 1_000;

type Kind = 'blank' | 'heading' | 'fence' | 'table' | 'list' | 'text';

interface Run {
  readonly kind: Kind;
  text: string;
}

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
  let title = '';
  let heading: number | undefined;
  const values = jsonIn(text);
  const inValue = insideOf(values);
  const insides = (run: Run, from: number): string[] => {
    let at = from;
    return piecesOfRun(run).reduce<string[]>((joined, piece) => {
      if (joined.length > 0 && inValue(at)) joined.push(`${joined.pop() ?? ''}${piece}`);
      else joined.push(piece);
      at += piece.length;
      return joined;
    }, []);
  };
  let at = 0;
  for (const [block, run] of runsOf(text, insideOf(values)).entries()) {
    const above = heading === undefined ? [] : [heading];
    if (run.kind === 'heading') {
      title = run.text.slice(0, longestTitle).replace(/^#+/, '').trim();
      heading = pieces.length;
      pieces.push({ text: run.text, block, title, along: [], frame: true });
    } else if (run.kind === 'table') {
      const [head, ...rows] = tableRows(run.text);
      const place = pieces.length;
      pieces.push({ text: head ?? '', block, title, along: above, frame: rows.length > 0 });
      for (const row of rows) {
        pieces.push({ text: row, block, title, along: [...above, place] });
      }
    } else {
      for (const piece of insides(run, at))
        pieces.push({ text: piece, block, title, along: above });
    }
    at += run.text.length;
  }
  return pieces;
}

function piecesOfRun(run: Run): string[] {
  if (run.kind === 'fence') return [run.text];
  if (run.kind === 'text') return splitSentences(run.text).flatMap(linesOfLong);
  if (run.text.length <= wholeList) return [run.text];
  return run.text.split(/^(?=(?:[-*+]|\d+[.)])\s)/m);
}

/** Header and the rule below it together, then the rows; blank lines close the row before them. */
function tableRows(text: string): string[] {
  const rows: string[] = [];
  for (const line of linesOf(text)) {
    if (line.trim() === '' && rows.length > 0) rows.push(`${rows.pop() ?? ''}${line}`);
    else rows.push(line);
  }
  const rule = rows[1] ?? '';
  const hasHeader = rule.length <= longestRule && /^[\s:|-]+$/.test(rule) && rule.includes('-');
  return hasHeader ? [rows.slice(0, 2).join(''), ...rows.slice(2)] : ['', ...rows];
}

/** What has no sentences, as a log, is cut between its lines; blank ones close the line before them. */
const linesOfLong = (sentence: string): string[] =>
  sentence.length > longSentence ? sentence.split(/(?<=\n)(?=[^\S\n]*\S)/) : [sentence];

const linesOf = (text: string): string[] => text.split(/(?<=\n)/);

const patterns: readonly (readonly [Kind, RegExp])[] = [
  ['blank', /^\s*$/],
  ['heading', /^#{1,6}\s/],
  ['table', /^\s*\|/],
  ['list', /^\s*(?:[-*+•]|\d+[.)])\s/],
];

const kindOf = (line: string): Kind => patterns.find(([, is]) => is.test(line))?.[0] ?? 'text';

/** What a code block begins with, in a quotation or an entry of a list too; and the line that ends it. */
const opening = /^(?:[\s>]|[-*+]\s|\d+[.)]\s)*(`{3,}(?=[^`]*$)|~{3,})/;
const closing = /^[\s>]*(`{3,}|~{3,})\s*$/;
/** The line below the header of a table that has no bars at its sides. */
const rule = /^[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)+\|?\s*$/;

/** Runs of lines that belong together; blank lines close the run before them. */
function runsOf(text: string, inValue: (at: number) => boolean): Run[] {
  const runs: Run[] = [];
  let fence: string | undefined;
  let isOpen = false;
  let isTable = false;
  let from = 0;
  const all = linesOf(text);
  for (const [at, line] of all.entries()) {
    const last = runs.at(-1);
    const isInside = inValue(from);
    from += line.length;
    if (fence !== undefined || isInside) {
      if (last) last.text += line;
      if (fence !== undefined && closing.exec(line)?.[1]?.startsWith(fence) === true) {
        fence = undefined;
      }
      continue;
    }
    const plain = kindOf(line);
    const next = all[at + 1] ?? '';
    isTable =
      plain !== 'blank' &&
      (isTable || (line.includes('|') && next.length <= longestRule && rule.test(next)));
    fence = opening.exec(line)?.[1];
    const kind = fence !== undefined ? 'fence' : isTable ? 'table' : plain;
    if (last && (kind === 'blank' || (isOpen && continues(last.kind, kind, line)))) {
      last.text += line;
      isOpen &&= kind !== 'blank' || last.kind === 'list';
    } else {
      runs.push({ kind: kind === 'blank' ? 'text' : kind, text: line });
      isOpen = kind !== 'heading' && kind !== 'fence' && kind !== 'blank';
    }
  }
  return runs;
}

/** A line goes on with the run before it; indented lines belong to the entry of a list. */
function continues(run: Kind, kind: Kind, line: string): boolean {
  if (run === 'list') return kind === 'list' || /^\s{2,}\S/.test(line);
  return run === kind;
}

function joinProse(units: readonly Unit[], kept: readonly number[]): string[] {
  const pieces: string[] = [];
  let next = 0;
  for (const at of kept) {
    if (at > next) pieces.push(gapAfter(pieces.at(-1)));
    const unit = units[at]?.text ?? '';
    const isSetOff = /^\s/.test(unit) || pieces.at(-1)?.endsWith('\n') !== false;
    pieces.push(at > next && !isSetOff ? ` ${unit}` : unit);
    next = at + 1;
  }
  if (next < units.length && kept.length > 0) pieces.push(gapAfter(pieces.at(-1)));
  return pieces;
}

/** On a line of its own after a line end, else behind a space. */
const gapAfter = (before: string | undefined): string =>
  before === undefined ? gapMark : before.endsWith('\n') ? `${gapMark}\n` : ` ${gapMark}`;
