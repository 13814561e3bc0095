import { setImmediate } from 'node:timers';
import { ThroughlineError } from '../errors.ts';
import { measure } from '../telemetry/measure.ts';
import { inSpan } from '../telemetry/span.ts';
import type { ReadEngine, WriteEngine } from './engine.ts';
import { ReaderHandle, WriterHandle } from './handle.ts';
import { type Answer, Pool, promptly } from './lane.ts';
import type { Store, StoreReader, StoreWriter } from './store.ts';

export interface StoreLimits {
  /** Reads, and likewise writes, that may wait before more are refused. Default 4,096. */
  readonly waiting?: number;
  /** Writes that share one commit, at most. Default 512. */
  readonly batch?: number;
}

export interface Engines {
  /** Each serves one read at a time. Without any, reads go through the writer, between commits. */
  readonly readers: readonly ReadEngine[];
  readonly writer: WriteEngine;
  /** An erasure of an earlier process may have bytes left to clear. */
  readonly unscrubbed?: boolean;
  /** Tells of commits that others made, as far as the engines hear of them. */
  follow?(heard: (seq: number) => void): void;
  close(): Answer<void>;
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
 * A store over engines. Writes queue up and are flushed together: one transaction, each undone by
 * itself, one sync, and only then the answers.
 */
export class EngineStore implements Store {
  readonly #engines: Engines;
  readonly #limits: Required<StoreLimits>;
  readonly #writes: Pool<WriteEngine>;
  /** Undefined: those of the writer. */
  readonly #reads: Pool<ReadEngine> | undefined;
  readonly #listeners = new Set<(seq: number) => void>();
  #queue: Waiting[] = [];
  #scheduled: Promise<void> | undefined;
  #unscrubbed: boolean;
  #closed: Promise<void> | undefined;
  /** Highest number that listeners were told. */
  #told = 0;

  constructor(engines: Engines, limits: StoreLimits = {}) {
    this.#engines = engines;
    this.#limits = { waiting: limits.waiting ?? 4_096, batch: limits.batch ?? 512 };
    this.#unscrubbed = engines.unscrubbed ?? false;
    this.#writes = new Pool([engines.writer]);
    this.#reads = engines.readers.length === 0 ? undefined : new Pool(engines.readers);
    engines.follow?.((seq) => {
      if (seq > this.#told) this.#tell(seq);
    });
  }

  async read<T>(work: (reader: StoreReader) => Promise<T>): Promise<T> {
    this.#assertOpen();
    if (this.#reads === undefined) {
      this.#assertRoom(this.#writes.waiting);
      return this.#writes.run((writer) => this.#ask(writer, work));
    }
    this.#assertRoom(this.#reads.waiting);
    return this.#reads.run((reader) => this.#readNow(reader, work));
  }

  async write<T>(work: (writer: StoreWriter) => Promise<T>): Promise<T> {
    this.#assertOpen();
    this.#assertRoom(this.#queue.length);
    measure('throughline.store.waiting');
    const written = (): Promise<T> =>
      new Promise<T>((resolve, reject) => {
        this.#queue.push({
          run: () => this.#writeNow(work, resolve, reject),
          refuse: reject,
        });
        this.#schedule();
      });
    return inSpan('store.write', written);
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
    await this.#writes.alone(async () => {
      const shut = async (): Promise<void> => this.#engines.close();
      await (this.#reads === undefined ? shut() : this.#reads.alone(shut));
    });
  }

  async #readNow<T>(reader: ReadEngine, work: (reader: StoreReader) => Promise<T>): Promise<T> {
    try {
      await reader.begin();
      return await this.#ask(reader, work);
    } catch (error) {
      throw reader.explain(error);
    } finally {
      reader.end();
    }
  }

  async #ask<T>(
    engine: ReadEngine | WriteEngine,
    work: (reader: StoreReader) => Promise<T>,
  ): Promise<T> {
    const handle = new ReaderHandle(engine);
    try {
      return await promptly(
        () => work(handle),
        () => handle.busy,
      );
    } finally {
      handle.end();
      await handle.settled();
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
    const started = performance.now();
    const batch = this.#queue.splice(0, this.#limits.batch);
    measure('throughline.store.waiting', -batch.length);
    const { writer } = this.#engines;
    let outcomes: readonly Outcome[];
    let before: number;
    let seq: number;
    try {
      await writer.begin();
      before = writer.head().seq;
      outcomes = await runEach(batch);
      seq = writer.head().seq;
      await writer.commit();
    } catch (error) {
      await writer.rollback();
      const reason = writer.explain(error);
      for (const waiting of batch) waiting.refuse(reason);
      return;
    }
    measure('throughline.store.commit.duration', (performance.now() - started) / 1_000);
    measure('throughline.store.commit.writes', batch.length);
    if (seq > before) measure('throughline.assertions', seq - before);
    if (outcomes.some(({ erased }) => erased)) this.#unscrubbed = true;
    if (this.#unscrubbed) await this.#scrub();
    // Whoever follows the commits of all may have told of this one already.
    const news = seq > this.#told || seq === before;
    if (news && outcomes.some(({ kept }) => kept)) this.#tell(Math.max(seq, this.#told));
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
      value = await promptly(
        () => work(handle),
        () => handle.busy,
      );
      await handle.settled();
      handle.end();
      handle.assertWhole();
      writer.keep();
    } catch (error) {
      handle.end();
      await handle.settled();
      await writer.undo();
      return { kept: false, erased: false, answer: () => reject(error) };
    }
    return { kept: true, erased: handle.erased, answer: () => resolve(value) };
  }

  /**
   * Erased bytes leave the files while no read of a single reader is under way here, which would
   * hold on to an older moment. The erasure itself is committed, so what stands in the way now is
   * tried again with the next commit.
   */
  async #scrub(): Promise<void> {
    const { writer } = this.#engines;
    const scrub = async (): Promise<void> => {
      this.#unscrubbed = !(await writer.scrub());
    };
    await (this.#reads === undefined ? scrub() : this.#reads.run(scrub));
  }

  #tell(seq: number): void {
    this.#told = seq;
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
    measure('throughline.store.refusals');
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
