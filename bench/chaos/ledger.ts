/** What was acknowledged, outside of everything that is killed: a file, synced before anybody relies on it. */
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { z } from 'zod';

/** An output as its reader saw it. */
export interface SeenOutput {
  readonly name: string;
  readonly uri: string;
}

export type Entry =
  /** The agent's word that a message led to a task. */
  | {
      readonly kind: 'begun';
      readonly caller: string;
      readonly messageId: string;
      readonly taskId: string;
      readonly contextId: string;
    }
  /** The agent's word of how it came out. */
  | {
      readonly kind: 'ended';
      readonly at: number;
      readonly taskId: string;
      readonly state: string;
      readonly outputs: readonly SeenOutput[];
    }
  | { readonly kind: 'cancelled'; readonly taskId: string; readonly state: string }
  | { readonly kind: 'granted'; readonly contextId: string; readonly grant: string }
  /** Asked for; whether it was done is known once it is labelled. */
  | { readonly kind: 'labelling'; readonly contextId: string; readonly value: string }
  | {
      readonly kind: 'labelled';
      readonly contextId: string;
      readonly value: string;
      readonly assertions: readonly string[];
    };

/** Appends, and is on the disk when a call returns. */
export class Ledger {
  readonly entries: Entry[] = [];
  readonly #file: number;
  readonly #open = new Set<string>();

  constructor(path: string) {
    this.#file = openSync(path, 'a', 0o600);
  }

  note(entry: Entry): void {
    writeSync(this.#file, `${JSON.stringify(entry)}\n`);
    fsyncSync(this.#file);
    this.entries.push(entry);
    if (entry.kind === 'begun') this.#open.add(entry.taskId);
    if (entry.kind === 'ended') this.#open.delete(entry.taskId);
  }

  /** Tasks that were acknowledged and whose end was not. */
  get open(): number {
    return this.#open.size;
  }

  close(): void {
    closeSync(this.#file);
  }
}

const effectSchema = z.object({
  kind: z.enum(['run', 'step']),
  taskId: z.string(),
  /** Milliseconds since the epoch. */
  at: z.int(),
  pid: z.int(),
  resumed: z.boolean().optional(),
  step: z.int().optional(),
});
/** What an agent's processes noted of their own work, each line synced before the next step. */
export type Effect = z.infer<typeof effectSchema>;

export function readEffects(path: string): Effect[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  // A process that is killed may leave the end of its last line.
  return lines.flatMap((line) => {
    try {
      return effectSchema.parse(JSON.parse(line));
    } catch {
      return [];
    }
  });
}
