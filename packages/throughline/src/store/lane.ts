import { nextTick } from 'node:process';
import { ThroughlineError } from '../errors.ts';

/** Runs tasks one at a time, in order; a free lane starts the next at once. */
export class Lane {
  #busy = false;
  readonly #waiting: (() => void)[] = [];

  get waiting(): number {
    return this.#waiting.length;
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#busy) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#busy = true;
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#busy = false;
      else next();
    }
  }
}

/** Refusals of the works that are under way. */
const underWay = new Set<(error: ThroughlineError) => void>();
let watching = false;

/**
 * Settles like the work, or with `timeout` as soon as the work waits for anything but promises that
 * are settled already. The engines here answer at once, so a work that is in order is over when the
 * queue of microtasks has run empty, and no clock is needed to find out the others.
 */
export async function promptly<T>(work: () => Promise<T>): Promise<T> {
  // From within a microtask, a tick comes when all of them have run; from elsewhere, before.
  await Promise.resolve();
  const { promise: ranEmpty, reject } = Promise.withResolvers<never>();
  underWay.add(reject);
  watch();
  try {
    return await Promise.race([work(), ranEmpty]);
  } finally {
    underWay.delete(reject);
  }
}

/** One tick for all works. */
function watch(): void {
  if (watching) return;
  watching = true;
  nextTick(() => {
    watching = false;
    for (const refuse of underWay) refuse(waited());
  });
}

function waited(): ThroughlineError {
  return new ThroughlineError(
    'timeout',
    'the work waited for something other than its reader or writer and was undone; ' +
      'do the waiting before or after it',
    { retryable: false },
  );
}
