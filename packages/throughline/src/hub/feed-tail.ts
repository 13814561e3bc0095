import { setTimeout as sleep } from 'node:timers/promises';
import type { Store, StoredLogEntry } from '../store/store.ts';

/** Entries kept for readers that are nearly up to date. */
const kept = 1_024;
/** Entries read at a time. */
const page = 256;

export interface TailTimes {
  /** Commits that fall into so many milliseconds are told together. */
  readonly gatherMs: number;
  /** Between two looks for commits that nobody told of. */
  readonly lookMs: number;
}

/**
 * The end of the log, read once for all who follow it. The store's word of a commit wakes it; a slow look
 * finds what other processes wrote and what was told and not heard. It works only while somebody
 * follows.
 */
export class FeedTail {
  readonly #store: Store;
  readonly #times: TailTimes;
  /** Without a hole, the last one `#head`. */
  #entries: StoredLogEntry[] = [];
  #head: number | undefined;
  #told = 0;
  #reading: Promise<void> | undefined;
  #followers = 0;
  #stop: (() => void) | undefined;
  readonly #waiting = new Set<() => void>();

  constructor(store: Store, times: TailTimes) {
    this.#store = store;
    this.#times = times;
  }

  /** Keeps it at work until the function that it gives is called. */
  follow(): () => void {
    this.#followers += 1;
    if (this.#followers === 1) this.#begin();
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#followers -= 1;
      if (this.#followers === 0) this.#end();
    };
  }

  /** Entries after a number, where they are at hand; undefined: ask the store. */
  after(seq: number, limit: number): readonly StoredLogEntry[] | undefined {
    const first = this.#entries[0]?.seq ?? (this.#head ?? Infinity) + 1;
    if (this.#head === undefined || seq < first - 1) return undefined;
    return this.#entries.slice(seq - first + 1, seq - first + 1 + limit);
  }

  /** Whether more than `seq` is there, after at most so many milliseconds. */
  async wait(seq: number, ms: number, signal: AbortSignal): Promise<boolean> {
    if (this.#hasMore(seq) || signal.aborted) return this.#hasMore(seq);
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const wake = () => resolve(undefined);
    const timer = setTimeout(wake, ms);
    signal.addEventListener('abort', wake, { once: true });
    this.#waiting.add(wake);
    await promise;
    clearTimeout(timer);
    signal.removeEventListener('abort', wake);
    this.#waiting.delete(wake);
    return this.#hasMore(seq);
  }

  #hasMore(seq: number): boolean {
    return this.#head !== undefined && this.#head > seq;
  }

  #begin(): void {
    const stop = this.#store.onCommit((seq) => {
      this.#told = Math.max(this.#told, seq);
      if (this.#head === undefined || seq > this.#head) this.#look();
    });
    const timer = setInterval(() => this.#look(), this.#times.lookMs).unref();
    this.#stop = () => {
      stop();
      clearInterval(timer);
    };
    this.#look();
  }

  #end(): void {
    this.#stop?.();
    this.#stop = undefined;
    this.#entries = [];
    this.#head = undefined;
  }

  #look(): void {
    if (this.#reading !== undefined) return;
    this.#reading = this.#readOn()
      // A store out of reach is asked again at the next look.
      .catch(() => undefined)
      .finally(() => {
        this.#reading = undefined;
      });
  }

  async #readOn(): Promise<void> {
    await sleep(this.#times.gatherMs);
    let hasMore = true;
    while (hasMore && this.#stop !== undefined) {
      const from = this.#head;
      const { entries, head } = await this.#store.read(async (reader) => {
        const last = from ?? (await reader.head()).seq;
        return { head: last, entries: await reader.log({ after: last, limit: page }) };
      });
      if (this.#stop === undefined) return;
      this.#head = entries.at(-1)?.seq ?? head;
      this.#entries = [...this.#entries, ...entries].slice(-kept);
      hasMore = entries.length > 0 && (entries.length === page || this.#told > this.#head);
      for (const wake of this.#waiting) wake();
    }
  }
}
