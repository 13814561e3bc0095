/** What must not be, found in what a run reports, what the graph holds and what agents noted. */
import type { RunReport } from 'throughline/master';
import type { CaseView } from 'throughline/model';
import type { Note } from './notes.ts';

/** What must not be, by the name under which it is counted. */
export const faultNames = ['repeated', 'doubled', 'open', 'different'] as const;
type FaultName = (typeof faultNames)[number];
/** Sentences. */
export type Faults = Readonly<Record<FaultName, readonly string[]>>;

const finalStates: readonly string[] = [
  'completed',
  'failed',
  'cancelled',
  'rejected',
  'timed-out',
];
export const isFinal = (state: string): boolean => finalStates.includes(state);

interface Made {
  readonly id: string;
  readonly attempts: readonly Pick<
    RunReport['subtasks'][number]['attempts'][number],
    'outcome' | 'task'
  >[];
}

/** Subtasks that were done, and done once more. */
export const repeatedIn = (subtasks: readonly Made[]): string[] =>
  subtasks.flatMap(({ id, attempts }) => {
    const first = attempts.findIndex(({ outcome }) => outcome === 'answered');
    const more = first === -1 ? 0 : attempts.length - 1 - first;
    return more > 0 ? [`${id}: ${more} attempts after one that was answered`] : [];
  });

/**
 * Work that was begun after its end was on record, or begun anew where it was to be gone on with.
 *
 * @param endOf When a task was over by the graph, in milliseconds since the epoch, by its A2A id.
 */
export function redoneIn(
  notes: readonly Note[],
  endOf: (taskId: string) => number | undefined,
): string[] {
  const begun = notes.filter(({ kind }) => kind === 'begins');
  return [...Map.groupBy(begun, ({ taskId }) => taskId)].flatMap(([taskId, all]) => {
    const { agent = '' } = all[0] ?? {};
    const end = endOf(taskId) ?? Infinity;
    const late = all.filter(({ at }) => at > end).length;
    const fresh = all.filter(({ resumed }) => resumed !== true).length;
    return [
      ...(late > 0 ? [`${agent}: began ${taskId} ${late} times after its end`] : []),
      ...(fresh > 1 ? [`${agent}: began ${taskId} anew ${fresh} times`] : []),
    ];
  });
}

/**
 * Tasks of agents that no attempt knows. One at an agent that knows nothing of the hub is no fault: it
 * takes a message that comes twice for two.
 */
export function doubledIn(
  { task: request, subtasks }: { readonly task: string; readonly subtasks: readonly Made[] },
  view: {
    readonly tasks: readonly Pick<CaseView['tasks'][number], 'id' | 'dialog' | 'state'>[];
    readonly dialogs: readonly Pick<CaseView['dialogs'][number], 'id' | 'managed'>[];
  },
): { doubled: string[]; anew: number } {
  const attempts = subtasks.flatMap((subtask) => subtask.attempts);
  const known = new Set([request, ...attempts.map(({ task }) => task)]);
  const managed = new Map(view.dialogs.map(({ id, managed: by }) => [id, by]));
  const doubled: string[] = [];
  let anew = 0;
  for (const { id, dialog, state } of view.tasks) {
    if (known.has(id)) continue;
    if (managed.get(dialog) === 'none') anew += 1;
    else doubled.push(`task ${id} (${state}) is no attempt's`);
  }
  return { doubled, anew };
}

/** What has not come to its end. */
export function openIn(
  { runId, done, status }: Pick<RunReport, 'runId' | 'done' | 'status'>,
  view: {
    readonly tasks: readonly Pick<CaseView['tasks'][number], 'id' | 'state' | 'unresolved'>[];
    readonly dialogs: readonly Pick<CaseView['dialogs'][number], 'id' | 'state'>[];
  },
): string[] {
  const open = view.tasks.flatMap(({ id, state, unresolved }) =>
    isFinal(state) && unresolved !== true
      ? []
      : [`task ${id} is ${state}${unresolved === true ? ' and unresolved' : ''}`],
  );
  for (const { id, state } of view.dialogs) {
    if (state === 'interrupted') open.push(`dialog ${id} is interrupted`);
  }
  return done ? open : [...open, `run ${runId} is ${status}`];
}
