import { runSubtask } from './attempt.ts';
import type { RunContext } from './context.ts';
import { progressOf } from './task-context.ts';
import type { RunState } from './run-state.ts';
import type { Subtask } from './workflow.ts';

/**
 * Takes a run from wherever it stands to its end: what is completed is not repeated, what was running
 * is taken up again, what became ready is dispatched in the plan's order, at most `parallel` at once.
 * When one step throws, the others are given up and the run stays resumable.
 */
export async function drive(
  run: RunContext,
  parallel: number,
  giveUp: (reason: unknown) => void,
): Promise<void> {
  const active = new Map<string, Promise<void>>();
  try {
    for (;;) {
      await skipUnreachable(run);
      for (const subtask of ready(run.journal.state, active)) {
        if (active.size >= parallel) break;
        active.set(subtask.id, work(run, subtask, active));
      }
      if (active.size === 0) return;
      await Promise.race(active.values());
    }
  } catch (error) {
    giveUp(error);
    await Promise.allSettled(active.values());
    throw error;
  }
}

async function work(
  run: RunContext,
  subtask: Subtask,
  active: Map<string, Promise<void>>,
): Promise<void> {
  await runSubtask(run, subtask);
  active.delete(subtask.id);
}

function ready(state: RunState, active: ReadonlyMap<string, unknown>): Subtask[] {
  const statusOf = (id: string): string => state.subtasks[id]?.status ?? 'waiting';
  return state.workflow.subtasks.filter(
    ({ id, dependsOn }) =>
      !active.has(id) &&
      ['waiting', 'running'].includes(statusOf(id)) &&
      dependsOn.every((each) => statusOf(each) === 'completed'),
  );
}

/** What waits for something that will never be completed is skipped, and so what waits for that. */
async function skipUnreachable(run: RunContext): Promise<void> {
  const { state } = run.journal;
  const dead = new Set(
    Object.entries(state.subtasks)
      .filter(([, { status }]) => ['failed', 'unresolved', 'skipped'].includes(status))
      .map(([id]) => id),
  );
  const skipped: string[] = [];
  for (let grew = true; grew;) {
    grew = false;
    for (const { id, dependsOn } of state.workflow.subtasks) {
      const isWaiting = state.subtasks[id]?.status === 'waiting';
      if (!isWaiting || dead.has(id) || !dependsOn.some((each) => dead.has(each))) continue;
      dead.add(id);
      skipped.push(id);
      grew = true;
    }
  }
  if (skipped.length === 0) return;
  await run.journal.decide((draft) => {
    for (const id of skipped) {
      const subtask = draft.subtasks[id];
      if (subtask !== undefined) subtask.status = 'skipped';
    }
    draft.taskContext = progressOf(draft, run.now());
  });
  for (const id of skipped) {
    run.emit({ kind: 'subtask-finished', subtask: id, status: 'skipped' });
  }
}
