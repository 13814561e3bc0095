import { Role, SendMessageRequest, TaskState } from '@a2a-js/sdk';
import type { TaskRecord } from '../../model/task-record.ts';
import type { AgentSide } from './agent-side.ts';
import { callContext } from './call.ts';
import { endIdle, tellCancelledBefore } from './cancelling.ts';
import { partyOf } from './live-tasks.ts';
import { retrying } from './retry.ts';
import { senderOf, taskOf } from './task-store.ts';
import { envelopeIn, isSettled } from './wire.ts';

/** Tasks that are run again at the same time. */
const atOnce = 8;

/**
 * Runs the executor again for tasks of this agent that a process which is gone left unfinished: same
 * task, same context, the message it was working on, for the same caller; what is written meanwhile
 * is written by the agent as itself. One of which nobody can say whose it was ends as failed. What waits for input goes on waiting, and what
 * moves meanwhile is left alone. What was cancelled lately is told again. Gives how many it took up, once all of them have come to rest.
 */
export async function resumeTasks(side: AgentSide): Promise<number> {
  tellCancelledBefore(side).catch((error: unknown) => side.onFault(error, {}));
  if (side.worker !== undefined) return side.worker.start((tasks) => runAgain(side, tasks));
  const agent = side.self.principal.id;
  const waiting: TaskRecord[] = [];
  let cursor: string | undefined;
  do {
    const query = { agent, unfinished: true, ...(cursor === undefined ? {} : { cursor }) };
    const page = await retrying(side.waits.hub, () => side.ports.listTasks(side.self, query));
    waiting.push(...page.tasks.filter((record) => !isSettled(record)));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return runAgain(side, waiting);
}

async function runAgain(side: AgentSide, tasks: readonly TaskRecord[]): Promise<number> {
  const waiting = [...tasks];
  let resumed = 0;
  const worker = async (): Promise<void> => {
    for (let record = waiting.shift(); record !== undefined; record = waiting.shift()) {
      if (await resumeTask(side, record)) resumed += 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return resumed;
}

const unresolved = [
  TaskState.TASK_STATE_FAILED,
  'The work was interrupted, and for whom to go on with it is not known; send the message again.',
] as const;

async function resumeTask(side: AgentSide, listed: TaskRecord): Promise<boolean> {
  const about = { taskId: listed.id };
  try {
    const record = await retrying(side.waits.hub, () => side.ports.loadTask(side.self, listed.id));
    const moved = record === undefined || record.version !== listed.version;
    if (moved || side.lives.get(listed.id) !== undefined) return false;
    const message = taskOf(record).history.findLast(({ role }) => role === Role.ROLE_USER);
    const sender = message && senderOf(record, message);
    if (message === undefined || sender === undefined) {
      await endIdle(side, record, partyOf(side.self.principal), unresolved);
      return false;
    }
    const caller = { principal: { ...side.self.principal, ...sender } };
    const { live } = side.lives.begin(
      {
        request: SendMessageRequest.fromJSON({}),
        message: { ...message, contextId: record.contextId },
        caller,
        context: callContext(caller, { extensions: message.extensions }),
        envelope: envelopeIn(message.metadata),
        trace: undefined,
        record,
        referenceTasks: [],
        resumed: true,
      },
      () => undefined,
    );
    await live.done;
    return true;
  } catch (error) {
    side.onFault(error, about);
    return false;
  }
}
