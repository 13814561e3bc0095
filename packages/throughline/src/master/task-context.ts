import { overallStatus, type GoalStatus, type TaskContext } from '../model/task-context.ts';
import type { SubtaskStatus } from '../model/run.ts';
import type { Workflow } from '../model/workflow.ts';
import { isDone, type RunState } from './run-state.ts';

/**
 * What a subtask's status means for its goal. One whose outcome nobody knows has not reached its goal
 * as far as anybody knows; the Task itself says `unresolved`.
 */
const goalOf: Readonly<Record<SubtaskStatus, GoalStatus>> = {
  waiting: '',
  running: 'in-progress',
  awaiting: 'in-progress',
  suspended: 'in-progress',
  completed: 'completed',
  failed: 'failed',
  unresolved: 'failed',
  skipped: 'cancelled',
  cancelled: 'cancelled',
};

/** The goals of a plan in its order, each with the subtasks that serve it. */
export function goalsOf({ subtasks }: Workflow): ReadonlyMap<string, readonly string[]> {
  const goals = new Map<string, string[]>();
  for (const { id, name, goal = name } of subtasks) {
    goals.set(goal, [...(goals.get(goal) ?? []), id]);
  }
  return goals;
}

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
    GoalStatus: [...goalsOf(workflow).keys()].map((Goal) => ({ Goal, Status: '' })),
    OverallStatus: '',
    StartTime: now.toISOString(),
    EndTime: '',
    Optional: ['StartTime', 'EndTime'],
  };
}

/**
 * TaskContext as the subtasks stand; only the Master writes it. A goal follows from its subtasks and
 * OverallStatus from the goals, by the same rule. What a failed run never got to counts as failed.
 */
export function progressOf(state: RunState, now: Date): TaskContext {
  const isFailed = state.ending?.status === 'failed';
  const statusOf = (id: string): GoalStatus => {
    const status = state.subtasks[id]?.status ?? 'waiting';
    return isFailed && status === 'skipped' ? 'failed' : goalOf[status];
  };
  const goals = [...goalsOf(state.workflow)].map(([Goal, ids]) => ({
    Goal,
    Status: overallStatus(ids.map((id) => ({ Goal: id, Status: statusOf(id) }))),
  }));
  return {
    ...state.taskContext,
    GoalStatus: goals,
    OverallStatus: overallStatus(goals),
    EndTime: isDone(state) ? now.toISOString() : '',
  };
}
