import { overallStatus, type GoalStatus, type TaskContext } from '../model/task-context.ts';
import type { RunState, SubtaskState } from './run-state.ts';
import type { Workflow } from './workflow.ts';

/**
 * What a subtask's status means for its goal. One whose outcome nobody knows has not reached its goal
 * as far as anybody knows; the Task itself says `unresolved`.
 */
const goalOf: Readonly<Record<SubtaskState['status'], GoalStatus>> = {
  waiting: '',
  running: 'in-progress',
  completed: 'completed',
  failed: 'failed',
  unresolved: 'failed',
  skipped: 'cancelled',
};

/** TaskContext (draft-chang-agentproto-context-interaction-00, section 5.1) at a run's beginning. */
export function makeTaskContext(
  task: string,
  query: string,
  workflow: Workflow,
  now: Date,
): TaskContext {
  return {
    TaskID: task,
    UserQuery: query,
    TaskName: workflow.name,
    TaskDescription: workflow.description,
    GoalStatus: workflow.subtasks.map(({ name }) => ({ Goal: name, Status: '' })),
    OverallStatus: '',
    StartTime: now.toISOString(),
    EndTime: '',
    Optional: ['StartTime', 'EndTime'],
  };
}

/** TaskContext as the subtasks stand; only the Master writes it, and OverallStatus is derived. */
export function progressOf(state: RunState, now: Date): TaskContext {
  const statuses = state.workflow.subtasks.map(
    ({ id }) => state.subtasks[id]?.status ?? ('waiting' as const),
  );
  const goals = state.workflow.subtasks.map(({ name }, at) => ({
    Goal: name,
    Status: goalOf[statuses[at] ?? 'waiting'],
  }));
  const isOver = !statuses.some((status) => status === 'waiting' || status === 'running');
  return {
    ...state.taskContext,
    GoalStatus: goals,
    OverallStatus: overallStatus(goals),
    EndTime: isOver ? now.toISOString() : '',
  };
}
