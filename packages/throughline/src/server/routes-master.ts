import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import { draftSchema } from '../model/assertion.ts';
import { foreignId, idSchema } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import { partySchema } from '../model/observation.ts';
import { leftRunSchema, storedRunSchema } from '../model/stored-run.ts';
import { handoverSchema, runUsageSchema } from '../model/usage.ts';
import { empty, route, type Route } from './route.ts';

/** The ports of a Master. */
export const masterRoutes: readonly Route[] = [
  route({
    ...empty,
    method: 'post',
    path: '/assertions',
    summary: 'Puts statements into the graph in order, all or none',
    body: z.strictObject({ drafts: z.array(draftSchema.strict()).min(1).max(limits.statements) }),
    gives: z.object({ assertions: z.array(z.string().nullable()) }),
    handle: async (hub, { principal, body }) => ({
      assertions: await hub.master(principal).assert(body.drafts),
    }),
  }),
  route({
    ...empty,
    method: 'post',
    path: '/participants',
    summary: 'The Participant behind a party, minted at its first mention',
    body: partySchema.strict(),
    gives: z.object({ participant: z.string() }),
    handle: async (hub, { principal, body }) => ({
      participant: await hub.master(principal).participant(body),
    }),
  }),
  route({
    ...empty,
    method: 'get',
    path: '/locations/{taskId}',
    summary: 'Activity, Dialog and Task behind a protocol’s task of one’s own',
    params: z.strictObject({ taskId: foreignId }),
    gives: z.object({ activity: z.string(), dialog: z.string(), task: z.string() }),
    handle: (hub, { principal, params }) => hub.master(principal).locate(params.taskId),
  }),
  route({
    ...empty,
    method: 'post',
    path: '/call-tokens',
    summary: 'A credential for calling one agent of this hub, which opens nothing else',
    body: z.strictObject({ audience: foreignId, seconds: z.int().min(1).max(3_600) }),
    gives: z.object({ token: z.string() }),
    handle: async (hub, { principal, body }) => ({
      token: await hub.master(principal).callToken(body),
    }),
  }),
  route({
    ...empty,
    method: 'get',
    path: '/runs/{id}',
    summary: 'The decisions of a run',
    params: z.strictObject({ id: foreignId }),
    gives: storedRunSchema,
    handle: async (hub, { principal, params }) => {
      const run = await hub.master(principal).loadRun(params.id);
      if (run === undefined) throw new ThroughlineError('not-found', 'there is no such run');
      return run;
    },
  }),
  route({
    ...empty,
    method: 'put',
    path: '/runs/{id}',
    summary: 'Writes a run’s decisions, version checked',
    params: z.strictObject({ id: foreignId }),
    body: z.strictObject({
      activity: idSchema('activity'),
      done: z.boolean(),
      state: z.unknown(),
      expected: z.int().nonnegative(),
      driver: foreignId.nullable().exactOptional(),
      usage: runUsageSchema.shape.usage.exactOptional(),
    }),
    gives: z.object({ version: z.int() }),
    handle: (hub, { principal, params, body }) =>
      hub.master(principal).saveRun({ ...body, id: params.id }),
  }),
  route({
    ...empty,
    method: 'get',
    path: '/runs',
    summary: 'Runs of this Master that are not done',
    query: z.strictObject({ open: z.literal('true') }),
    gives: z.object({ runs: z.array(z.string()).readonly() }),
    handle: async (hub, { principal }) => ({ runs: await hub.master(principal).openRuns() }),
  }),
  route({
    ...empty,
    method: 'get',
    path: '/left-runs',
    summary: 'Runs of this Master whose process is gone',
    gives: z.object({ runs: z.array(leftRunSchema).readonly() }),
    handle: async (hub, { principal }) => ({ runs: await hub.master(principal).leftRuns() }),
  }),
  route({
    ...empty,
    method: 'post',
    path: '/handovers',
    summary: 'Keeps the figures of a hand-over and both counted texts',
    body: z.strictObject({
      handover: handoverSchema.strict(),
      texts: z.strictObject({
        sent: z.string(),
        fullHistory: z.string(),
        returned: z.string().exactOptional(),
      }),
    }),
    gives: 'nothing',
    handle: (hub, { principal, body }) =>
      hub.master(principal).saveHandover(body.handover, body.texts),
  }),
];
