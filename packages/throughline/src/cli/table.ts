import { pad, widthOf, type Terminal } from './terminal.ts';

export interface Column {
  readonly title: string;
  /** Numbers stand under their last digit. */
  readonly align?: 'right';
  /** May be cut to fit the terminal. One at most, the last. */
  readonly flexible?: boolean;
}

const gap = '  ';

/** Rows under their titles, as lines without spaces at the end. Cells hold no colour yet. */
export function table(
  terminal: Terminal,
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  paintCell: (text: string, column: number, row: number) => string = (text) => text,
): string[] {
  const widths = columns.map(({ title }, at) =>
    Math.max(widthOf(title), ...rows.map((row) => widthOf(row[at] ?? ''))),
  );
  const fixed = widths.reduce((sum, width, at) => sum + (columns[at]?.flexible ? 0 : width), 0);
  const left = (terminal.width ?? Infinity) - fixed - gap.length * (columns.length - 1);
  const line = (cells: readonly string[], paint: (text: string, column: number) => string) =>
    cells
      .map((cell, at) => {
        const { align, flexible } = columns[at] ?? { title: '' };
        const text = flexible === true ? terminal.fit(cell, Math.max(left, 8)) : cell;
        const space = ' '.repeat(Math.max(0, (widths[at] ?? 0) - widthOf(text)));
        if (align === 'right') return space + paint(text, at);
        return at === cells.length - 1 ? paint(text, at) : paint(text, at) + space;
      })
      .join(gap)
      .trimEnd();
  return [
    line(
      columns.map(({ title }) => title),
      (text) => terminal.paint('dim', text),
    ),
    ...rows.map((row, at) => line(row, (text, column) => paintCell(text, column, at))),
  ];
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
