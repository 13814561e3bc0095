import type { RunState } from './run-state.ts';
import { progressOf } from './task-context.ts';

/** Something of it waits to be let go on. */
export const isHeld = ({ suspended, left, subtasks }: RunState): boolean =>
  suspended ||
  left !== undefined ||
  Object.values(subtasks).some(({ status }) => status === 'suspended');

/** Lets it go on. */
export function release(draft: RunState, now: Date): void {
  draft.suspended = false;
  delete draft.left;
  draft.revision += 1;
  for (const subtask of Object.values(draft.subtasks)) {
    if (subtask.status === 'suspended') subtask.status = 'waiting';
  }
  draft.taskContext = progressOf(draft, now);
}
