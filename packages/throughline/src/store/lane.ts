import { clearImmediate, setImmediate } from 'node:timers';
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

/**
 * Settles like the work, or with `timeout` as soon as the work waits for anything but promises that
 * are settled already. The engines here answer at once, so whatever reaches the next turn of the
 * event loop is waiting for something foreign, and needs no clock to be found out.
 */
export async function promptly<T>(work: () => Promise<T>): Promise<T> {
  let foreign: NodeJS.Immediate | undefined;
  const nextTurn = new Promise<never>((_, reject) => {
    foreign = setImmediate(() => reject(waited()));
  });
  try {
    return await Promise.race([work(), nextTurn]);
  } finally {
    clearImmediate(foreign);
  }
}

function waited(): ThroughlineError {
  return new ThroughlineError(
    'timeout',
    'the work waited for something other than its reader or writer and was undone; ' +
      'do the waiting before or after it',
    { retryable: false },
  );
}
