import { z } from 'zod';
import { taskRecordSchema, type TaskRecord } from '../model/task-record.ts';
import { pulseSchema, type Beat, type Pulse, type Taking } from '../model/worker.ts';
import { segment, type Caller } from './call.ts';

/** What a process of an agent says of itself to its hub, over HTTP, and what it is given. */
export interface WorkerCalls {
  /** It is alive. */
  beat(given: Beat): Promise<Pulse>;
  /** It ends in order. */
  leave(given: Pick<Beat, 'worker'>): Promise<void>;
  /** Tasks that no living process works on: from now on this one's. Empty when there are none left. */
  takeUp(given: Taking): Promise<TaskRecord[]>;
}

const tasks = z.object({ tasks: z.array(taskRecordSchema) });
const pathOf = (worker: string): string => `/workers/${segment(worker)}`;

export const workerCalls = (hub: Caller): WorkerCalls => ({
  beat: ({ worker, ...json }) =>
    hub.json({ method: 'PUT', path: pathOf(worker), json, idempotent: true }, pulseSchema),
  async leave({ worker }) {
    await hub.nothing({ method: 'DELETE', path: pathOf(worker), idempotent: true });
  },
  async takeUp({ worker, ...json }) {
    const path = `${pathOf(worker)}/takings`;
    return (await hub.json({ method: 'POST', path, json, idempotent: true }, tasks)).tasks;
  },
});
