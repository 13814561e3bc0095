/** How the story is told: lines for people, on stdout or beside a program's output. */
import { styleText } from 'node:util';

export interface Teller {
  line(text?: string): void;
  /** Wrapped to the width. */
  say(text: string): void;
  /** Wrapped to the width, indented. */
  quote(text: string): void;
  title(text: string): void;
  table(
    head: readonly string[],
    rows: readonly (readonly string[])[],
    right: readonly number[],
  ): void;
}

/** Writes to a stream; colours only where it is a terminal. */
export function teller(stream: NodeJS.WriteStream): Teller {
  const width = Math.min(stream.columns ?? 80, 100);
  const paint = (format: 'bold' | 'dim', text: string): string =>
    stream.isTTY ? styleText(format, text) : text;
  const line = (text = ''): void => void stream.write(`${text}\n`);
  return {
    line,
    say: (text) => {
      for (const each of wrap(text, width)) line(each);
    },
    quote: (text) => {
      for (const paragraph of text.split('\n')) {
        for (const each of wrap(paragraph, width - 2)) line(`  ${each}`);
      }
    },
    title: (text) => {
      line();
      line(paint('bold', text));
    },
    table: (head, rows, right) => {
      const widths = head.map((title, column) =>
        Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
      );
      const cells = (row: readonly string[]): string =>
        row
          .map((cell, column) => {
            const size = widths[column] ?? 0;
            return right.includes(column) ? cell.padStart(size) : cell.padEnd(size);
          })
          .join('  ')
          .trimEnd();
      line(`  ${paint('dim', cells(head))}`);
      for (const row of rows) line(`  ${cells(row)}`);
    },
  };
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let current = '';
  for (const word of text.split(' ')) {
    const next = current === '' ? word : `${current} ${word}`;
    if (next.length > width && current !== '') {
      lines.push(current);
      current = word;
    } else {
      current = next;
    }
  }
  return [...lines, current];
}
