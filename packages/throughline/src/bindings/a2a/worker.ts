import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { TaskRecord } from '../../model/task-record.ts';
import type { WorkerPorts } from './ports.ts';
import { retrying, sleep, type Backoff } from './retry.ts';
import { isSettled } from './wire.ts';

export interface WorkerOptions {
  readonly ports: WorkerPorts;
  /** See `Beat.seat`. */
  readonly seat?: string | undefined;
  readonly away: Backoff;
  readonly load: (taskId: string) => Promise<TaskRecord | undefined>;
  readonly onFault: (error: unknown, about: { taskId?: string }) => void;
}

/** Of the time that a word counts for, how often it is given. */
const beatsPerLease = 3;
/** Milliseconds between two beats, where it is not known yet for how long one counts. */
const firstPauseMs = 1_000;
/** Tasks given up that are kept in mind. */
const maxLeft = 10_000;

/**
 * This process as the hub knows it: alive as long as it says so. It takes up what processes that are
 * gone left unfinished, when it starts and whenever the hub says that there is something.
 */
export class Worker {
  readonly id: string = randomUUID();
  readonly #options: WorkerOptions;
  readonly #stopping = new AbortController();
  #beating: Promise<void> | undefined;
  #rests = false;
  /** Tasks of its own that it gave up while its hub was away. */
  readonly #left = new Set<string>();

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  /** Says that it is alive, takes up what is left, and goes on so until it is stopped. */
  async start(resume: (tasks: readonly TaskRecord[]) => Promise<number>): Promise<number> {
    const { away } = this.#options;
    const { signal } = this.#stopping;
    const { seconds } = await retrying(away, () => this.#beat(), { signal });
    this.#beating = this.#goOn(seconds, resume);
    return resume(await this.#takeAll());
  }

  /** Gave a task of its own up; it is taken up again when the hub is back. */
  left(taskId: string): void {
    if (this.#left.size < maxLeft) this.#left.add(taskId);
  }

  /** Takes up no more, and goes on saying that it is alive: what runs still is its own. */
  rest(): void {
    this.#rests = true;
  }

  /** Says no more; what it leaves unfinished is for others at once. */
  async leave(): Promise<void> {
    this.#stopping.abort();
    await this.#beating;
    if (this.#beating === undefined) return;
    this.#beating = undefined;
    await this.#options.ports.leave({ worker: this.id }).catch(() => undefined);
  }

  async #goOn(
    seconds: number,
    resume: (tasks: readonly TaskRecord[]) => Promise<number>,
  ): Promise<void> {
    const { signal } = this.#stopping;
    let pauseMs = (seconds * 1_000) / beatsPerLease;
    while (!signal.aborted) {
      await sleep(pauseMs, signal);
      if (signal.aborted) return;
      try {
        const pulse = await this.#beat();
        pauseMs = (pulse.seconds * 1_000) / beatsPerLease;
        if (this.#rests) continue;
        if (this.#left.size > 0) this.#run(resume(await this.#ownLeft()));
        if (pulse.due) this.#run(resume(await this.#takeAll()));
      } catch {
        // A hub that is away hears of it when it is back.
        pauseMs = firstPauseMs;
      }
    }
  }

  /** What it gave up and nobody else took up since. */
  async #ownLeft(): Promise<TaskRecord[]> {
    const own: TaskRecord[] = [];
    for (const taskId of this.#left) {
      const record = await this.#options.load(taskId);
      this.#left.delete(taskId);
      if (record?.worker === this.id && !isSettled(record)) own.push(record);
    }
    return own;
  }

  #run(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.#options.onFault(error, {}));
  }

  #beat(): ReturnType<WorkerPorts['beat']> {
    const { ports, seat } = this.#options;
    return ports.beat({ worker: this.id, ...(seat === undefined ? {} : { seat }) });
  }

  /** All that is left, some at a time; a taking whose answer was lost is asked for again by its name. */
  async #takeAll(): Promise<TaskRecord[]> {
    const { ports, away } = this.#options;
    const { signal } = this.#stopping;
    const all: TaskRecord[] = [];
    while (!signal.aborted && !this.#rests) {
      const taking = { worker: this.id, taking: randomUUID() };
      const some = await retrying(away, () => ports.takeUp(taking), { signal });
      if (some.length === 0) break;
      all.push(...some);
    }
    return all;
  }
}

/** Of a process that listens there: no two that live at the same time share it. */
export function seatOf(host: string, port: number): string {
  const machine = `${hostname()} ${bootId()}`;
  return createHash('sha256').update(`${machine} ${host} ${port}`).digest('base64url');
}

/** Of the running system, where it has one: equal host names are not equal machines. */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}
