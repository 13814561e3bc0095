import { finalTaskStates } from 'throughline/model';
import type { CaseIndex, Task } from './case-index.ts';

/** Something that a reader must look at, worst first. */
export interface Trouble {
  readonly id: string;
  /** `stuck`: nobody works on it though it is not over; `error`: over, and not well. */
  readonly kind: 'stuck' | 'error';
  readonly why: string;
}

const ends: Readonly<Record<string, string>> = {
  failed: 'failed',
  rejected: 'was rejected',
  'timed-out': 'timed out',
};

/** Tasks that do not go on, in the words of the command line, by the rule that the hub counts with. */
export function whyStuck(index: CaseIndex, task: Task): string | undefined {
  if (task.unresolved === true) return 'nobody knows how it ended';
  if (isFinal(task)) return undefined;
  if (index.dialog(task.dialog)?.state === 'terminated') return 'its dialog is over';
  if (task.state === 'interrupted') return 'interrupted, and not resumed';
  if (task.state !== 'awaiting') return undefined;
  if (task.awaiting === 'authorization') return 'waits for an authorization';
  if (task.awaiting === 'input') return 'waits for input';
  return hasWorkBelow(index, task.id) ? undefined : 'waits for a result that nobody works on';
}

/** A Task that ended badly and that nothing replaced or continued. */
export function whyFailed(index: CaseIndex, task: Task): string | undefined {
  const end = task.outcome === 'error' ? 'completed with an error' : ends[task.state];
  return end === undefined || isRetried(index, task.id) ? undefined : end;
}

/** Stuck Tasks, then those that ended badly, each in the order of the case. */
export function troubles(index: CaseIndex): Trouble[] {
  const of = (kind: Trouble['kind'], why: typeof whyStuck): Trouble[] =>
    index.view.tasks.flatMap((task) => {
      const reason = why(index, task);
      return reason === undefined ? [] : [{ id: task.id, kind, why: reason }];
    });
  return [...of('stuck', whyStuck), ...of('error', whyFailed)];
}

const isFinal = ({ state }: Task): boolean => finalTaskStates.includes(state);

/** Another attempt took its place, or went on from it. */
const isRetried = (index: CaseIndex, id: string): boolean =>
  index
    .in(id)
    .some(
      ({ type, status }) =>
        status === 'active' && (type === 'replaces' || type === 'continuation-of'),
    );

function hasWorkBelow(index: CaseIndex, id: string): boolean {
  return index.in(id).some(({ type, status, from }) => {
    const task = index.task(from);
    return type === 'delegated-from' && status === 'active' && task && !isFinal(task);
  });
}
