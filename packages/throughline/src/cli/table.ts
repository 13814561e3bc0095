import { pad, widthOf, type Terminal } from './terminal.ts';

export interface Column {
  readonly title: string;
  /** Numbers stand under their last digit. */
  readonly align?: 'right';
  /** May be cut to fit the terminal. One at most, the last. */
  readonly flexible?: boolean;
  /** Left out on a terminal that is too narrow for all; the last such column first. */
  readonly optional?: boolean;
}

const gap = '  ';
const leastFlexible = 8;

/** Rows under their titles, as lines without spaces at the end. Cells hold no colour yet. */
export function table(
  terminal: Terminal,
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  paintCell: (text: string, column: number, row: number) => string = (text) => text,
): string[] {
  const shown = fitting(terminal, columns, rows);
  const fixed = shown.filter(({ flexible }) => flexible !== true);
  const room =
    (terminal.width ?? Infinity) - fixed.reduce((sum, each) => sum + each.width + gap.length, 0);
  const line = (cellOf: (each: Shown) => string, paint: (text: string, at: number) => string) =>
    shown
      .map((each) => {
        const cell = cellOf(each);
        const text = each.flexible === true ? terminal.fit(cell, room) : cell;
        const space = ' '.repeat(Math.max(0, each.width - widthOf(text)));
        const painted = paint(text, each.at);
        return each.align === 'right' ? space + painted : painted + space;
      })
      .join(gap)
      .trimEnd();
  return [
    line(
      ({ title }) => title,
      (text) => terminal.paint('dim', text),
    ),
    ...rows.map((row, at) =>
      line(
        (each) => row[each.at] ?? '',
        (text, column) => paintCell(text, column, at),
      ),
    ),
  ];
}

interface Shown extends Column {
  /** Its place among all columns. */
  readonly at: number;
  readonly width: number;
}

/** The columns that a terminal has room for. */
function fitting(
  terminal: Terminal,
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
): Shown[] {
  const shown = columns.map((column, at) => {
    const cells = rows.map((row) => widthOf(row[at] ?? ''));
    return { ...column, at, width: Math.max(widthOf(column.title), ...cells) };
  });
  const needed = (): number =>
    shown.reduce(
      (sum, { flexible, width }) =>
        sum + gap.length + (flexible === true ? Math.min(width, leastFlexible) : width),
      -gap.length,
    );
  while (needed() > (terminal.width ?? Infinity)) {
    const last = shown.findLastIndex(({ optional }) => optional === true);
    if (last === -1) break;
    shown.splice(last, 1);
  }
  return shown;
}

/** Names and values under each other. */
export function facts(
  terminal: Terminal,
  pairs: readonly (readonly [name: string, value: string | undefined])[],
): string[] {
  const shown = pairs.filter(([, value]) => value !== undefined && value !== '');
  const width = Math.max(0, ...shown.map(([name]) => widthOf(name)));
  return shown.map(([name, value]) => `${terminal.paint('dim', pad(name, width))}  ${value}`);
}
