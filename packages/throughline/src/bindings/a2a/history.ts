import type { StreamResponse } from '@a2a-js/sdk';
import { marked, type StreamEvent } from './marks.ts';

const maxWrites = 256;
const maxUnits = 4_194_304;

interface Write {
  readonly seq: number;
  readonly events: readonly StreamEvent[];
  readonly units: number;
}

/** About how much memory an update takes, in UTF-16 units or bytes. */
function unitsOf({ payload }: StreamResponse): number {
  if (payload?.$case !== 'artifactUpdate') return 256;
  const lengths = (payload.value.artifact?.parts ?? []).map(({ content }) =>
    content === undefined || content.$case === 'data' ? 1_024 : content.value.length,
  );
  return lengths.reduce((sum, length) => sum + length, 256);
}

/** The latest updates of a task that this process works on, for readers that were away. Bounded. */
export class History {
  #writes: readonly Write[] = [];
  #head: number;
  #lastEvent: number;
  #units = 0;

  /** `seq`: the write that the task stands at. */
  constructor(seq: number) {
    this.#head = seq;
    this.#lastEvent = seq;
  }

  /** Number of the latest write. */
  get head(): number {
    return this.#head;
  }

  /** Takes what a write is shown as, nothing for one that shows nothing; gives it with its mark. */
  add(seq: number, updates: readonly StreamResponse[]): StreamEvent[] {
    const skipped = seq > this.#head + 1;
    const mark = {
      seq,
      after: this.#lastEvent,
      // Somebody else wrote in between: what that was is in the task, not among these.
      ...(skipped ? { gap: { from: this.#head + 1, to: seq - 1 } } : {}),
    };
    const events = marked(updates, mark);
    const units = updates.reduce((sum, update) => sum + unitsOf(update), 0);
    if (skipped) this.#clear();
    this.#head = seq;
    if (events.length > 0) this.#lastEvent = seq;
    this.#writes = [...this.#writes, { seq, events, units }];
    this.#units += units;
    while (this.#writes.length > maxWrites || this.#units > maxUnits) {
      const [oldest, ...rest] = this.#writes;
      this.#writes = rest;
      this.#units -= oldest?.units ?? 0;
    }
    return events;
  }

  /** All updates after a number, or undefined when some of them are not here any more. */
  since(seq: number): StreamEvent[] | undefined {
    if (seq === this.#head) return [];
    const [oldest] = this.#writes;
    if (oldest === undefined || seq < oldest.seq - 1 || seq > this.#head) return undefined;
    return this.#writes.filter((write) => write.seq > seq).flatMap(({ events }) => events);
  }

  #clear(): void {
    this.#writes = [];
    this.#units = 0;
  }
}
