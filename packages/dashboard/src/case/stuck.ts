import type { StuckTask } from 'throughline/model';
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

const stops: Readonly<Record<StuckTask['why'], string>> = {
  'outcome-unknown': 'nobody knows how it ended',
  interrupted: 'interrupted, and not resumed',
  'awaiting-input': 'waits for input',
  'awaiting-authorization': 'waits for an authorization',
  'nothing-awaited': 'waits for a result that nobody works on',
  'dialog-ended': 'its dialog is over',
  'not-reached': 'whoever was to do it is not reached',
};

/** Why the hub counts a Task as stuck, in words. */
export function whyStuck(index: CaseIndex, { id }: Task): string | undefined {
  const found = index.stuck(id);
  return found && stops[found.why];
}

/** Whose step it is that a stuck Task goes on; empty where that is not known. */
export const whoseStep = (index: CaseIndex, id: string): string =>
  (index.stuck(id)?.whose ?? []).map((each) => index.label(each)).join(', ');

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

/** Another attempt took its place, or went on from it. */
const isRetried = (index: CaseIndex, id: string): boolean =>
  index
    .in(id)
    .some(
      ({ type, status }) =>
        status === 'active' && (type === 'replaces' || type === 'continuation-of'),
    );
