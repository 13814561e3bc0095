import { clearInterval, clearTimeout, setInterval, setTimeout } from 'node:timers';
import { type ConnectionOptions, Session } from './connection.ts';
import { channel } from './flush.ts';
import { headOf } from './reader.ts';

const firstPauseMs = 50;
const longestPauseMs = 5_000;

/** How often to look whether the connection still lives and nothing was missed. */
const lookMs = 15_000;

/**
 * Hears of every hub's commits. A lost connection is made again, after longer and longer pauses, and
 * the head is read then, so that what was committed meanwhile is told too.
 */
export class Listener {
  readonly #session: Session;
  #hear: ((seq: number) => void) | undefined;
  #pauseMs = firstPauseMs;
  #again: NodeJS.Timeout | undefined;
  #looks: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(options: ConnectionOptions) {
    this.#session = new Session(options, {
      notified: (payload) => this.#heard(Number(payload)),
      ended: () => this.#reconnect(),
    });
  }

  /** Who is told the numbers; of one now and then more than once. */
  follow(hear: (seq: number) => void): void {
    this.#hear = hear;
  }

  /** Resolves when no commit from now on can be missed. */
  async start(): Promise<void> {
    const connection = await this.#session.connected();
    await connection.run(`listen ${channel}`);
    await this.#look();
    this.#pauseMs = firstPauseMs;
    this.#looks ??= setInterval(() => void this.#look().catch(() => {}), lookMs).unref();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#again);
    clearInterval(this.#looks);
    await this.#session.end();
  }

  async #look(): Promise<void> {
    const connection = await this.#session.connected();
    const [head] = await connection.rows<{ seq: number }>(headOf);
    this.#heard(head?.seq ?? 0);
  }

  #heard(seq: number): void {
    if (!this.#stopped && Number.isSafeInteger(seq)) this.#hear?.(seq);
  }

  #reconnect(): void {
    if (this.#stopped || this.#again !== undefined) return;
    this.#again = setTimeout(() => {
      this.#again = undefined;
      this.start().catch(() => this.#reconnect());
    }, this.#pauseMs).unref();
    this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs);
  }
}
