import { randomUUID } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { matchedRoutes } from 'hono/route';
import type { Principal } from '../model/principal.ts';
import { measure } from '../telemetry/measure.ts';
import { markFailed, startSpan, underSpan } from '../telemetry/span.ts';
import { traceFrom, withTrace } from '../telemetry/trace.ts';
import type { Env } from './env.ts';

/** A request that was answered, for the log. */
export interface Answered {
  readonly requestId: string;
  readonly traceId?: string | undefined;
  readonly method: string;
  /** As the table of routes has it, such as `/cases/{id}`; absent where there is none. */
  readonly route?: string | undefined;
  readonly status: number;
  /** Milliseconds until the answer was out or its reader gone. */
  readonly ms: number;
  /** Bytes of the answer on the wire, headers included. */
  readonly bytes?: number | undefined;
  readonly principal?: Principal | undefined;
}

/** A UUID or 32 hexadecimal digits, so that nothing else gets into the log as an id. */
const wellFormed = /^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/;

/** The caller's own id of a request where it is well-formed, else a new one. */
export const requestIdOf = (given: string | undefined): string =>
  given !== undefined && wellFormed.test(given) ? given : randomUUID();

const methods: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'OPTIONS',
  'PATCH',
  'TRACE',
  'CONNECT',
]);

/** Numbers each request, times it and puts it under a span; `tell` hears of each answer. */
export function observed(tell: (answered: Answered) => void): MiddlewareHandler<Env> {
  return async (c, next) => {
    const started = performance.now();
    // What Node writes the answer to; none for an app that is called without a server.
    const { outgoing: out }: Env['Bindings'] = c.env ?? {};
    const socket = out?.socket;
    const before = socket?.bytesWritten ?? 0;
    const trace = traceFrom(c.req.raw.headers);
    const method = methods.has(c.req.method) ? c.req.method : '_OTHER';
    const requestId = requestIdOf(c.req.header('X-Request-Id'));
    c.set('requestId', requestId);
    const route = routeOf(c);
    const asked = {
      'http.request.method': method,
      ...(route === undefined ? {} : { 'http.route': route }),
    };
    const name = route === undefined ? method : `${method} ${route}`;
    const span = withTrace(trace, () => startSpan(name, { kind: 'server' }));
    measure('http.server.active_requests', 1, asked);
    await withTrace(trace, () => underSpan(span, next));
    const { status } = c.res;
    const labels = { ...asked, 'http.response.status_code': status };
    span.setAttributes(labels);
    if (status >= 500) markFailed(span, c.error);
    const end = (): void => {
      const ms = performance.now() - started;
      span.end();
      measure('http.server.active_requests', -1, asked);
      measure('http.server.request.duration', ms / 1_000, labels);
      const { traceparent } = trace ?? {};
      const bytes = socket == null ? undefined : socket.bytesWritten - before;
      const traceId = traceparent?.split('-')[1];
      tell({ requestId, traceId, method, route, status, ms, bytes, principal: c.get('principal') });
    };
    if (out === undefined || out.destroyed) end();
    else out.once('close', end);
  };
}

/** The last route that matches and is more than a layer around others. */
function routeOf(c: Context<Env>): string | undefined {
  const routes = matchedRoutes(c).map(({ path }) => path);
  const path = routes.findLast((each) => !each.endsWith('*'));
  if (path !== undefined) return path.replaceAll(/:(\w+)/g, '{$1}');
  return routes.some((each) => each.startsWith('/agents/')) ? '/agents/{name}' : undefined;
}
