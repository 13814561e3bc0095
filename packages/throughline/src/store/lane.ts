import { nextTick } from 'node:process';
import { ThroughlineError } from '../errors.ts';

/** What an engine gives: at once, or once its server has answered. */
export type Answer<T> = T | Promise<T>;

/** Lends each of a few things to one task at a time, in the order they ask; a free one at once. */
export class Pool<T> {
  readonly #free: T[];
  readonly #size: number;
  readonly #waiting: ((item: T) => void)[] = [];

  constructor(items: readonly T[]) {
    this.#free = [...items];
    this.#size = items.length;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  async run<R>(task: (item: T) => Promise<R>): Promise<R> {
    const item =
      this.#free.pop() ?? (await new Promise<T>((resolve) => this.#waiting.push(resolve)));
    try {
      return await task(item);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free.push(item);
      else next(item);
    }
  }

  /** Runs a task while nothing is lent. */
  async alone<R>(task: () => Promise<R>): Promise<R> {
    const { promise: over, resolve: release } = Promise.withResolvers<void>();
    await new Promise<void>((resolve) => {
      let missing = this.#size;
      const hold = (): Promise<void> => {
        missing -= 1;
        if (missing === 0) resolve();
        return over;
      };
      for (let i = 0; i < this.#size; i++) void this.run(hold);
    });
    try {
      return await task();
    } finally {
      release();
    }
  }
}

/**
 * Takes the questions of one work in turn. An engine that answers at once is never waited for; of
 * one that does not, the next question is asked when the one before is answered, unless it takes
 * several `together`.
 */
export class Turns {
  readonly #together: boolean;
  #last: Promise<unknown> | undefined;
  #waiting = 0;

  constructor(together = false) {
    this.#together = together;
  }

  /** Some question is not answered yet. */
  get busy(): boolean {
    return this.#waiting > 0;
  }

  take<T>(question: () => Answer<T>): Answer<T> {
    const before = this.#together ? undefined : this.#last;
    const answer = before === undefined ? question() : before.then(question);
    return answer instanceof Promise ? this.#follow(answer) : answer;
  }

  /** Resolves when all that was asked is answered. */
  async settled(): Promise<void> {
    while (this.#last !== undefined) await this.#last;
  }

  async #follow<T>(answer: Promise<T>): Promise<T> {
    this.#waiting += 1;
    this.#last = Promise.all([this.#last, answer.then(ignore, ignore)]);
    try {
      return await answer;
    } finally {
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#last = undefined;
      // The work goes on now, and has to come to its next question or its end.
      watch();
    }
  }
}

function ignore(): void {}

interface UnderWay {
  readonly busy: () => boolean;
  readonly refuse: (error: ThroughlineError) => void;
}

const underWay = new Set<UnderWay>();
let watching = false;

/**
 * Settles like the work, or with `timeout` as soon as the work waits for anything but its questions
 * and promises that are settled already. Whenever the queue of microtasks has run empty, a work that
 * is in order is over or waits for an answer; so no clock is needed to find out the others.
 */
export async function promptly<T>(work: () => Promise<T>, busy: () => boolean): Promise<T> {
  // From within a microtask, a tick comes when all of them have run; from elsewhere, before.
  await Promise.resolve();
  const { promise: ranEmpty, reject } = Promise.withResolvers<never>();
  const entry = { busy, refuse: reject };
  underWay.add(entry);
  watch();
  try {
    return await Promise.race([work(), ranEmpty]);
  } finally {
    underWay.delete(entry);
  }
}

/** One tick for all works. */
function watch(): void {
  if (watching) return;
  watching = true;
  nextTick(() => {
    watching = false;
    for (const { busy, refuse } of underWay) if (!busy()) refuse(waited());
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
