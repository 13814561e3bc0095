import { sleep } from './agent-failure.ts';
import { advance, tellEnd } from './attempt.ts';
import type { RunContext } from './context.ts';
import { tellInterruptions } from './interrupt.ts';
import { interruptedEvent } from './interruptions.ts';
import { hitLimit, timeIsOverAt } from './limits.ts';
import { put } from './questions.ts';
import { isOpen, openAttempt, type RunState } from './run-state.ts';
import { stopAttempt } from './stop.ts';
import { progressOf } from './task-context.ts';
import type { Subtask } from '../model/workflow.ts';

interface Work {
  readonly done: Promise<void>;
  readonly stop: AbortController;
}

/** Longest timer that a process can set. */
const longestTimerMs = 2 ** 31 - 1;

/** Key of the question about a limit among what is under way. */
const limitQuestion = '';

/**
 * Takes a run from wherever it stands to its end, or to where it can't go on without being told: what is
 * completed is not repeated, what was running is taken up again, what became ready is dispatched in the
 * plan's order, at most `parallel` at once. When one step throws, the others are given up and the run stays
 * resumable.
 */
export class Driver {
  readonly run: RunContext;
  readonly #parallel: number;
  readonly #giveUp: (reason: unknown) => void;
  readonly #active = new Map<string, Work>();
  #woken = Promise.withResolvers<void>();
  #changes = 0;
  #lookAt = 0;
  /** Barge-ins that were told of. */
  #announced: number;
  #over = false;

  constructor(run: RunContext, parallel: number, giveUp: (reason: unknown) => void) {
    this.run = run;
    this.#parallel = parallel;
    this.#giveUp = giveUp;
    this.#announced = run.journal.state.interruptions.length;
  }

  /** It drives no more: whoever decides something now must see to the rest, too. */
  get over(): boolean {
    return this.#over;
  }

  /** Lets somebody decide about the run while it is driven; it is acted on at once afterwards. */
  async change<T>(decide: () => Promise<T>): Promise<T> {
    this.#changes += 1;
    try {
      return await decide();
    } finally {
      this.#changes -= 1;
      this.#woken.resolve();
    }
  }

  async drive(): Promise<void> {
    try {
      for (;;) {
        this.#woken = Promise.withResolvers<void>();
        await this.#settle();
        this.#stopThoseToStop();
        this.#dispatch();
        if (this.#active.size === 0 && this.#changes === 0) return;
        await this.#next();
        await this.#look();
      }
    } catch (error) {
      this.#giveUp(error);
      await Promise.allSettled([...this.#active.values()].map(({ done }) => done));
      throw error;
    } finally {
      this.#over = true;
    }
  }

  /** Takes in what other processes decided, from time to time, and says that it did. */
  async #look(): Promise<void> {
    const { lookMs, journal } = this.run;
    if (lookMs === undefined || performance.now() < this.#lookAt) return;
    await journal.look();
    this.#lookAt = performance.now() + lookMs;
    if (journal.state.heeded === journal.state.revision) return;
    await journal.decide((draft) => {
      draft.heeded = draft.revision;
    });
  }

  /** Waits until something ends, is decided from outside, the time is over, or it is time to look. */
  async #next(): Promise<void> {
    const { limits, journal, now, lookMs } = this.run;
    const end =
      journal.state.ending === undefined ? timeIsOverAt(journal.state, limits) : undefined;
    const timer = new AbortController();
    const waits: Promise<unknown>[] = [
      this.#woken.promise,
      ...[...this.#active.values()].map(({ done }) => done),
    ];
    const left = end === undefined ? 0 : end - now().getTime();
    if (left > 0) waits.push(sleep(Math.min(left, longestTimerMs), timer.signal));
    if (lookMs !== undefined) waits.push(sleep(lookMs, timer.signal));
    try {
      await Promise.race(waits);
    } finally {
      timer.abort();
    }
  }

  /** Writes what follows from how things stand, before anything is begun. */
  async #settle(): Promise<void> {
    this.#announce();
    await tellInterruptions(this.run);
    await this.#watchLimits();
    await closeWhatCannotBe(this.run);
  }

  /** Tells whoever watches of barge-ins, whichever process they came to. */
  #announce(): void {
    const { journal, emit } = this.run;
    const { interruptions } = journal.state;
    for (const { id } of interruptions.slice(this.#announced)) {
      emit(interruptedEvent(journal.state, id));
    }
    this.#announced = interruptions.length;
  }

  async #watchLimits(): Promise<void> {
    const { run } = this;
    const { state } = run.journal;
    const isAsked = state.questions.some(({ by }) => by === undefined);
    if (state.ending !== undefined || isAsked || !Object.values(state.subtasks).some(isOpen))
      return;
    const hit = hitLimit(state, run.limits, run.now());
    if (hit === undefined) return;
    if (run.limits.onHit === 'ask') {
      const question = {
        id: run.ports.newId('message'),
        limit: hit.limit,
        text: `${hit.reason} Answer yes to allow as much again; anything else ends it.`,
        askedAt: run.now().toISOString(),
      };
      await run.journal.decide((draft) => {
        draft.questions.push(question);
      });
      const { id, text, askedAt } = question;
      this.#begin(limitQuestion, (own) => put(own, { id, text, askedAt }));
      return;
    }
    const ending = { status: 'failed', reason: hit.reason } as const;
    await run.journal.decide((draft) => {
      if (draft.ending !== undefined) return;
      endRun(draft, ending, hit.limit === 'seconds' ? 'failed' : undefined, run.now());
    });
    run.emit({ kind: 'run-ending', ...ending });
  }

  /** Gives up, in this process, what is to stop: its agent is asked next. */
  #stopThoseToStop(): void {
    for (const [id, { stop }] of this.#active) {
      const state = this.run.journal.state.subtasks[id];
      if (state !== undefined && openAttempt(state)?.stop !== undefined) stop.abort();
    }
  }

  #dispatch(): void {
    for (const subtask of ready(this.run.journal.state, this.#active)) {
      if (this.#active.size >= this.#parallel) return;
      this.#begin(subtask.id, (own) => this.#work(own, subtask));
    }
  }

  #begin(key: string, work: (own: RunContext) => Promise<void>): void {
    const stop = new AbortController();
    const own = { ...this.run, signal: AbortSignal.any([this.run.signal, stop.signal]) };
    const done = this.#until(key, work(own));
    // Looked at when it is waited for.
    done.catch(() => undefined);
    this.#active.set(key, { done, stop });
  }

  async #until(key: string, work: Promise<void>): Promise<void> {
    await work;
    this.#active.delete(key);
  }

  async #work(own: RunContext, subtask: Subtask): Promise<void> {
    await advance(own, subtask);
    const { run } = this;
    if (openAttempt(run.journal.subtask(subtask.id))?.stop === undefined) return;
    await tellInterruptions(run);
    await stopAttempt(run, subtask);
    tellEnd(run, subtask.id);
  }
}

/** What can be worked on now: attempts that are not over, and new ones where nothing stands against it. */
function ready(state: RunState, active: ReadonlyMap<string, unknown>): Subtask[] {
  const isBlocked =
    state.suspended ||
    state.ending !== undefined ||
    state.questions.some(({ by }) => by === undefined);
  return state.workflow.subtasks.filter(({ id, dependsOn }) => {
    const subtask = state.subtasks[id];
    if (subtask === undefined || active.has(id)) return false;
    if (openAttempt(subtask) !== undefined) return subtask.status === 'running';
    return (
      !isBlocked &&
      (subtask.status === 'waiting' || subtask.status === 'running') &&
      dependsOn.every((each) => state.subtasks[each]?.status === 'completed')
    );
  });
}

/**
 * Ends a run before its plan does: nothing new is begun. `stop`: what is under way is to stop, too, and how
 * its subtasks then stand.
 */
export function endRun(
  draft: RunState,
  ending: NonNullable<RunState['ending']>,
  stop: 'failed' | 'cancelled' | undefined,
  now: Date,
): void {
  draft.ending = ending;
  draft.revision += 1;
  for (const subtask of Object.values(draft.subtasks)) {
    const open = openAttempt(subtask);
    if (open === undefined || !isOpen(subtask)) continue;
    if (stop !== undefined) open.stop = { ...open.stop, follows: stop };
    // Nobody is asked any more.
    else if (subtask.status === 'awaiting') open.stop ??= { follows: 'cancelled' };
    if (open.stop !== undefined) subtask.status = 'running';
  }
  draft.taskContext = progressOf(draft, now);
}

const dead: readonly string[] = ['failed', 'unresolved', 'skipped', 'cancelled'];

/** What waits for something that will never be completed is skipped, and so what waits for that. */
async function closeWhatCannotBe(run: RunContext): Promise<void> {
  const closed = unreachable(run.journal.state);
  if (closed.length === 0) return;
  await run.journal.decide((draft) => {
    for (const id of unreachable(draft)) {
      const subtask = draft.subtasks[id];
      if (subtask === undefined) continue;
      const isCancelled = draft.ending?.status === 'cancelled';
      if (isCancelled) subtask.status = 'cancelled';
      else subtask.status = subtask.status === 'running' ? 'failed' : 'skipped';
    }
    draft.taskContext = progressOf(draft, run.now());
  });
  for (const subtask of closed) {
    const { status } = run.journal.subtask(subtask);
    if (dead.includes(status)) run.emit({ kind: 'subtask-finished', subtask, status });
  }
}

/** Subtasks that are not over, have nothing under way and will never be begun. */
function unreachable(state: RunState): string[] {
  const isEnding = state.ending !== undefined;
  const never = new Set(
    Object.entries(state.subtasks)
      .filter(([, { status }]) => dead.includes(status))
      .map(([id]) => id),
  );
  const closed: string[] = [];
  for (let grew = true; grew;) {
    grew = false;
    for (const { id, dependsOn } of state.workflow.subtasks) {
      const subtask = state.subtasks[id];
      const isIdle = subtask !== undefined && isOpen(subtask) && openAttempt(subtask) === undefined;
      if (!isIdle || never.has(id)) continue;
      const isStuck = subtask.status !== 'running' && dependsOn.some((each) => never.has(each));
      if (!isEnding && !isStuck) continue;
      never.add(id);
      closed.push(id);
      grew = true;
    }
  }
  return closed;
}
