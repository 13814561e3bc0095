import { pause } from '../bindings/a2a/retry.ts';
import { ThroughlineError } from '../errors.ts';
import type { RunStore } from './ports.ts';
import { byModel } from './usage.ts';
import { asRunState, isDone, type Attempt, type RunState, type SubtaskState } from './run-state.ts';

type Ports = Pick<RunStore, 'saveRun' | 'loadRun'>;

interface Decision {
  readonly change: (draft: RunState) => void;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** How often one write is made anew because other processes decided something in between. */
const writeTries = 8;
/** Milliseconds between two looks whether a write is over. */
const writeLooksMs = 5;

/**
 * What a run has decided, kept by the hub. A decision counts once `decide` resolved; whoever acts
 * acts after that. One process drives a run (`driver`): what others decide meanwhile is taken in, and its
 * own decisions are made anew on top; when another one drives, its next write fails with `conflict`.
 */
export class Journal {
  readonly #ports: Ports;
  /** As whom this process drives runs. */
  readonly #self: string;
  #state: RunState;
  #version: number;
  readonly #waiting: Decision[] = [];
  #isWriting = false;

  constructor(ports: Ports, self: string, state: RunState, version: number) {
    this.#ports = ports;
    this.#self = self;
    this.#state = state;
    this.#version = version;
  }

  /** Takes up a stored run; undefined when there is none. */
  static async load(ports: Ports, self: string, id: string): Promise<Journal | undefined> {
    const stored = await ports.loadRun(id);
    return stored && new Journal(ports, self, asRunState(stored.state), stored.version);
  }

  /** As of the last decision; never changed afterwards. */
  get state(): RunState {
    return this.#state;
  }

  subtask(id: string): SubtaskState {
    const found = this.#state.subtasks[id];
    if (found === undefined) throw new ThroughlineError('internal', `no subtask ${id} in the run`);
    return found;
  }

  /**
   * Writes the first state, or a change to the last one. Decisions are written one after another, those
   * that come while one is being written together in the next write.
   */
  decide(change: (draft: RunState) => void = () => undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ change, resolve, reject });
    if (!this.#isWriting) void this.#write();
    return promise;
  }

  /**
   * Takes in what other processes decided meanwhile.
   *
   * @throws ThroughlineError `conflict` when another one drives this process's run now.
   */
  async look(): Promise<void> {
    // A write finds that out by itself.
    if (!this.#isWriting) await this.#lookAt('own');
  }

  /** The same, but whoever drives it now is right to. */
  async giveWay(): Promise<void> {
    while (this.#isWriting) await pause(writeLooksMs);
    await this.#lookAt('any');
  }

  async #lookAt(driver: 'own' | 'any'): Promise<void> {
    this.#isWriting = true;
    try {
      await this.#takeIn(driver);
    } finally {
      this.#isWriting = false;
      if (this.#waiting.length > 0) void this.#write();
    }
  }

  /** Whether somebody else wrote since. */
  async #takeIn(driver: 'own' | 'any' = 'own'): Promise<boolean> {
    const stored = await this.#ports.loadRun(this.#state.id);
    if (stored === undefined || stored.version <= this.#version) return false;
    const state = asRunState(stored.state);
    const isMine = this.#state.driver === this.#self;
    if (driver === 'own' && isMine && state.driver !== this.#self) {
      throw new ThroughlineError('conflict', `Run ${state.id} is driven by another process now.`);
    }
    this.#state = state;
    this.#version = stored.version;
    return true;
  }

  async #write(): Promise<void> {
    this.#isWriting = true;
    for (let batch = this.#waiting.splice(0); batch.length > 0; batch = this.#waiting.splice(0)) {
      let made: readonly Decision[] = batch;
      try {
        for (let tries = 1; made.length > 0; tries++) {
          const next = withAll(this.#state, made);
          made = next.made;
          if (made.length === 0 || (await this.#saved(next.draft, tries))) break;
        }
        for (const { resolve } of made) resolve();
      } catch (error) {
        for (const { reject } of made) reject(error);
      }
    }
    this.#isWriting = false;
  }

  /** False: somebody else wrote in between, and what is decided must be made anew on top of that. */
  async #saved(draft: RunState, tries: number): Promise<boolean> {
    try {
      await this.#save(draft);
      return true;
    } catch (error) {
      const isConflict = error instanceof ThroughlineError && error.code === 'conflict';
      if (!isConflict || tries === writeTries || !(await this.#takeIn())) throw error;
      return false;
    }
  }

  async #save(draft: RunState): Promise<void> {
    const told = this.#version === 0 ? 0 : this.#state.planning.length;
    const { version } = await this.#ports.saveRun({
      id: draft.id,
      activity: draft.activity,
      done: isDone(draft),
      state: draft,
      expected: this.#version,
      ...(draft.planning.length > told && { usage: byModel(draft.planning) }),
    });
    this.#version = version;
    this.#state = draft;
  }

  /** Writes a change to one subtask's latest attempt. */
  decideAttempt(
    subtask: string,
    change: (attempt: Attempt, subtask: SubtaskState, draft: RunState) => void,
  ): Promise<void> {
    return this.decide((draft) => {
      const state = draft.subtasks[subtask];
      const attempt = state?.attempts.at(-1);
      if (state === undefined || attempt === undefined) {
        throw new ThroughlineError('internal', `subtask ${subtask} has no attempt yet`);
      }
      change(attempt, state, draft);
    });
  }
}

/** The state with all that can be decided; a change that throws is left out, and its maker told. */
function withAll(
  state: RunState,
  decisions: readonly Decision[],
): { readonly draft: RunState; readonly made: readonly Decision[] } {
  let draft = state;
  const made = decisions.filter(({ change, reject }) => {
    const next = structuredClone(draft);
    try {
      change(next);
    } catch (error) {
      reject(error);
      return false;
    }
    draft = next;
    return true;
  });
  return { draft, made };
}
