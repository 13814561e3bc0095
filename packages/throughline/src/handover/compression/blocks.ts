/** Lines that belong together, with the blank ones behind them. */
export interface Block {
  readonly kind: BlockKind;
  text: string;
}

export type BlockKind = 'fence' | 'table' | 'heading' | 'list' | 'code' | 'text';

interface Rule {
  readonly kind: BlockKind;
  /** A line like this one, before the next and behind an open block, is of this kind. */
  readonly is: (line: string, next: string, open: Rule | undefined) => boolean;
  /** A block of this kind goes on with a line that is of that kind; absent: with none. */
  readonly holds?: (line: string, kind: BlockKind) => boolean;
  /** It may go on behind a blank line. */
  readonly overBlank?: true;
}

/** What a code block begins with, in a quotation or an entry of a list too; and the line that ends it. */
const opening = /^(?:[\s>]|[-*+]\s|\d+[.)]\s)*(`{3,}(?=[^`]*$)|~{3,})/;
const closing = /^[\s>]*(`{3,}|~{3,})\s*$/;
/** The line below the header of a table that has no bars at its sides, of no more characters. */
const ruler = /^[ \t>]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)+\|?\s*$/;
export const longestRuler = 1_000;

const isBlank = (line: string): boolean => /^\s*$/.test(line);
const isSetIn = (line: string): boolean => /^(?: {4}|\t)\s*\S/.test(line);

/** Kinds of blocks in Markdown; the first that a line is of counts. */
const rules: readonly Rule[] = [
  { kind: 'fence', is: (line) => opening.test(line) },
  {
    kind: 'table',
    is: (line, next) => line.includes('|') && next.length <= longestRuler && ruler.test(next),
    holds: (_, kind) => kind !== 'fence',
  },
  { kind: 'heading', is: (line) => /^#{1,6}\s/.test(line) },
  {
    kind: 'table',
    is: (line) => /^[\s>]*\|/.test(line),
    holds: (_, kind) => kind === 'table',
  },
  {
    kind: 'list',
    is: (line) => /^\s*(?:[-*+•]|\d+[.)])\s/.test(line),
    holds: (line, kind) => kind === 'list' || /^\s{2,}\S/.test(line),
    overBlank: true,
  },
  {
    kind: 'code',
    // The first line of a paragraph may be set in as well, then the next one is not.
    is: (line, next, open) =>
      open === undefined && isSetIn(line) && (isSetIn(next) || isBlank(next)),
    holds: (line, kind) => kind !== 'fence' && isSetIn(line),
    overBlank: true,
  },
  { kind: 'text', is: () => true, holds: (_, kind) => kind === 'text' },
];

export const linesOf = (text: string): string[] => text.split(/(?<=\n)/);

/**
 * Cuts a text between its blocks; joined they are the text again.
 *
 * @param isInside Whether a place, asked in order, is inside of what must not be cut.
 */
export function blocksOf(text: string, isInside: (at: number) => boolean): Block[] {
  const blocks: Block[] = [];
  const lines = linesOf(text);
  let fence: string | undefined;
  let open: Rule | undefined;
  let from = 0;
  for (const [at, line] of lines.entries()) {
    const last = blocks.at(-1);
    const goesOn = isInside(from);
    from += line.length;
    if (last && (fence !== undefined || goesOn || isBlank(line))) {
      last.text += line;
      if (fence !== undefined) {
        if (closing.exec(line)?.[1]?.startsWith(fence) === true) fence = undefined;
      } else if (!goesOn && open?.overBlank !== true) open = undefined;
      continue;
    }
    const rule = rules.find(({ is }) => is(line, lines[at + 1] ?? '', open));
    if (rule === undefined) continue;
    if (rule.kind === 'fence') fence = opening.exec(line)?.[1];
    if (last && open?.holds?.(line, rule.kind) === true) last.text += line;
    else {
      blocks.push({ kind: rule.kind, text: line });
      open = rule.holds === undefined || isBlank(line) ? undefined : rule;
    }
  }
  return blocks;
}
