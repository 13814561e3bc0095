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

/**
 * What a run has decided, kept by the hub. A decision counts once `decide` resolved; whoever acts
 * acts after that. One process writes at a time: a second one makes the first fail with `conflict`.
 */
export class Journal {
  readonly #ports: Ports;
  #state: RunState;
  #version: number;
  readonly #waiting: Decision[] = [];
  #isWriting = false;

  constructor(ports: Ports, state: RunState, version: number) {
    this.#ports = ports;
    this.#state = state;
    this.#version = version;
  }

  /** Takes up a stored run; undefined when there is none. */
  static async load(ports: Ports, id: string): Promise<Journal | undefined> {
    const stored = await ports.loadRun(id);
    return stored && new Journal(ports, asRunState(stored.state), stored.version);
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

  async #write(): Promise<void> {
    this.#isWriting = true;
    for (let batch = this.#waiting.splice(0); batch.length > 0; batch = this.#waiting.splice(0)) {
      let draft = this.#state;
      const made = batch.filter(({ change, reject }) => {
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
      try {
        if (made.length > 0) await this.#save(draft);
        for (const { resolve } of made) resolve();
      } catch (error) {
        for (const { reject } of made) reject(error);
      }
    }
    this.#isWriting = false;
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
