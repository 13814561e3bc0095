import type { StreamResponse, Task } from '@a2a-js/sdk';
import { ThroughlineError } from '../../errors.ts';
import type { TaskRecord } from '../../model/task-record.ts';
import { sortedJson } from './digest.ts';
import { updatesOf } from './updates.ts';
import { marked, type StreamEvent } from './marks.ts';
import { sleep } from './retry.ts';
import { taskOf } from './task-store.ts';
import { isSettled, stateOf } from './wire.ts';

export interface Polling {
  /** Milliseconds between two looks at the record. */
  readonly everyMs: number;
  /** Milliseconds without any change after which it ends. */
  readonly forMs: number;
}

/** What of `now` one who has `before` does not have yet. */
function difference(before: Task, now: Task): StreamResponse[] {
  const known = new Map(before.artifacts.map((each) => [each.artifactId, sortedJson(each)]));
  const changed = now.artifacts.filter((each) => known.get(each.artifactId) !== sortedJson(each));
  const moved = sortedJson(before.status) !== sortedJson(now.status);
  const updates = updatesOf(now, changed);
  return moved ? updates : updates.slice(0, -1);
}

/**
 * Follows a task that no executor of this process works on, by its record: what changed, until it is
 * over or waits for something. `load` reads with the reader's own rights each time. Ends with a
 * retryable `timeout` when nothing changes for too long: silence is not an end.
 */
export async function* followRecord(
  first: TaskRecord,
  load: () => Promise<TaskRecord>,
  polling: Polling,
): AsyncGenerator<StreamEvent, void, undefined> {
  let known = first;
  let told = first.version;
  for (let waited = 0; waited < polling.forMs; waited += polling.everyMs) {
    await sleep(polling.everyMs);
    const record = await load();
    if (record.version === known.version) continue;
    const task = taskOf(record);
    const updates = difference(taskOf(known), task);
    const seq = record.version;
    const skipped = seq > told + 1 ? { gap: { from: told + 1, to: seq - 1 } } : {};
    yield* marked(updates, { seq, after: told, ...skipped });
    if (updates.length > 0) told = seq;
    known = record;
    waited = 0;
    if (updates.length > 0 && isSettled(stateOf(task))) return;
  }
  throw new ThroughlineError(
    'timeout',
    `task ${first.id} has not changed for ${polling.forMs} ms; subscribe to it again`,
  );
}
