import { styleText } from 'node:util';
import stringWidth from 'string-width';
import { idKind } from '../model/ids.ts';

export type Style = Parameters<typeof styleText>[0];

/** Where a command's text goes, and what that place can show. */
export interface Terminal {
  /** Columns; undefined where lines have no end, as in a pipe. */
  readonly width: number | undefined;
  /** Text in a colour or weight, where that can be seen. */
  readonly paint: (style: Style, text: string) => string;
  /** An id, shortened where a person reads it and the whole of it was not asked for. */
  readonly id: (id: string) => string;
  /** Cuts text that would go beyond the width; never done in a pipe. */
  readonly fit: (text: string, columns: number) => string;
}

export interface TerminalOptions {
  readonly isTTY: boolean;
  readonly columns: number | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly wholeIds?: boolean;
}

const defaultColumns = 80;
const shownOfId = 12;
const ellipsis = '…';

const wantsColour = ({ isTTY, env }: TerminalOptions): boolean => {
  if (env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== '') return false;
  if (env['FORCE_COLOR'] !== undefined) return env['FORCE_COLOR'] !== '0';
  return isTTY && env['TERM'] !== 'dumb';
};

/** What a stream can show; in a pipe no colour, no cutting, whole ids. */
export function terminal(options: TerminalOptions): Terminal {
  const width = options.isTTY ? (options.columns ?? defaultColumns) : undefined;
  const colour = wantsColour(options);
  const isShort = options.isTTY && options.wholeIds !== true;
  return {
    width,
    paint: (style, text) =>
      colour && text !== '' ? styleText(style, text, { validateStream: false }) : text,
    id: (id) =>
      isShort && idKind(id) !== undefined ? `${id.slice(0, shownOfId)}${ellipsis}` : clean(id),
    fit: (text, columns) => (width === undefined ? text : cut(text, Math.max(columns, 1))),
  };
}

/** Columns that text takes; wide characters take two. */
export const widthOf = (text: string): number => stringWidth(text);

/** Text with spaces up to a number of columns. */
export const pad = (text: string, columns: number): string =>
  text + ' '.repeat(Math.max(0, columns - widthOf(text)));

function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let kept = '';
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (widthOf(kept + segment) > columns - 1) break;
    kept += segment;
  }
  return kept + ellipsis;
}

/**
 * Text that people or agents wrote, made safe to print on one line: control and direction
 * characters could move the cursor, recolour the screen or reorder what stands beside.
 */
export const clean = (text: string): string => harmless(text.replaceAll(/\s+/gu, ' ')).trim();

/** The same for a line of a text whose spaces mean something: code, JSON, a table. */
export const cleanLine = (line: string): string =>
  harmless(line.replaceAll('\t', '    ')).trimEnd();

const harmless = (text: string): string =>
  text.replaceAll(/[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');

/** Lines of whole words, none wider than that unless one word is. */
export function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1) ?? ''} ${word}`;
    if (lines.length > 0 && stringWidth(longer) <= columns) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
