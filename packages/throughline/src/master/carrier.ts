import { z } from 'zod';
import { delayMs, pause, sleep, type Backoff } from '../bindings/a2a/retry.ts';
import { ThroughlineError } from '../errors.ts';
import type { StoredRun } from '../model/stored-run.ts';
import type { RunEngine } from './engine.ts';
import type { Journal } from './journal.ts';
import type { MasterPorts, RunStore } from './ports.ts';
import { asRunState, isDone, isUnderWay, runStatus, type RunState } from './run-state.ts';

/** Of the time that a word of a process counts for, how often it is given. */
const beatsPerLease = 3;
/** Milliseconds between two beats, where it is not known yet for how long one counts. */
const firstPauseMs = 1_000;
/** Milliseconds between two looks at a run that another process drives, and that is waited for. */
const waitMs = 500;
/** Runs that nobody asked for here which one process goes on with at the same time. */
const mostTakenUp = 64;
/** Runs that are gone on with later which are kept in mind. */
const mostLater = 10_000;
/** How a run is tried again that can't go on for a reason that passes: half an hour in all. */
const defaultAgain: Backoff = { attempts: 12, firstMs: 5_000, capMs: 300_000 };
/** Characters of the reason why a run is left. */
const reasonLength = 2_000;
/** How often one run is driven again because something was decided just when it stopped. */
const mostRounds = 8;

/** Drives a run that this process may drive, until the signal. */
type Drive = (journal: Journal, signal: AbortSignal) => Promise<unknown>;

interface CarrierOptions {
  readonly engine: RunEngine;
  /** Where they are kept, waited for until the signal when it is away. */
  readonly runs: (signal: AbortSignal) => Pick<RunStore, 'saveRun' | 'loadRun'>;
  /** Opens the journal of a run that nobody here asked for, and drives it. */
  readonly takeUp: (runId: string, drive: (journal: Journal) => Promise<void>) => Promise<void>;
  readonly drive: Drive;
  readonly again?: Backoff;
  readonly now: () => Date;
  readonly onFault: (error: unknown) => void;
}

/** When a run is gone on with, after how many failures. */
interface Later {
  readonly failures: number;
  /** As `performance.now()` says it. */
  readonly at: number;
  /** It is this process's already, so that nobody else says that it is left. */
  readonly isOwn: boolean;
}

/**
 * This process among those of its Master: it drives what it was asked for, unless another one that is
 * alive does, and goes on with what a process left that is gone. Whose a run is stands in the run
 * itself, so that it changes hands in one write, and who had it before can't write any more.
 */
export class RunCarrier {
  readonly #options: CarrierOptions;
  readonly #runs: Pick<RunStore, 'saveRun' | 'loadRun'>;
  readonly #closing = new AbortController();
  readonly #beating: Promise<void>;
  /** The last of those who wait here for one run, by its id: it is driven for one after another. */
  readonly #turns = new Map<string, Promise<unknown>>();
  /** What the engine is to call for a run that was asked for here. */
  readonly #asked = new Map<string, () => Promise<void>>();
  readonly #takenUp = new Map<string, Promise<void>>();
  /** Ends the wait of a run that is tried again, by its id. */
  readonly #waiting = new Map<string, AbortController>();
  /** What could not be begun here, by its id. */
  readonly #later = new Map<string, Later>();
  readonly #again: Backoff;

  constructor(options: CarrierOptions) {
    this.#options = options;
    const { engine, takeUp, drive, runs } = options;
    const { signal } = this.#closing;
    this.#runs = runs(signal);
    this.#again = options.again ?? defaultAgain;
    const unasked = (id: string): Promise<void> =>
      takeUp(id, (journal) => this.#after(id, () => this.#stretch(journal, drive, signal)));
    engine.serve((id) => (this.#asked.get(id) ?? (() => unasked(id)))());
    this.#beating = this.#beat();
  }

  /**
   * Resolves when the run is over or stops, whoever drove it; throws what driving it here threw, unless
   * that passes: then it is tried again, and left with the reason where that does not help.
   */
  async carry(journal: Journal, drive: Drive, given?: AbortSignal): Promise<void> {
    const { id } = journal.state;
    if (isDone(journal.state)) return;
    const signal = AbortSignal.any([this.#closing.signal, ...(given ? [given] : [])]);
    this.wake(id);
    await this.#after(id, async () => {
      if (!(await this.#claim(journal, signal))) return;
      let stretch: Promise<void> | undefined;
      this.#asked.set(id, () => (stretch ??= this.#stretch(journal, drive, signal)));
      try {
        await this.#options.engine.carry({ id });
      } catch (error) {
        // The engine failed, not the run.
        if (stretch === undefined) this.#goOnLater(id, true);
        throw error;
      } finally {
        this.#asked.delete(id);
      }
    });
  }

  /** Ends the wait of a run that is to be tried again: something was decided about it. */
  wake(id: string): void {
    this.#waiting.get(id)?.abort();
  }

  /** Gives up what it drives, for others to go on with at once. */
  async close(): Promise<void> {
    const { engine, onFault } = this.#options;
    this.#closing.abort(
      new ThroughlineError(
        'unavailable',
        'This Master closes; its runs go on where it is served.',
        {
          retryable: true,
        },
      ),
    );
    await Promise.allSettled([...this.#turns.values(), ...this.#takenUp.values(), this.#beating]);
    await engine.leases.leave({ worker: engine.process }).catch(onFault);
    await engine.close();
  }

  async #after<T>(id: string, work: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(id) ?? Promise.resolve();
    const turn = before.then(work, work);
    this.#turns.set(id, turn);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(id) === turn) this.#turns.delete(id);
    }
  }

  /** Drives a run as long as it is this process's and there is something to do. */
  async #stretch(journal: Journal, drive: Drive, signal: AbortSignal): Promise<void> {
    const { id } = journal.state;
    const tried = this.#later.get(id)?.failures ?? 0;
    this.#later.delete(id);
    for (let round = 0, failures = 0, ended = 0; round < mostRounds;) {
      try {
        if (!(await this.#claim(journal, signal))) return;
        await drive(journal, signal);
        if (isDone(journal.state)) return;
        await release(journal);
        // Decided in another process just then.
        if (runStatus(journal.state) !== 'running' && !isUnderWay(journal.state)) return;
        round += 1;
      } catch (error) {
        if (this.#closing.signal.aborted) throw error;
        if (await this.#isDisplaced(id, error)) continue;
        const before = ended;
        ended = endedAttempts(journal.state);
        failures = ended > before ? 1 : failures + 1;
        if (!isTriedHere(error, signal)) return await this.#giveUp(journal, error, tried, signal);
        if (!(await this.#goesOn(journal, error, failures, signal))) return;
      }
    }
  }

  /** @throws what ended the drive; where that can't be written, the run is gone on with later. */
  async #giveUp(
    journal: Journal,
    error: unknown,
    tried: number,
    signal: AbortSignal,
  ): Promise<never> {
    const isLeft = await this.#leave(journal, signal.aborted ? undefined : error);
    if (!isLeft) this.#goOnLater(journal.state.id, true, tried);
    throw error;
  }

  /** Waits before a run is tried again; false where it is left. */
  async #goesOn(
    journal: Journal,
    error: unknown,
    failures: number,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { id } = journal.state;
    this.#options.onFault(error);
    const isEnough = failures >= this.#again.attempts;
    if (isEnough && (await this.#leave(journal, error))) return false;
    const early = new AbortController();
    this.#waiting.set(id, early);
    try {
      await pause(delayMs(this.#again, failures), AbortSignal.any([signal, early.signal]));
    } finally {
      this.#waiting.delete(id);
    }
    return true;
  }

  /** Nobody drives it, because of what, until somebody asks for that; false where that can't be written. */
  async #leave(journal: Journal, error?: unknown): Promise<boolean> {
    const { now, onFault } = this.#options;
    try {
      const left = { at: now().toISOString(), reason: reasonOf(error) };
      await release(journal, error === undefined ? undefined : left);
      return true;
    } catch (fault) {
      onFault(fault);
      return false;
    }
  }

  /**
   * Makes a run this process's, unless another one that is alive drives it: then it waits. False when
   * the run is over.
   */
  async #claim(journal: Journal, signal: AbortSignal): Promise<boolean> {
    const { process } = this.#options.engine;
    const { id } = journal.state;
    for (;;) {
      signal.throwIfAborted();
      const { stored, state } = await this.#stored(id);
      const isMine = stored.driver === process;
      if (isMine && journal.state.driver === process) return true;
      const isFree = !isDone(state) && stored.driver === undefined;
      const isTaken = isFree && (await this.#take(state, stored.version));
      await journal.giveWay();
      if (isDone(state)) return false;
      if (isMine || isTaken) return true;
      if (!isFree) await pause(waitMs, signal);
    }
  }

  /** False when somebody wrote in between. */
  async #take(state: RunState, expected: number): Promise<boolean> {
    const { left: _, ...rest } = state;
    const { id, activity } = state;
    const { process: driver } = this.#options.engine;
    const run = { id, activity, done: false, state: { ...rest, driver }, expected, driver };
    try {
      await this.#runs.saveRun(run);
      return true;
    } catch (error) {
      if (isConflict(error)) return false;
      throw error;
    }
  }

  /** Whether what was thrown is that another process has the run now. */
  async #isDisplaced(id: string, error: unknown): Promise<boolean> {
    if (!isConflict(error)) return false;
    return (await this.#stored(id)).state.driver !== this.#options.engine.process;
  }

  async #stored(id: string): Promise<{ stored: StoredRun; state: RunState }> {
    const stored = await this.#runs.loadRun(id);
    if (stored === undefined) throw new ThroughlineError('not-found', `There is no run ${id}.`);
    return { stored, state: asRunState(stored.state) };
  }

  async #beat(): Promise<void> {
    const { engine } = this.#options;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      let pauseMs = firstPauseMs;
      try {
        const { seconds } = await engine.leases.beat({ worker: engine.process });
        pauseMs = (seconds * 1_000) / beatsPerLease;
        for (const { id, driver } of await engine.leases.leftRuns()) this.#goOnWith(id, driver);
        for (const [id, { isOwn }] of this.#later) if (isOwn) this.#goOnWith(id);
      } catch {
        // A hub that is away hears of it when it is back.
      }
      await sleep(pauseMs, signal);
    }
  }

  /** Goes on with what nobody here asked for; where that fails, later, and at last leaves it. */
  #goOnWith(id: string, left?: string): void {
    const { engine, onFault, takeUp } = this.#options;
    const isBusy = this.#takenUp.size >= mostTakenUp;
    if (isBusy || this.#takenUp.has(id) || this.#turns.has(id)) return;
    const later = this.#later.get(id);
    if (later !== undefined && performance.now() < later.at) return;
    // Counted beforehand; whoever begins to drive it takes that back.
    const failures = this.#goOnLater(id, left === undefined);
    const goOn = async (): Promise<void> => {
      try {
        await engine.carry({ id, ...(left !== undefined && { left }) });
        this.#later.delete(id);
      } catch (error) {
        if (this.#closing.signal.aborted) return;
        onFault(error);
        if (!this.#later.has(id) || failures < this.#again.attempts) return;
        try {
          await takeUp(id, async (journal) => {
            if (await this.#leave(journal, error)) this.#later.delete(id);
          });
        } catch (fault) {
          // Its case was erased meanwhile.
          if (isGone(fault)) this.#later.delete(id);
          throw fault;
        }
      }
    };
    const work = goOn()
      .catch(onFault)
      .finally(() => this.#takenUp.delete(id));
    this.#takenUp.set(id, work);
  }

  #goOnLater(id: string, isOwn: boolean, tried = 0): number {
    const failures = (this.#later.get(id)?.failures ?? tried) + 1;
    const at = performance.now() + delayMs(this.#again, failures);
    if (failures > 1 || this.#later.size < mostLater) this.#later.set(id, { failures, at, isOwn });
    return failures;
  }
}

const isTriedHere = (error: unknown, signal: AbortSignal): boolean =>
  !signal.aborted && isPassing(error);

const isGone = (error: unknown): boolean =>
  error instanceof ThroughlineError && error.code === 'not-found';

/** Ports that say with each decision which process drives the run, as far as this one knows. */
export const tellingDriver = (ports: MasterPorts, self: string): MasterPorts => ({
  ...ports,
  saveRun(run) {
    const { driver } = drivenSchema.parse(run.state);
    if (driver !== undefined && driver !== self) return ports.saveRun(run);
    return ports.saveRun({ ...run, driver: driver ?? null });
  },
});

const drivenSchema = z.looseObject({ driver: z.string().optional() });

/** Nobody drives it, until somebody asks for that. */
const release = (journal: Journal, left?: RunState['left']): Promise<void> =>
  journal.decide((draft) => {
    delete draft.driver;
    if (left !== undefined && !isDone(draft)) draft.left = left;
  });

/** How far a run came: a failure after a step forward is another one. */
const endedAttempts = ({ subtasks }: RunState): number =>
  Object.values(subtasks)
    .flatMap(({ attempts }) => attempts)
    .filter(({ outcome }) => outcome !== undefined).length;

const isPassing = (error: unknown): boolean => error instanceof ThroughlineError && error.retryable;

const reasonOf = (error: unknown): string =>
  (error instanceof ThroughlineError ? error.message : 'an unexpected fault, which is in the log')
    .slice(0, reasonLength)
    .toWellFormed();

const isConflict = (error: unknown): boolean =>
  error instanceof ThroughlineError && error.code === 'conflict';
