import { ThroughlineError } from '../../errors.ts';

/**
 * The reading end of a stream that does not wait for its reader: at most `limit` items wait. A
 * reader that falls further behind is dropped and told so; whoever writes goes on.
 */
export class Reader<T> implements AsyncIterableIterator<T> {
  readonly #limit: number;
  readonly #onLeave: () => void;
  readonly #items: T[] = [];
  #wake: (() => void) | undefined;
  #ended = false;
  #error: unknown;

  /** `onLeave` is called once when the reader stops or is dropped. */
  constructor(limit: number, onLeave: () => void) {
    this.#limit = limit;
    this.#onLeave = onLeave;
  }

  /** Items that wait to be read. */
  get waiting(): number {
    return this.#items.length;
  }

  push(item: T): void {
    if (this.#ended) return;
    if (this.#items.length < this.#limit) {
      this.#items.push(item);
      this.#wake?.();
      return;
    }
    this.#items.length = 0;
    this.fail(
      new ThroughlineError(
        'unavailable',
        `the reader fell more than ${this.#limit} updates behind and was dropped; the task runs on, subscribe to it again`,
      ),
    );
    this.#onLeave();
  }

  /** No more items: what waits is still read. */
  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  /** Like `end`, and the reader then gets this error. */
  fail(error: unknown): void {
    if (this.#ended) return;
    this.#error = error;
    this.end();
  }

  async next(): Promise<IteratorResult<T, undefined>> {
    while (this.#items.length === 0 && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const [item] = this.#items.splice(0, 1);
    if (item !== undefined) return { done: false, value: item };
    const error = this.#error;
    this.#error = undefined;
    if (error !== undefined) throw error;
    return { done: true, value: undefined };
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.#items.length = 0;
    this.#error = undefined;
    this.end();
    this.#onLeave();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
