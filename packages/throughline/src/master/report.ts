import type { RunReport, SubtaskReport } from '../model/run.ts';
import type { Usage } from '../model/usage.ts';
import { isDone, openQuestions, runStatus, type RunState, type SubtaskState } from './run-state.ts';
import { addUp, allUsage } from './usage.ts';

/** How a run stands, for those who asked for it. */
export function reportOf(state: RunState): RunReport {
  const attempts = Object.values(state.subtasks).flatMap((subtask) => subtask.attempts);
  const sum = (of: 'sent' | 'fullHistory' | 'returned'): number =>
    attempts.reduce((total, { tokens }) => total + (tokens?.[of] ?? 0), 0);
  return {
    runId: state.id,
    requestTask: state.requestTask,
    activity: state.activity,
    dialog: state.dialog,
    task: state.task,
    status: runStatus(state),
    ...(state.ending !== undefined && { reason: state.ending.reason }),
    done: isDone(state),
    taskContext: state.taskContext,
    subtasks: state.workflow.subtasks.map(({ id, name }) =>
      subtaskReport({ id, name }, state.subtasks[id]),
    ),
    questions: openQuestions(state),
    interruptions: state.interruptions.map(({ id, at, items, decisions, added }) => ({
      id,
      at,
      resource: state.items.find(({ name }) => name === items[0])?.ref.resource ?? '',
      decisions: decisions.map(({ subtask, decision }) => ({ subtask, decision })),
      added,
    })),
    tokens: {
      handedOver: sum('sent'),
      fullHistory: sum('fullHistory'),
      returned: sum('returned'),
    },
    usage: { ...addUp(allUsage(state)), byAgent: byAgent(state) },
  };
}

function byAgent(state: RunState): RunReport['usage']['byAgent'] {
  const usage = new Map<string, Usage[]>();
  for (const { attempts } of Object.values(state.subtasks)) {
    for (const { agent, usage: used } of attempts) {
      if (used.length > 0) usage.set(agent, [...(usage.get(agent) ?? []), ...used]);
    }
  }
  return Object.fromEntries([...usage].map(([agent, used]) => [agent, addUp(used)]));
}

function subtaskReport(
  named: { id: string; name: string },
  { status, attempts }: Pick<SubtaskState, 'status' | 'attempts'> = {
    status: 'waiting',
    attempts: [],
  },
): SubtaskReport {
  const last = attempts.at(-1);
  return {
    ...named,
    status,
    attempts: attempts.map(
      ({ agent, dialog, task, outcome, reason, notReached, stop, tokens, usage }) => ({
        agent,
        dialog,
        task,
        ...(outcome !== undefined && { outcome }),
        ...(reason !== undefined && { reason }),
        ...(notReached !== undefined && { notReached }),
        ...(stop?.answer !== undefined && { stop: stop.answer }),
        ...(tokens !== undefined && { tokens }),
        usage,
      }),
    ),
    keyInformation: last?.returned?.KeyInformation ?? [],
    ...(last?.verdict && { verdict: last.verdict }),
    outputs: (last?.outputs ?? []).map(({ name, ref }) => ({ name, ref })),
    withheld: last?.withheld ?? [],
    ...(last?.tokens && { tokens: last.tokens }),
  };
}
