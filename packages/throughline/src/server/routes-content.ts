import { z } from 'zod';
import {
  contentKeepingSchema,
  contentRefSchema,
  narrowRequestSchema,
  readTokenRequestSchema,
  renewRequestSchema,
  revocationSchema,
} from '../model/content.ts';
import { idSchema } from '../model/ids.ts';
import { selectorSchema } from '../model/resource.ts';
import { answerContent, selectorQuery } from './content.ts';
import { empty, route, type Route } from './route.ts';
import { bytesBody, mediaType } from './schemas.ts';

const token = z.object({ token: z.string() });

/** Offloaded content, and the rights to read it. */
export const contentRoutes: readonly Route[] = [
  route({
    ...empty,
    method: 'post',
    path: '/content',
    summary: 'Offloads content, once per case',
    query: z.strictObject({
      activity: idSchema('activity'),
      resource: idSchema('resource'),
      mediaType,
      ...contentKeepingSchema.shape,
    }),
    body: bytesBody,
    takes: 'bytes',
    gives: contentRefSchema,
    handle: (hub, { principal, query, body }) =>
      hub.master(principal).putContent({ ...query, bytes: body }),
  }),
  route({
    ...empty,
    method: 'get',
    path: '/content/{id}',
    summary: 'Reads a ContextURI: one’s own, or with the token in Throughline-Content-Token',
    params: z.strictObject({ id: idSchema('resource') }),
    query: selectorQuery,
    gives: 'bytes',
    handle: async (hub, { principal, params, query, token: shown, proof, origin }) =>
      answerContent(hub, principal, {
        uri: `${origin}/content/${params.id}`,
        query,
        token: shown,
        proof,
      }),
  }),
  route({
    ...empty,
    method: 'post',
    path: '/content-cuts',
    summary: 'A part of content of one’s own, as a Resource of its own',
    body: z.strictObject({
      uri: z.url().max(2_048),
      selector: selectorSchema.strict(),
      resource: idSchema('resource'),
    }),
    gives: contentRefSchema,
    handle: (hub, { principal, body }) => hub.content.cut(principal, body),
  }),
  route({
    ...empty,
    method: 'post',
    path: '/content-tokens',
    summary: 'A right for one principal to read pieces of content, for some seconds',
    body: readTokenRequestSchema,
    gives: token,
    handle: async (hub, { principal, body }) => ({
      token: await hub.master(principal).readToken(body),
    }),
  }),
  route({
    ...empty,
    method: 'post',
    path: '/content-tokens/renew',
    summary: 'The same right for longer, for the reader that a renewable token was made for',
    body: renewRequestSchema,
    gives: token,
    handle: async (hub, { principal, body, proof }) => ({
      token: await hub.content.renewToken(principal, body, proof),
    }),
  }),
  route({
    ...empty,
    method: 'post',
    path: '/content-tokens/narrow',
    summary: 'A narrower one for a delegate of its holder, who is named by a key alone',
    body: narrowRequestSchema,
    gives: token,
    handle: async (hub, { principal, body, proof }) => ({
      token: await hub.content.narrowToken(principal, body, proof),
    }),
  }),
  route({
    ...empty,
    method: 'post',
    path: '/content-tokens/revoke',
    summary: 'Takes back one token with all narrowed from it, or all made for a case until now',
    body: revocationSchema,
    gives: 'nothing',
    handle: (hub, { principal, body }) => hub.content.revokeTokens(principal, body),
  }),
];
