import { Role, SendMessageRequest } from '@a2a-js/sdk';
import { ThroughlineError } from '../../errors.ts';
import type { TaskRecord } from '../../model/task-record.ts';
import type { AgentSide } from './agent-side.ts';
import { callContext } from './call.ts';
import { envelopeIn, isSettled } from './wire.ts';
import { taskOf } from './task-store.ts';

/** Tasks that are run again at the same time. */
const atOnce = 8;

/**
 * Runs the executor again for tasks of this agent that a process which is gone left unfinished: same
 * task, same context, the message it was working on. What waits for input goes on waiting, and what
 * moves meanwhile is left alone. Gives how many it took up, once all of them have come to rest.
 */
export async function resumeTasks(side: AgentSide): Promise<number> {
  const agent = side.self.principal.id;
  const waiting: TaskRecord[] = [];
  let cursor: string | undefined;
  do {
    const page = await side.ports.listTasks(side.self, {
      agent,
      unfinished: true,
      ...(cursor === undefined ? {} : { cursor }),
    });
    waiting.push(...page.tasks.filter((record) => !isSettled(record)));
    cursor = page.cursor;
  } while (cursor !== undefined);
  let resumed = 0;
  const worker = async (): Promise<void> => {
    for (let record = waiting.shift(); record !== undefined; record = waiting.shift()) {
      if (await resumeTask(side, record)) resumed += 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return resumed;
}

async function resumeTask(side: AgentSide, listed: TaskRecord): Promise<boolean> {
  const about = { taskId: listed.id };
  try {
    const record = await side.ports.loadTask(side.self, listed.id);
    const moved = record === undefined || record.version !== listed.version;
    if (moved || side.lives.get(listed.id) !== undefined) return false;
    const message = taskOf(record).history.findLast(({ role }) => role === Role.ROLE_USER);
    if (message === undefined) {
      throw new ThroughlineError(
        'damaged',
        `task ${record.id} holds no message to run it again for`,
      );
    }
    const { live } = side.lives.begin(
      {
        request: SendMessageRequest.fromJSON({}),
        message: { ...message, contextId: record.contextId },
        caller: side.self,
        context: callContext(side.self),
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
