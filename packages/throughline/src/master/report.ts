import type { RunReport, SubtaskReport } from '../model/run.ts';
import { spendingOf, type Counted, type Spending } from '../model/usage.ts';
import { isDone, openQuestions, runStatus, type RunState, type SubtaskState } from './run-state.ts';
import { countedOf, spendingOfRun } from './usage.ts';

/** How a run stands, for those who asked for it. */
export function reportOf(state: RunState): RunReport {
  const spent = spendingOfRun(state);
  const { sent, fullHistory, returned } = spent;
  const spentByAgent = byAgent(state);
  const { reason } = state.ending ?? state.left ?? {};
  return {
    runId: state.id,
    requestTask: state.requestTask,
    activity: state.activity,
    dialog: state.dialog,
    task: state.task,
    status: runStatus(state),
    ...(reason !== undefined && { reason }),
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
    tokens: { handedOver: sent, fullHistory, returned },
    usage: { ...usedOf(spent), byAgent: mapped(spentByAgent, usedOf) },
    spent,
    spentByAgent,
  };
}

const mapped = <A, B>(of: Readonly<Record<string, A>>, to: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(of).map(([name, value]) => [name, to(value)]));

const usedOf = ({ inputTokens, outputTokens, money }: Spending) => ({
  inputTokens,
  outputTokens,
  ...(money !== undefined && { money }),
});

function byAgent(state: RunState): Record<string, Spending> {
  const counted = new Map<string, Counted[]>();
  for (const subtask of Object.values(state.subtasks)) {
    for (const [i, each] of countedOf(subtask).entries()) {
      const agent = subtask.attempts[i]?.agent ?? '';
      counted.set(agent, [...(counted.get(agent) ?? []), each]);
    }
  }
  return mapped(Object.fromEntries(counted), (all) => spendingOf(all));
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
      ({ agent, dialog, task, outcome, reason, notReached, stop, tokens, usage, compression }) => ({
        agent,
        dialog,
        task,
        ...(outcome !== undefined && { outcome }),
        ...(reason !== undefined && { reason }),
        ...(notReached !== undefined && { notReached }),
        ...(stop?.answer !== undefined && { stop: stop.answer }),
        ...(tokens !== undefined && { tokens }),
        usage,
        ...(compression !== undefined && { compression }),
      }),
    ),
    spent: spendingOf(countedOf({ attempts })),
    keyInformation: last?.returned?.KeyInformation ?? [],
    ...(last?.verdict && { verdict: last.verdict }),
    outputs: (last?.outputs ?? []).map(({ name, ref }) => ({ name, ref })),
    withheld: last?.withheld ?? [],
    ...(last?.tokens && { tokens: last.tokens }),
  };
}
