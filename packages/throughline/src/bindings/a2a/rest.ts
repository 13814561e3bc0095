import { A2A_CONTENT_TYPE, A2A_PROTOCOL_VERSION, StreamResponse } from '@a2a-js/sdk';
import { TaskNotFoundError } from '@a2a-js/sdk/errors';
import type { Context } from 'hono';
import { z } from 'zod';
import { ThroughlineError } from '../../errors.ts';
import { activeExtensions } from './call.ts';
import { failureHeaders, restFailure } from './errors.ts';
import {
  contextOf,
  readBody,
  requireMediaType,
  streamed,
  versionIn,
  type A2aEnv,
} from './http-call.ts';
import { parseIJsonBytes } from './i-json.ts';
import type { Served } from './json-rpc.ts';
import { legacyDialect } from './legacy-rest.ts';
import { methodNamed } from './methods.ts';
import { readParams } from './params.ts';
import { findRoute, type Dialect, type Found, type RestBody } from './rest-routes.ts';
import { requireVersion } from './version.ts';

const dialect: Dialect = {
  version: A2A_PROTOCOL_VERSION,
  contentType: A2A_CONTENT_TYPE,
  speaks: () => true,
  find: findRoute,
  request: (_found, body) => body,
  answer: (_found, json) => json,
  event: (json) => json,
  failure: restFailure,
};

const pathOf = (c: Context): string => new URL(c.req.url).pathname;

/** The path says it where the version does not: whoever names none is of 0.3. */
function dialectOf(c: Context): Dialect {
  return legacyDialect.speaks(versionIn(c), pathOf(c)) ? legacyDialect : dialect;
}

export const restFailed = (c: Context, error: unknown): Response => {
  const { failure, contentType } = dialectOf(c);
  const { body, status } = failure(error);
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': contentType, ...failureHeaders(error, status) },
  });
};

const object = z.record(z.string(), z.unknown());

async function bodyOf(c: Context, maxBytes: number): Promise<RestBody> {
  const bytes = await readBody(c, maxBytes);
  if (bytes.length === 0) return {};
  requireMediaType(c, ['application/json', A2A_CONTENT_TYPE]);
  try {
    return object.parse(parseIJsonBytes(bytes));
  } catch (error) {
    if (error instanceof ThroughlineError) throw error;
    throw new ThroughlineError('invalid', 'the body is not a JSON object', { cause: error });
  }
}

/** A tenant that is named twice must be named alike. */
function tenantOf(path: string | undefined, claims: readonly unknown[]): string {
  const said = [path, ...claims].filter((each) => each !== undefined && each !== '');
  const [tenant = ''] = said;
  if (typeof tenant === 'string' && said.every((each) => each === tenant)) return tenant;
  throw new ThroughlineError('invalid', 'tenant: path, query and body name different ones');
}

/** HTTP+JSON of A2A 1.0 (A2A 11) and of 0.3, for whatever path is left. */
export function rest({ guard, card, heartbeatMs, maxBytes }: Served) {
  const answer = async (c: Context<A2aEnv>, spoken: Dialect, found: Found): Promise<Response> => {
    const { route, path } = found;
    const version = versionIn(c);
    requireVersion(version, spoken.version, card, 'HTTP+JSON');
    const context = contextOf(c, version);
    const body = spoken.request(found, await bodyOf(c, maxBytes));
    const { url } = c.req;
    const claims = [new URL(url).searchParams.get('tenant') ?? undefined, body['tenant']];
    const tenant = tenantOf(path['tenant'], claims);
    const params = readParams(route.rpc, route.params({ url, path, tenant, body }));
    const method = methodNamed(route.rpc);
    if (method === undefined) throw new ThroughlineError('internal', `no method ${route.rpc}`);
    if ('events' in method) {
      return streamed(c, context, method.events(guard, params, context), {
        heartbeatMs,
        show: (event) => ({
          id: event.mark?.seq,
          data: spoken.event(StreamResponse.toJSON(event)),
        }),
        failure: (error) => spoken.failure(error).body,
      });
    }
    const json = await (route.answer ?? method.answer)(guard, params, context);
    const headers = activeExtensions(context);
    const { status = 200 } = route;
    if (status === 204) return c.body(null, 204, headers);
    const text = JSON.stringify(spoken.answer(found, json));
    return c.body(text, status, { ...headers, 'content-type': spoken.contentType });
  };

  return async (c: Context<A2aEnv>): Promise<Response> => {
    try {
      const spoken = dialectOf(c);
      const found = spoken.find(c.req.method, pathOf(c));
      if (found === undefined) throw new TaskNotFoundError('there is nothing at this path');
      return await answer(c, spoken, found);
    } catch (error) {
      return restFailed(c, error);
    }
  };
}
