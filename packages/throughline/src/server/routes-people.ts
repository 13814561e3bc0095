import { z } from 'zod';
import {
  caseQuerySchema,
  casePageSchema,
  caseViewSchema,
  explanationSchema,
  timelinePageSchema,
} from '../model/case-view.ts';
import { grantRequestSchema, grantSchema } from '../model/grant.ts';
import { foreignId, idSchema } from '../model/ids.ts';
import { keyRequestSchema, keySummarySchema, madeKeySchema } from '../model/key.ts';
import { limits } from '../model/limits.ts';
import { principalSchema } from '../model/principal.ts';
import { quotaReportSchema, quotasSchema } from '../model/quota.ts';
import { pageCodeSchema } from '../model/session.ts';
import { termsSchema } from '../model/terms.ts';
import { handoverTextsSchema } from '../model/usage.ts';
import { empty, route, type Route } from './route.ts';

const id = z.strictObject({ id: foreignId });
const pageSize = z.int().min(1).max(limits.pageSize).exactOptional();

/** What people ask and manage. */
export const peopleRoutes: readonly Route[] = [
  route({
    ...empty,
    method: 'get',
    path: '/cases',
    bySession: true,
    summary: 'Cases that one may see, latest first; searched by words, label and participant',
    query: caseQuerySchema.strict(),
    gives: casePageSchema,
    handle: (hub, { principal, query }) => hub.cases(principal, query),
  }),
  route({
    ...empty,
    method: 'get',
    path: '/cases/{id}',
    bySession: true,
    summary: 'A case: everything in it that one may see',
    params: id,
    gives: caseViewSchema,
    handle: (hub, { principal, params }) => hub.caseView(principal, params.id),
  }),
  route({
    ...empty,
    method: 'get',
    path: '/cases/{id}/timeline',
    bySession: true,
    summary: 'The case’s assertions in order',
    params: id,
    query: z.strictObject({ after: z.int().nonnegative().exactOptional(), limit: pageSize }),
    gives: timelinePageSchema,
    handle: (hub, { principal, params, query }) => hub.timeline(principal, params.id, query),
  }),
  route({
    ...empty,
    method: 'get',
    path: '/cases/{id}/handovers/{taskId}/texts',
    bySession: true,
    summary: 'Both counted texts of a hand-over',
    params: z.strictObject({ id: foreignId, taskId: foreignId }),
    gives: handoverTextsSchema,
    handle: (hub, { principal, params }) => hub.handoverTexts(principal, params.id, params.taskId),
  }),
  route({
    ...empty,
    method: 'get',
    path: '/explain',
    bySession: true,
    summary: 'Why an object is here, or how two are related',
    query: z.strictObject({ a: foreignId, b: foreignId.exactOptional() }),
    gives: explanationSchema,
    handle: (hub, { principal, query }) => hub.explain(principal, query.a, query.b),
  }),
  route({
    ...empty,
    method: 'post',
    path: '/contexts/{id}/grants',
    summary: 'Lets another principal use a context of one’s own',
    params: id,
    body: grantRequestSchema.strict(),
    gives: grantSchema,
    handle: (hub, { principal, params, body }) => hub.grant(principal, params.id, body),
  }),
  route({
    ...empty,
    method: 'get',
    path: '/contexts/{id}/grants',
    summary: 'Grants on a context',
    params: id,
    gives: z.object({ grants: z.array(grantSchema).readonly() }),
    handle: async (hub, { principal, params }) => ({
      grants: await hub.grants(principal, params.id),
    }),
  }),
  route({
    ...empty,
    method: 'delete',
    path: '/grants/{id}',
    summary: 'Ends a grant',
    params: z.strictObject({ id: idSchema('grant') }),
    gives: 'nothing',
    handle: (hub, { principal, params }) => hub.revokeGrant(principal, params.id),
  }),
  route({
    ...empty,
    method: 'post',
    path: '/keys',
    summary: 'Makes an API key; its secret is in this answer and nowhere else',
    body: keyRequestSchema.extend({ principal: principalSchema.strict() }).strict(),
    gives: madeKeySchema,
    handle: (hub, { principal, body }) => hub.createKey(principal, body),
  }),
  route({
    ...empty,
    method: 'get',
    path: '/keys',
    summary: 'API keys, without their secrets',
    gives: z.object({ keys: z.array(keySummarySchema).readonly() }),
    handle: async (hub, { principal }) => ({ keys: await hub.keys(principal) }),
  }),
  route({
    ...empty,
    method: 'delete',
    path: '/keys/{id}',
    summary: 'Ends an API key',
    params: z.strictObject({ id: idSchema('key') }),
    gives: 'nothing',
    handle: (hub, { principal, params }) => hub.revokeKey(principal, params.id),
  }),
  route({
    ...empty,
    method: 'post',
    path: '/sessions/codes',
    summary: 'Makes a code that lets a browser into the page once, as the key’s own principal',
    gives: pageCodeSchema,
    handle: async (hub, { caller }) => hub.pageCode((await caller()).credential),
  }),
  route({
    ...empty,
    method: 'get',
    path: '/terms',
    summary: 'How this hub treats contexts, and how long it keeps things',
    gives: termsSchema,
    handle: async (hub) => hub.terms,
  }),
  route({
    ...empty,
    method: 'get',
    path: '/quotas',
    summary: 'Limits of the tenant, what is used of them, and what one principal uses',
    query: z.strictObject({ principal: foreignId.exactOptional() }),
    gives: quotaReportSchema,
    handle: (hub, { principal, query }) => hub.quotaReport(principal, query.principal),
  }),
  route({
    ...empty,
    method: 'put',
    path: '/quotas',
    summary: 'Sets all limits of the tenant; what is left out has none',
    body: quotasSchema.strict(),
    gives: 'nothing',
    handle: (hub, { principal, body }) => hub.setQuotas(principal, body),
  }),
];
