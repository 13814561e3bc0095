/** One thing broken on purpose, so that the check of that name can be seen to fail. */
import { checkNames, type CheckName } from './check-names.ts';

/** By check: the process that misbehaves and what it is told, or nothing where the story itself does. */
const inProcess: Partial<Record<CheckName, { process: string; env: Record<string, string> }>> = {
  'four-wrong-transactions': {
    process: 'policy-reader',
    env: { SUPPORT_DESK_FAULT: 'lose-a-card' },
  },
  'citations-verbatim': { process: 'case-writer', env: { SUPPORT_DESK_FAULT: 'reword-a-quote' } },
  isolation: { process: 'desk', env: { SUPPORT_DESK_FAULT: 'hand-over-notes' } },
  // The check runs the retrieval over all cases; a policy reader's own answer rests on one.
  retrieval: { process: 'checks', env: { SUPPORT_DESK_FAULT: 'worst-first' } },
  'kill-resume': { process: 'policy-reader', env: { SUPPORT_DESK_FAULT: 'forget-on-resume' } },
};

/** The name of a fault, or an error that lists them. */
export function faultNamed(name: string): CheckName {
  const found = checkNames.find((each) => each === name);
  if (found === undefined) {
    throw new RangeError(
      `There is no fault ${JSON.stringify(name)}; there is: ${checkNames.join(', ')}`,
    );
  }
  return found;
}

/** What a process is started with under a fault. */
export function faultEnv(fault: CheckName | undefined, process: string): Record<string, string> {
  const broken = fault === undefined ? undefined : inProcess[fault];
  return broken?.process === process ? broken.env : {};
}
