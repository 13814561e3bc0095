import { z } from 'zod';
import { limits } from '../model/limits.ts';
import { taskRecordSchema } from '../model/task-record.ts';
import { beatSchema, pulseSchema, takingSchema } from '../model/worker.ts';
import { empty, route, type Route } from './route.ts';

const worker = z.strictObject({ worker: beatSchema.shape.worker });

/** Which processes of an agent are alive, and what others left. */
export const workerRoutes: readonly Route[] = [
  route({
    ...empty,
    method: 'put',
    path: '/workers/{worker}',
    summary: 'A process of an agent says that it is alive',
    params: worker,
    body: beatSchema.omit({ worker: true }).strict(),
    gives: pulseSchema,
    handle: (hub, { principal, params, body }) =>
      hub.workers.beat(principal, { ...body, ...params }),
  }),
  route({
    ...empty,
    method: 'delete',
    path: '/workers/{worker}',
    summary: 'A process of an agent ends, and what it leaves may be taken up at once',
    params: worker,
    gives: 'nothing',
    handle: (hub, { principal, params }) => hub.workers.leave(principal, params),
  }),
  route({
    ...empty,
    method: 'post',
    path: '/workers/{worker}/takings',
    summary:
      'Takes up unfinished tasks of the agent that no living process works on, some at a time',
    params: worker,
    body: takingSchema.omit({ worker: true }).strict(),
    gives: z.object({ tasks: z.array(taskRecordSchema).max(limits.pageSize) }),
    handle: async (hub, { principal, params, body }) => ({
      tasks: [...(await hub.workers.takeUp(principal, { ...body, ...params }))],
    }),
  }),
];
