import type { ContentRef } from '../model/content.ts';
import type { Verdict } from '../handover/judge.ts';
import type { AgentContext } from '../model/agent-context.ts';
import type { TaskContext } from '../model/task-context.ts';
import type { RunState, SubtaskState } from './run-state.ts';

export interface SubtaskReport {
  readonly id: string;
  readonly status: SubtaskState['status'];
  /** Ids of the Dialog and Task of each attempt, with what became of it. */
  readonly attempts: readonly {
    readonly agent: string;
    readonly dialog: string;
    readonly task: string;
    readonly outcome?: string;
    readonly reason?: string;
  }[];
  readonly keyInformation: AgentContext['KeyInformation'];
  readonly verdict?: Verdict;
  readonly outputs: readonly { readonly name: string; readonly ref: ContentRef }[];
  readonly withheld: readonly string[];
  readonly tokens?: { readonly sent: number; readonly fullHistory: number };
}

export interface RunReport {
  readonly runId: string;
  readonly activity: string;
  readonly dialog: string;
  readonly task: string;
  readonly done: boolean;
  readonly taskContext: TaskContext;
  readonly subtasks: readonly SubtaskReport[];
  /** Over all attempts. */
  readonly tokens: { readonly handedOver: number; readonly fullHistory: number };
}

/** How a run stands, for those who asked for it. */
export function reportOf(state: RunState, done: boolean): RunReport {
  const attempts = Object.values(state.subtasks).flatMap((subtask) => subtask.attempts);
  const sum = (of: 'sent' | 'fullHistory'): number =>
    attempts.reduce((total, { tokens }) => total + (tokens?.[of] ?? 0), 0);
  return {
    runId: state.id,
    activity: state.activity,
    dialog: state.dialog,
    task: state.task,
    done,
    taskContext: state.taskContext,
    subtasks: state.workflow.subtasks.map(({ id }) =>
      subtaskReport(id, state.subtasks[id] ?? { status: 'waiting', attempts: [] }),
    ),
    tokens: { handedOver: sum('sent'), fullHistory: sum('fullHistory') },
  };
}

function subtaskReport(id: string, { status, attempts }: SubtaskState): SubtaskReport {
  const last = attempts.at(-1);
  return {
    id,
    status,
    attempts: attempts.map(({ agent, dialog, task, outcome, reason }) => ({
      agent,
      dialog,
      task,
      ...(outcome !== undefined && { outcome }),
      ...(reason !== undefined && { reason }),
    })),
    keyInformation: last?.returned?.KeyInformation ?? [],
    ...(last?.verdict && { verdict: last.verdict }),
    outputs: (last?.outputs ?? []).map(({ name, ref }) => ({ name, ref })),
    withheld: last?.withheld ?? [],
    ...(last?.tokens && { tokens: last.tokens }),
  };
}
