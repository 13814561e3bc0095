import { ThroughlineError } from '../errors.ts';
import type { PlannedSubtask, RunEvent } from './events.ts';
import type { Interrupted } from './master.ts';
import { reportOf } from './report.ts';
import type { RunState } from './run-state.ts';

/** What a barge-in led to, as it was written. */
export function interruptedOf(state: RunState, id: string): Interrupted {
  const found = reportOf(state).interruptions.find((each) => each.id === id);
  if (found === undefined) throw new ThroughlineError('internal', `no interruption ${id}`);
  return found;
}

/** The same for whoever watches. */
export function interruptedEvent(state: RunState, id: string): RunEvent {
  const { resource: requirement, decisions } = interruptedOf(state, id);
  const subtasks = plannedSubtasks(state);
  return { kind: 'interrupted', id, requirement, decisions, subtasks };
}

/** That a run is driven, from where it stands. */
export const beganEvent = (state: RunState): RunEvent => ({
  kind: 'run-began',
  runId: state.id,
  subtasks: plannedSubtasks(state),
});

/** How the subtasks of a plan stand. */
const plannedSubtasks = (state: RunState): PlannedSubtask[] =>
  state.workflow.subtasks.map(({ id, name, agent, todo }) => {
    const { attempts = [], past = 0, status = 'waiting' } = state.subtasks[id] ?? {};
    return {
      id,
      name,
      agent: attempts.at(-1)?.agent ?? agent,
      status,
      attempt: attempts.length - past,
      items: todo.map((item) => ({ id: item.id, description: item.description })),
    };
  });
