import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { z } from 'zod';
import type { HubClient } from '../../client/index.ts';
import { limits } from '../../model/limits.ts';
import type { Caller, Principal } from '../../model/principal.ts';
import type { TaskRecord } from '../../model/task-record.ts';
import { isAlive } from '../is-alive.ts';

/** Key of a request's metadata under which its process is named. */
const makerKey = 'throughline/run';
const makerSchema = z.object({ machine: z.string(), pid: z.int() });
const bodySchema = z.object({ metadata: z.object({ [makerKey]: makerSchema }) });

/** Not its name: that is nobody's business. */
const machine = createHash('sha256').update(hostname()).digest('base64url');

/** What a request says of the process that is to begin its run. */
export const madeBy = (pid: number): object => ({ [makerKey]: { machine, pid } });

/**
 * Requests of a Master whose process on this machine was gone before it had begun their run: there is
 * nothing that anybody could go on with.
 */
export async function leftRequests({
  hub,
  master,
  caller,
}: {
  readonly hub: HubClient;
  readonly master: Principal;
  readonly caller: Caller;
}): Promise<TaskRecord[]> {
  const query = { agent: master.id, unfinished: true, pageSize: limits.pageSize };
  const { tasks } = await hub.listTasks(caller, query);
  const ports = hub.master();
  const left: TaskRecord[] = [];
  for (const record of tasks.filter(isAlone)) {
    const { task } = await ports.locate(record.id);
    if ((await ports.loadRun(task)) === undefined) left.push(record);
  }
  return left;
}

function isAlone({ body }: TaskRecord): boolean {
  const { data } = bodySchema.safeParse(body);
  const maker = data?.metadata[makerKey];
  return maker?.machine === machine && !isAlive(maker.pid);
}
