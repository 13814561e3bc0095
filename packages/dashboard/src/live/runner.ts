/** How often something is read again. */
export interface Pace {
  /** Milliseconds between two readings that nobody asked for. */
  readonly everyMs: () => number;
  readonly now: () => number;
}

/** Of the time, at least so many parts belong to others than to reading. */
const idleShare = 4;
const slowestMs = 15_000;
/** So much after a change it is read once more, then later and later: not all that goes with it has an event. */
const soonMs = 1_000;
const laterTimes = 4;
/** What comes within so many milliseconds is read together. */
const gatherMs = 50;

/**
 * Reads again in the pace it is given and whenever it is woken, never twice at once. A slow answer makes
 * the next one come later, so that a large case does not keep the hub busy; failures double the wait.
 */
export class Runner {
  readonly #refresh: () => Promise<void>;
  readonly #pace: Pace;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isRunning = false;
  #isWoken = false;
  #hasChanged = false;
  #isResting = true;
  #failures = 0;
  /** Milliseconds until it is read unasked, where that is sooner than its pace. */
  #echoMs = Infinity;
  /** Before that nothing is read, whoever wakes it. */
  #notBefore = 0;

  constructor(refresh: () => Promise<void>, pace: Pace) {
    this.#refresh = refresh;
    this.#pace = pace;
  }

  start(): void {
    this.#isResting = false;
    this.#schedule(this.#pace.everyMs());
  }

  rest(): void {
    this.#isResting = true;
    clearTimeout(this.#timer);
  }

  /** It is to be read; because something changed: soon once more, too. */
  wake(hasChanged = false): void {
    this.#hasChanged ||= hasChanged;
    if (this.#isWoken) return;
    this.#isWoken = true;
    if (!this.#isRunning) this.#schedule(gatherMs);
  }

  /** The pace has changed. */
  pace(): void {
    if (!this.#isRunning && !this.#isWoken) this.#schedule(this.#pace.everyMs());
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer);
    // One that is under way says when the next is due.
    if (this.#isResting || this.#isRunning) return;
    const wait = Math.max(ms, this.#notBefore - this.#pace.now());
    this.#timer = setTimeout(() => void this.#run(), wait);
  }

  async #run(): Promise<void> {
    const { now, everyMs } = this.#pace;
    this.#isRunning = true;
    this.#echoMs = this.#hasChanged ? soonMs : this.#echoMs * laterTimes;
    this.#hasChanged = false;
    this.#isWoken = false;
    const started = now();
    try {
      await this.#refresh();
      this.#failures = 0;
    } catch {
      this.#failures += 1;
    }
    this.#isRunning = false;
    const every = everyMs();
    const calm = Math.max((now() - started) * idleShare, this.#failures > 0 ? every : 0);
    const longest = Math.max(slowestMs, every);
    this.#notBefore = now() + Math.min(calm * 2 ** Math.max(0, this.#failures - 1), longest);
    const next = Math.min(Math.min(every, this.#echoMs) * 2 ** this.#failures, longest);
    this.#schedule(this.#isWoken ? gatherMs : next);
  }
}
