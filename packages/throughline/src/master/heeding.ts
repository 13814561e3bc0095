import { sleep } from './agent-failure.ts';
import type { Journal } from './journal.ts';
import { isDone, type RunState } from './run-state.ts';

const never = new AbortController().signal;

/** Whoever drives a run looks once in a while: so many times that is long enough to be missed. */
const looksToWait = 3;

const isHeeded = ({ heeded, revision }: RunState): boolean => heeded === revision;

/** Whether another process that drives the run has seen what was decided last. */
export async function heededElsewhere(
  journal: Journal,
  lookMs: number | undefined,
): Promise<boolean> {
  if (lookMs === undefined) return false;
  await until(journal, { lookMs, ms: looksToWait * lookMs }, isHeeded);
  return isHeeded(journal.state);
}

/** Whether another process, where one drives the run, has brought it to its end in that time. */
export async function endedElsewhere(
  journal: Journal,
  { lookMs, stopMs }: { readonly lookMs: number | undefined; readonly stopMs: number },
): Promise<boolean> {
  if (lookMs === undefined || !(await heededElsewhere(journal, lookMs))) return false;
  await until(journal, { lookMs, ms: stopMs + looksToWait * lookMs }, isDone);
  return isDone(journal.state);
}

async function until(
  journal: Journal,
  { lookMs, ms }: { readonly lookMs: number; readonly ms: number },
  isSo: (state: RunState) => boolean,
): Promise<void> {
  const end = performance.now() + ms;
  while (!isSo(journal.state) && !isDone(journal.state) && performance.now() < end) {
    await sleep(lookMs / 4, never);
    await journal.look();
  }
}
