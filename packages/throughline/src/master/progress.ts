import type { SubtaskStatus } from '../model/run.ts';
import type { PlannedSubtask, RunEvent } from './events.ts';

/** One subtask as far as it is known now. */
export interface SubtaskProgress {
  readonly id: string;
  readonly name: string;
  readonly agent: string;
  readonly status: SubtaskStatus;
  /** 1 for the first; 0 before it was begun. */
  readonly attempt: number;
  readonly items: readonly {
    readonly id: string;
    readonly description: string;
    readonly state: 0 | 1;
  }[];
  /** Why nobody reached its agent yet. */
  readonly notReached?: string;
  /** What its agent wants to know. */
  readonly question?: string;
  readonly tokens?: { readonly sent: number; readonly fullHistory: number };
  /** Why its latest attempt failed or was stopped. */
  readonly reason?: string;
}

/** A run as far as it is known now; never changed afterwards. */
export interface RunProgress {
  /** Empty until the plan was made. */
  readonly runId: string;
  readonly subtasks: readonly SubtaskProgress[];
  /** What the Master itself wants to know. */
  readonly question?: string;
  readonly ending?: { readonly status: 'failed' | 'cancelled'; readonly reason: string };
}

/**
 * Folds events into how a run stands, and gives that to whoever reads. A reader gets the newest state each
 * time it asks: one that is slow misses steps in between, never the last, and nothing is queued for it.
 */
export class Progress implements AsyncIterable<RunProgress> {
  #now: RunProgress = { runId: '', subtasks: [] };
  #version = 0;
  #isOver = false;
  #changed = Promise.withResolvers<void>();

  get now(): RunProgress {
    return this.#now;
  }

  take(event: RunEvent): void {
    this.#now = after(this.#now, event);
    this.#tell();
  }

  end(): void {
    this.#isOver = true;
    this.#tell();
  }

  #tell(): void {
    this.#version += 1;
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RunProgress, void, undefined> {
    for (let seen = 0; ;) {
      if (seen === this.#version && !this.#isOver) await this.#changed.promise;
      if (seen === this.#version) return;
      seen = this.#version;
      yield this.#now;
      if (this.#isOver && seen === this.#version) return;
    }
  }
}

const planned = (
  { items, ...subtask }: PlannedSubtask,
  before?: SubtaskProgress,
): SubtaskProgress => ({
  ...subtask,
  items: items.map((item) => ({
    ...item,
    state:
      subtask.status === 'completed'
        ? 1
        : (before?.items.find((each) => each.id === item.id)?.state ?? 0),
  })),
});

function after(run: RunProgress, event: RunEvent): RunProgress {
  if (event.kind === 'run-began') {
    return { runId: event.runId, subtasks: event.subtasks.map((each) => planned(each)) };
  }
  if (event.kind === 'interrupted') {
    const before = (id: string) => run.subtasks.find((each) => each.id === id);
    return { ...run, subtasks: event.subtasks.map((each) => planned(each, before(each.id))) };
  }
  if (event.kind === 'run-ending') {
    const { status, reason } = event;
    return { ...run, ending: { status, reason } };
  }
  if (event.kind === 'message-refused') return run;
  const { subtask } = event;
  if (subtask === undefined) {
    const { question: _, ...rest } = run;
    return event.kind === 'question' ? { ...rest, question: event.text } : rest;
  }
  return {
    ...run,
    subtasks: run.subtasks.map((each) => (each.id === subtask ? step(each, event) : each)),
  };
}

type StepEvent = Exclude<
  RunEvent,
  { kind: 'run-began' | 'interrupted' | 'message-refused' | 'run-ending' }
>;

function step(subtask: SubtaskProgress, event: StepEvent): SubtaskProgress {
  const { notReached: _not, question: _question, ...rest } = subtask;
  switch (event.kind) {
    case 'subtask-started': {
      const { reason: _reason, ...fresh } = rest;
      const items =
        event.attempt === subtask.attempt && subtask.status === 'running'
          ? rest.items
          : rest.items.map((item) => ({ ...item, state: 0 as const }));
      return { ...fresh, status: 'running', agent: event.agent, attempt: event.attempt, items };
    }
    case 'agent-not-reached':
      return { ...rest, notReached: event.reason };
    case 'handover-counted': {
      const { sent, fullHistory } = event;
      return { ...rest, tokens: { sent, fullHistory } };
    }
    case 'item-state': {
      const items = rest.items.map((item) =>
        item.id === event.item ? { ...item, state: event.state } : item,
      );
      return { ...rest, items };
    }
    case 'question':
      return { ...rest, status: 'awaiting', question: event.text };
    case 'answered':
      return { ...rest, status: 'running' };
    case 'attempt-ended':
      return event.outcome === 'answered'
        ? { ...rest, items: rest.items.map((item) => ({ ...item, state: 1 as const })) }
        : {
            ...rest,
            // What follows a stop begins anew, be it as the first try again.
            ...(event.outcome === 'stopped' && { status: 'waiting' as const }),
            ...(event.reason !== undefined && { reason: event.reason }),
          };
    case 'subtask-finished':
      return { ...rest, status: event.status };
    default:
      return event satisfies never;
  }
}
