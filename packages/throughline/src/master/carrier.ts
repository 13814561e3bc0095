import { z } from 'zod';
import { pause, sleep } from '../bindings/a2a/retry.ts';
import { ThroughlineError } from '../errors.ts';
import type { StoredRun } from '../model/stored-run.ts';
import type { RunEngine } from './engine.ts';
import type { Journal } from './journal.ts';
import type { MasterPorts, RunStore } from './ports.ts';
import { asRunState, isDone, runStatus, type RunState } from './run-state.ts';

/** Of the time that a word of a process counts for, how often it is given. */
const beatsPerLease = 3;
/** Milliseconds between two beats, where it is not known yet for how long one counts. */
const firstPauseMs = 1_000;
/** Milliseconds between two looks at a run that another process drives, and that is waited for. */
const waitMs = 500;
/** Runs that nobody asked for here which one process goes on with at the same time. */
const mostTakenUp = 64;
/** Runs given up for a reason that passes which are kept in mind. */
const mostDropped = 10_000;
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
  readonly onFault: (error: unknown) => void;
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
  /** Its own that it could not go on with, for a reason that passes. */
  readonly #dropped = new Set<string>();

  constructor(options: CarrierOptions) {
    this.#options = options;
    const { engine, takeUp, drive, runs } = options;
    const { signal } = this.#closing;
    this.#runs = runs(signal);
    const unasked = (id: string): Promise<void> =>
      takeUp(id, (journal) => this.#after(id, () => this.#stretch(journal, drive, signal)));
    engine.serve((id) => (this.#asked.get(id) ?? (() => unasked(id)))());
    this.#beating = this.#beat();
  }

  /** Resolves when the run is over or stops, whoever drove it; throws what driving it here threw. */
  async carry(journal: Journal, drive: Drive, given?: AbortSignal): Promise<void> {
    const { id } = journal.state;
    if (isDone(journal.state)) return;
    const signal = AbortSignal.any([this.#closing.signal, ...(given ? [given] : [])]);
    await this.#after(id, async () => {
      if (!(await this.#claim(journal, signal))) return;
      let stretch: Promise<void> | undefined;
      this.#asked.set(id, () => (stretch ??= this.#stretch(journal, drive, signal)));
      try {
        await this.#options.engine.carry({ id });
      } catch (error) {
        // The engine failed, not the run.
        if (stretch === undefined) await this.#giveUp(journal, error, signal);
        throw error;
      } finally {
        this.#asked.delete(id);
      }
    });
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
    this.#dropped.delete(id);
    for (let round = 0; round < mostRounds && (await this.#claim(journal, signal));) {
      try {
        await drive(journal, signal);
      } catch (error) {
        if (await this.#isDisplaced(id, error)) continue;
        await this.#giveUp(journal, error, signal);
        throw error;
      }
      if (isDone(journal.state)) return;
      await release(journal);
      // Decided in another process just then.
      if (runStatus(journal.state) !== 'running') return;
      round += 1;
    }
  }

  /** What can't go on now is gone on with later; what a process leaves that closes, by the others. */
  async #giveUp(journal: Journal, error: unknown, signal: AbortSignal): Promise<void> {
    if (this.#closing.signal.aborted) return;
    if (signal.aborted || !(error instanceof ThroughlineError && error.retryable)) {
      try {
        return await release(journal);
      } catch (fault) {
        this.#options.onFault(fault);
      }
    }
    if (this.#dropped.size < mostDropped) this.#dropped.add(journal.state.id);
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
    const { id, activity } = state;
    const { process: driver } = this.#options.engine;
    const run = { id, activity, done: false, state: { ...state, driver }, expected, driver };
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
        for (const id of this.#dropped) this.#goOnWith(id);
      } catch {
        // A hub that is away hears of it when it is back.
      }
      await sleep(pauseMs, signal);
    }
  }

  #goOnWith(id: string, left?: string): void {
    const { engine, onFault } = this.#options;
    const isBusy = this.#takenUp.size >= mostTakenUp;
    if (isBusy || this.#takenUp.has(id) || this.#turns.has(id)) return;
    const work = engine
      .carry({ id, ...(left !== undefined && { left }) })
      .catch((error: unknown) => {
        if (!this.#closing.signal.aborted) onFault(error);
      })
      .finally(() => this.#takenUp.delete(id));
    this.#takenUp.set(id, work);
  }
}

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
const release = (journal: Journal): Promise<void> =>
  journal.decide((draft) => {
    delete draft.driver;
  });

const isConflict = (error: unknown): boolean =>
  error instanceof ThroughlineError && error.code === 'conflict';
