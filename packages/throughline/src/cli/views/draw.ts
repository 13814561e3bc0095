import { widthOf, type Terminal } from '../terminal.ts';

/** A line: what is always whole, then text that may be cut to fit the terminal. */
export interface Line {
  readonly whole: string;
  readonly text?: string;
}

/** A part of a tree: its line, notes that belong to it, and what hangs below. */
export interface Node {
  readonly line: Line;
  readonly notes: readonly Line[];
  readonly children: readonly Node[];
}

export function drawLine(terminal: Terminal, prefix: string, { whole, text = '' }: Line): string {
  const start = prefix + whole;
  if (text === '') return start.trimEnd();
  const gap = whole === '' ? '' : '  ';
  const left = (terminal.width ?? Infinity) - widthOf(start) - gap.length;
  return `${start}${gap}${terminal.fit(text, Math.max(left, 8))}`.trimEnd();
}

/** A tree as lines, with the lines of its branches. */
export function draw(terminal: Terminal, { line, notes, children }: Node, prefix = ''): string[] {
  const branch = (text: string): string => terminal.paint('dim', text);
  const beside = prefix + branch(children.length > 0 ? '│ ' : '  ');
  return [
    drawLine(terminal, '', line),
    ...notes.map((note) => drawLine(terminal, beside, note)),
    ...children.flatMap((child, at) => {
      const isLast = at === children.length - 1;
      const below = prefix + branch(isLast ? '   ' : '│  ');
      const [first = '', ...rest] = draw(narrowed(terminal, 3), child, '');
      return [
        `${prefix}${branch(isLast ? '└─ ' : '├─ ')}${first}`,
        ...rest.map((each) => `${below}${each}`),
      ];
    }),
  ];
}

/** A terminal with fewer columns, for what is drawn behind a prefix. */
const narrowed = (terminal: Terminal, columns: number): Terminal =>
  terminal.width === undefined
    ? terminal
    : { ...terminal, width: Math.max(terminal.width - columns, 20) };
