import { setImmediate } from 'node:timers';
import { ThroughlineError } from '../errors.ts';
import type { ReadEngine, WriteEngine } from './engine.ts';
import { ReaderHandle, WriterHandle } from './handle.ts';
import { Lane, promptly } from './lane.ts';
import type { Store, StoreReader, StoreWriter } from './store.ts';

export interface StoreLimits {
  /** Reads, and likewise writes, that may wait before more are refused. Default 4,096. */
  readonly waiting?: number;
  /** Writes that share one commit, at most. Default 512. */
  readonly batch?: number;
}

export interface Engines {
  /** Without one, reads go through the writer, between commits. */
  readonly reader: ReadEngine | undefined;
  readonly writer: WriteEngine;
  close(): void;
}

interface Waiting {
  /** Runs the work under its own savepoint and gives what to tell its caller after the commit. */
  run(): Promise<Outcome>;
  refuse(error: unknown): void;
}

interface Outcome {
  readonly kept: boolean;
  readonly erased: boolean;
  answer(): void;
}

/**
 * A store over engines that answer at once. Writes queue up and are flushed together: one
 * transaction, a savepoint for each, one sync, and only then the answers.
 */
export class EngineStore implements Store {
  readonly #engines: Engines;
  readonly #limits: Required<StoreLimits>;
  readonly #writes = new Lane();
  readonly #reads: Lane;
  readonly #listeners = new Set<(seq: number) => void>();
  #queue: Waiting[] = [];
  #scheduled: Promise<void> | undefined;
  #unscrubbed = false;
  #closed: Promise<void> | undefined;

  constructor(engines: Engines, limits: StoreLimits = {}) {
    this.#engines = engines;
    this.#limits = { waiting: limits.waiting ?? 4_096, batch: limits.batch ?? 512 };
    this.#reads = engines.reader === undefined ? this.#writes : new Lane();
  }

  async read<T>(work: (reader: StoreReader) => Promise<T>): Promise<T> {
    this.#assertOpen();
    this.#assertRoom(this.#reads.waiting);
    return this.#reads.run(() => this.#readNow(work));
  }

  async write<T>(work: (writer: StoreWriter) => Promise<T>): Promise<T> {
    this.#assertOpen();
    this.#assertRoom(this.#queue.length);
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({
        run: () => this.#writeNow(work, resolve, reject),
        refuse: reject,
      });
      this.#schedule();
    });
  }

  onCommit(listener: (seq: number) => void): () => void {
    // Its own function, so that a listener given twice is stopped once at a time.
    const call = (seq: number): void => listener(seq);
    this.#listeners.add(call);
    return () => void this.#listeners.delete(call);
  }

  close(): Promise<void> {
    this.#closed ??= this.#finish();
    return this.#closed;
  }

  async #finish(): Promise<void> {
    while (this.#scheduled !== undefined) await this.#scheduled;
    await this.#writes.run(async () => {
      const shut = async (): Promise<void> => this.#engines.close();
      await (this.#reads === this.#writes ? shut() : this.#reads.run(shut));
    });
  }

  async #readNow<T>(work: (reader: StoreReader) => Promise<T>): Promise<T> {
    const { reader, writer } = this.#engines;
    const handle = new ReaderHandle(reader ?? writer);
    try {
      reader?.begin();
      return await promptly(() => work(handle));
    } catch (error) {
      throw writer.explain(error);
    } finally {
      handle.end();
      reader?.end();
    }
  }

  #schedule(): void {
    this.#scheduled ??= this.#flushSoon();
  }

  async #flushSoon(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    await this.#writes.run(() => this.#flush());
    this.#scheduled = undefined;
    if (this.#queue.length > 0) this.#schedule();
  }

  async #flush(): Promise<void> {
    const batch = this.#queue.splice(0, this.#limits.batch);
    const { writer } = this.#engines;
    let outcomes: readonly Outcome[];
    let seq: number;
    try {
      writer.begin();
      outcomes = await runEach(batch);
      seq = writer.head().seq;
      writer.commit();
    } catch (error) {
      writer.rollback();
      const reason = writer.explain(error);
      for (const waiting of batch) waiting.refuse(reason);
      return;
    }
    if (outcomes.some(({ erased }) => erased)) this.#unscrubbed = true;
    if (this.#unscrubbed) await this.#scrub();
    if (outcomes.some(({ kept }) => kept)) this.#tell(seq);
    for (const outcome of outcomes) outcome.answer();
  }

  async #writeNow<T>(
    work: (writer: StoreWriter) => Promise<T>,
    resolve: (value: T) => void,
    reject: (error: unknown) => void,
  ): Promise<Outcome> {
    const { writer } = this.#engines;
    const handle = new WriterHandle(writer);
    writer.mark();
    let value: T;
    try {
      value = await promptly(() => work(handle));
      handle.assertWhole();
    } catch (error) {
      handle.end();
      writer.undo();
      return { kept: false, erased: false, answer: () => reject(error) };
    }
    handle.end();
    writer.keep();
    return { kept: true, erased: handle.erased, answer: () => resolve(value) };
  }

  /**
   * Erased bytes leave the files while nobody here reads an older moment. The erasure itself is
   * committed, so what stands in the way now is tried again with the next commit.
   */
  async #scrub(): Promise<void> {
    const { writer } = this.#engines;
    const scrub = async (): Promise<void> => {
      this.#unscrubbed = !writer.scrub();
    };
    await (this.#reads === this.#writes ? scrub() : this.#reads.run(scrub));
  }

  #tell(seq: number): void {
    for (const listener of this.#listeners) {
      try {
        listener(seq);
      } catch (error) {
        process.emitWarning(error instanceof Error ? error : String(error));
      }
    }
  }

  #assertOpen(): void {
    if (this.#closed === undefined) return;
    throw new ThroughlineError('unavailable', 'the store is closed; open it again', {
      retryable: false,
    });
  }

  #assertRoom(waiting: number): void {
    if (waiting < this.#limits.waiting) return;
    throw new ThroughlineError(
      'unavailable',
      `${waiting} calls wait for the store already; try again in a moment`,
      { details: { waiting } },
    );
  }
}

async function runEach(batch: readonly Waiting[]): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const waiting of batch) outcomes.push(await waiting.run());
  return outcomes;
}
