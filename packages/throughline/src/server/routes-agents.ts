import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import { admissionRequestSchema, admissionSchema } from '../model/admission.ts';
import { contentKeepingSchema, contentRefSchema } from '../model/content.ts';
import { foreignId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import { observationSchema } from '../model/observation.ts';
import { principalSchema } from '../model/principal.ts';
import { pushConfigSchema } from '../model/push-config.ts';
import { taskPageSchema, taskQuerySchema, taskRecordSchema } from '../model/task-record.ts';
import { empty, route, type Route } from './route.ts';
import { bytesBody, mediaType } from './schemas.ts';

const observations = z.array(observationSchema).max(limits.statements);
/** Of what is stored with what was observed of it. */
const storedBytes = limits.taskBytes + limits.bodyBytes;
const id = z.strictObject({ id: foreignId });
const config = z.strictObject({ id: foreignId, config: foreignId });
const configs = z.object({ configs: z.array(pushConfigSchema) });

/** The ports of the A2A binding and of an agent's runtime. */
export const agentRoutes: readonly Route[] = [
  route({
    ...empty,
    method: 'post',
    path: '/authenticate',
    bySession: true,
    summary: 'Who is behind the credential in Throughline-Caller, or else behind the key itself',
    gives: principalSchema,
    handle: async (_hub, { caller }) => (await caller()).principal,
  }),
  route({
    ...empty,
    method: 'post',
    path: '/admissions',
    summary: 'Decides, and writes down, whether a message may use its context and tasks',
    body: admissionRequestSchema.strict(),
    gives: admissionSchema,
    handle: async (hub, { caller, body }) => hub.admit(await caller(), body),
  }),
  route({
    ...empty,
    method: 'post',
    path: '/replies',
    summary: 'Keeps a message-only reply as the answer to a message',
    body: z.strictObject({
      agent: foreignId,
      messageId: foreignId,
      contextId: foreignId,
      reply: z.unknown(),
      observations,
    }),
    maxBytes: storedBytes,
    gives: 'nothing',
    handle: async (hub, { caller, body: { observations: seen, ...reply } }) =>
      hub.saveReply(await caller(), reply, seen),
  }),
  route({
    ...empty,
    bySession: true,
    method: 'get',
    path: '/tasks/{id}',
    summary: 'A protocol’s record of one task',
    params: id,
    query: z.strictObject({ action: z.enum(['get', 'cancel', 'subscribe']).optional() }),
    gives: taskRecordSchema,
    handle: async (hub, { caller, params, query }) => {
      const record = await hub.loadTask(await caller(), params.id, query.action);
      if (record === undefined) throw new ThroughlineError('not-found', 'there is no such task');
      return record;
    },
  }),
  route({
    ...empty,
    method: 'put',
    path: '/tasks/{id}',
    summary: 'Writes a task’s record and what was observed of it together, version checked',
    params: id,
    body: z.strictObject({
      record: taskRecordSchema.strict(),
      observations,
      pushConfigs: z
        .array(pushConfigSchema.omit({ taskId: true, owner: true }).strict())
        .max(limits.pushConfigs)
        .optional(),
    }),
    maxBytes: storedBytes,
    gives: z.object({ version: z.int() }),
    handle: async (hub, { caller, params, body }) => {
      if (body.record.id !== params.id) {
        throw new ThroughlineError('invalid', 'body.record.id: is not the id in the path');
      }
      const { record, observations: seen, pushConfigs = [] } = body;
      const own = pushConfigs.map((each) => ({ ...each, taskId: params.id }));
      return hub.saveTask(await caller(), record, seen, own);
    },
  }),
  route({
    ...empty,
    method: 'get',
    path: '/tasks',
    summary: 'Tasks that the caller may see, latest first',
    query: taskQuerySchema.strict(),
    gives: taskPageSchema,
    handle: async (hub, { caller, query }) => hub.listTasks(await caller(), query),
  }),
  route({
    ...empty,
    method: 'put',
    path: '/tasks/{id}/push-configs/{config}',
    summary: 'Asks to be told of what becomes of a task',
    params: config,
    body: pushConfigSchema.omit({ id: true, taskId: true, owner: true }).strict(),
    gives: 'nothing',
    handle: async (hub, { caller, params, body }) =>
      hub.savePushConfig(await caller(), { ...body, taskId: params.id, id: params.config }),
  }),
  route({
    ...empty,
    method: 'get',
    path: '/tasks/{id}/push-configs',
    summary: 'Who is to be told of a task: the caller’s own, or all for the agent that executes it',
    params: id,
    gives: configs,
    handle: async (hub, { caller, params }) => ({
      configs: [...(await hub.loadPushConfigs(await caller(), { taskId: params.id }))],
    }),
  }),
  route({
    ...empty,
    method: 'delete',
    path: '/tasks/{id}/push-configs/{config}',
    summary: 'Takes one of the caller’s own away',
    params: config,
    gives: 'nothing',
    handle: async (hub, { caller, params }) =>
      hub.deletePushConfig(await caller(), params.id, params.config),
  }),
  route({
    ...empty,
    method: 'post',
    path: '/tasks/{id}/push-configs/{config}/settlement',
    summary: 'The end of a task was told to one who asked, or telling was given up',
    params: config,
    body: z.strictObject({ owner: foreignId }),
    gives: 'nothing',
    handle: async (hub, { caller, params, body }) =>
      hub.settlePushConfig(await caller(), {
        taskId: params.id,
        id: params.config,
        owner: body.owner,
      }),
  }),
  route({
    ...empty,
    method: 'post',
    path: '/push-deliveries',
    summary: 'Who is still to be told of the end of the agent’s own finished tasks',
    gives: configs,
    handle: async (hub, { caller }) => ({
      configs: [...(await hub.loadPushConfigs(await caller(), {}))],
    }),
  }),
  route({
    ...empty,
    method: 'post',
    path: '/observations',
    summary: 'What one side of a protocol saw',
    body: z.strictObject({ observations }),
    gives: 'nothing',
    handle: async (hub, { caller, body }) => hub.observe(await caller(), body.observations),
  }),
  route({
    ...empty,
    method: 'post',
    path: '/outputs',
    summary: 'Offloads output of one’s own task',
    query: z.strictObject({
      taskId: foreignId,
      name: z.string().min(1).max(255),
      mediaType,
      ...contentKeepingSchema.shape,
    }),
    body: bytesBody,
    takes: 'bytes',
    gives: contentRefSchema,
    handle: (hub, { principal, query, body }) =>
      hub.agent(principal).putOutput({ ...query, bytes: body }),
  }),
];
