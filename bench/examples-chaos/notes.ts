/** What agents' processes note of their own work: files, synced before the work goes on. */
import { fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { z } from 'zod';
import type { Given } from '../../examples/world/world.ts';

const noteSchema = z.object({
  kind: z.enum(['begins', 'ends']),
  agent: z.string(),
  /** What A2A calls the task. */
  taskId: z.string(),
  /** Milliseconds since the epoch. */
  at: z.int(),
  /** A process that died began it before. */
  resumed: z.boolean().optional(),
});
export type Note = z.infer<typeof noteSchema>;

const givenSchema = z.object({
  agent: z.string(),
  taskId: z.string(),
  kind: z.enum(['context', 'content']),
  text: z.string(),
});
type GivenFor = Given & { readonly taskId: string };

/** Beside the notes: they are read often, and this is long. */
const givenFile = (path: string): string => `${path}.given`;

export class Notes {
  readonly #notes: number;
  readonly #given: number;

  constructor(path: string) {
    this.#notes = openSync(path, 'a', 0o600);
    this.#given = openSync(givenFile(path), 'a', 0o600);
  }

  note(note: Omit<Note, 'at'>): void {
    append(this.#notes, { ...note, at: Date.now() });
  }

  given(given: GivenFor): void {
    append(this.#given, given);
  }
}

function append(file: number, value: unknown): void {
  writeSync(file, `${JSON.stringify(value)}\n`);
  fsyncSync(file);
}

export const readNotes = (path: string): Note[] => read(path, noteSchema);

export const readGiven = (path: string): GivenFor[] => read(givenFile(path), givenSchema);

const read = <T>(path: string, schema: z.ZodType<T>): T[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return schema.parse(JSON.parse(line));
      } catch {
        // A process that is killed may leave the end of its last line.
        return [];
      }
    });

/** Agents that have begun something and not ended it, as far as they noted. */
export function atWork(notes: readonly Pick<Note, 'kind' | 'agent' | 'taskId'>[]): string[] {
  const open = new Map<string, string>();
  for (const { kind, agent, taskId } of notes) {
    if (kind === 'begins') open.set(taskId, agent);
    else open.delete(taskId);
  }
  return [...new Set(open.values())];
}
