import type { Terminal } from './terminal.ts';

/** Where a command writes: results on stdout, everything else on stderr. */
export interface Output {
  readonly terminal: Terminal;
  readonly json: boolean;
  /** The result: one JSON object with its version, or lines for people. */
  result(json: Readonly<Record<string, unknown>>, lines: () => readonly string[]): void;
  /** Something that a person should know and a program need not. */
  note(line: string): void;
}

/** Version of the shape of all JSON output; a breaking change gives it the next number. */
export const jsonVersion = 1;

export interface Streams {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
}

export function output(streams: Streams, terminal: Terminal, json: boolean): Output {
  return {
    terminal,
    json,
    result: (value, lines) => {
      const text = json ? JSON.stringify({ version: jsonVersion, ...value }) : lines().join('\n');
      streams.stdout.write(`${text}\n`);
    },
    note: (line) => {
      streams.stderr.write(`${line}\n`);
    },
  };
}
