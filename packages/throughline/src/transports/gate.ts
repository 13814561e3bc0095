import { ThroughlineError } from '../errors.ts';
import { unlessAborted } from './stop.ts';

/** Lets a number of calls in at a time; some more may wait, in order. */
export class Gate {
  #free: number;
  readonly #waiting = new Set<() => void>();
  readonly #maxWaiting: number;

  constructor(places: number, maxWaiting: number) {
    this.#free = places;
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Waits for a place; the caller leaves exactly once.
   *
   * @throws ThroughlineError `unavailable` when too many wait already; the signal's reason when it aborts.
   */
  async enter(signal: AbortSignal): Promise<void> {
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    if (this.#waiting.size >= this.#maxWaiting) {
      throw new ThroughlineError(
        'unavailable',
        `${this.#maxWaiting} outbound calls wait already; try again later`,
        { details: { sent: false } },
      );
    }
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const go = (): void => resolve(undefined);
    this.#waiting.add(go);
    try {
      await unlessAborted(promise, signal);
    } catch (error) {
      // Not there any more: the place was given in the same moment, so it goes to the next.
      if (!this.#waiting.delete(go)) this.leave();
      throw error;
    }
  }

  leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free++;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
