import { TaskState, type Task } from '@a2a-js/sdk';
import { TaskNotCancelableError } from '@a2a-js/sdk/errors';
import { ThroughlineError } from '../../errors.ts';
import type { Party } from '../../model/observation.ts';
import type { Caller } from '../../model/principal.ts';
import type { TaskRecord } from '../../model/task-record.ts';
import { recordFor, statusWith, type AgentSide } from './agent-side.ts';
import { callContext } from './call.ts';
import { cancelSeen } from './changes.ts';
import type { LiveTask } from './live-task.ts';
import { statusUpdateOf } from './updates.ts';
import { partyOf } from './live-tasks.ts';
import { retrying, sleep } from './retry.ts';
import { taskOf, Work } from './task-store.ts';
import { isFinal } from './wire.ts';

const is = (error: unknown, code: string): boolean =>
  error instanceof ThroughlineError && error.code === code;

/**
 * Asks for a task to be cancelled. The request is recorded first, with the caller's rights; then the
 * executor decides, or, where none works on it, the task is cancelled. What is over stays as it is.
 */
export async function cancelTask(side: AgentSide, caller: Caller, taskId: string): Promise<Task> {
  const record = await recordFor(side, caller, taskId, 'cancel');
  if (isFinal(record)) return answerFor(side, record);
  const client = partyOf(caller.principal);
  const seen = { ...side.peers, client, contextId: record.contextId, now: side.now() };
  await side.ports.observe(caller, [cancelSeen(seen, taskId)]);
  const live = side.lives.get(taskId);
  if (live === undefined) await endIdle(side, record, client, cancelled);
  else await cancelLive(side, live);
  return answerFor(side, await recordFor(side, caller, taskId, 'cancel'));
}

/** A request is not the cancellation: a task that is not over yet is shown as it is. */
function answerFor(side: AgentSide, record: TaskRecord): Task {
  if (record.state === 'cancelled') void tellCancelled(side, record.id);
  if (record.state === 'cancelled' || !isFinal(record)) return taskOf(record);
  throw new TaskNotCancelableError(`Task not cancelable: ${record.id} is ${record.state}`);
}

/** What goes on elsewhere for that task may take its time to end; nobody waits for it. */
async function tellCancelled(side: AgentSide, taskId: string): Promise<void> {
  try {
    await side.onCancel?.(taskId);
  } catch (error) {
    side.onFault(error, { taskId });
  }
}

/** Milliseconds for which a cancellation is told again at a start. */
const toldAgainMs = 86_400_000;
/** Tasks whose cancellation is told at the same time. */
const toldAtOnce = 8;

/** Tells of what was cancelled lately: whoever was to be told may have died before it was done with that. */
export async function tellCancelledBefore(side: AgentSide): Promise<void> {
  if (side.onCancel === undefined) return;
  const statusFrom = new Date(side.now().getTime() - toldAgainMs).toISOString();
  const query = { agent: side.self.principal.id, state: 'cancelled', statusFrom } as const;
  let cursor: string | undefined;
  do {
    const next = { ...query, ...(cursor === undefined ? {} : { cursor }) };
    const page = await retrying(side.waits.hub, () => side.ports.listTasks(side.self, next));
    const waiting = [...page.tasks];
    const tell = async (): Promise<void> => {
      for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) {
        await tellCancelled(side, task.id);
      }
    };
    await Promise.all(Array.from({ length: toldAtOnce }, tell));
    cursor = page.cursor;
  } while (cursor !== undefined);
}

async function cancelLive(side: AgentSide, live: LiveTask): Promise<void> {
  const stop = new AbortController();
  const late = sleep(side.waits.cancelMs, stop.signal);
  try {
    await Promise.race([side.executor.cancelTask(live.id, live.bus).then(() => live.done), late]);
  } catch (error) {
    side.onFault(error, { taskId: live.id });
    throw new TaskNotCancelableError(`Task not cancelable: the agent can not stop ${live.id}`);
  } finally {
    stop.abort();
  }
}

const cancelled = [TaskState.TASK_STATE_CANCELED, 'Cancelled on request.'] as const;

/** Ends a task that nobody works on, unless it has ended meanwhile. */
export async function endIdle(
  side: AgentSide,
  record: TaskRecord,
  client: Party,
  [state, why]: readonly [TaskState, string],
): Promise<void> {
  const work = new Work({
    agent: side.self,
    peers: side.peers,
    client,
    record,
    resumed: false,
  });
  const context = callContext(side.self);
  side.store.attach(context, work);
  const task = taskOf(record);
  const status = statusWith(side, task, state, why);
  try {
    await side.store.save({ ...task, status }, context);
    const ended = { ...task, status };
    side.deliveries?.tell(ended, statusUpdateOf(ended));
  } catch (error) {
    if (!is(error, 'terminal')) throw error;
  }
}
