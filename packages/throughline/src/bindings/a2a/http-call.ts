import { A2A_VERSION_HEADER, SSE_HEADERS } from '@a2a-js/sdk';
import { ContentTypeNotSupportedError } from '@a2a-js/sdk/errors';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import type { Context, MiddlewareHandler } from 'hono';
import { ThroughlineError } from '../../errors.ts';
import type { Caller } from '../../model/principal.ts';
import { activeExtensions, authenticated, contextFrom } from './call.ts';
import type { A2aPorts } from './ports.ts';
import { eventStream } from './sse.ts';
import { versionOf } from './version.ts';

export interface A2aEnv {
  Variables: { caller: Caller };
}

/** The answer to what fails before or outside a method. */
export type Failed = (c: Context<A2aEnv>, error: unknown) => Response;

/** Nothing is read of a body, and nothing parsed, before it is known whose it is. */
export function door(
  ports: Pick<A2aPorts, 'authenticate'>,
  failed: Failed,
): MiddlewareHandler<A2aEnv> {
  return async (c, next) => {
    try {
      c.set('caller', await authenticated(ports, c.req.header('authorization')));
    } catch (error) {
      return failed(c, error);
    }
    return next();
  };
}

/** The body, read no further than the limit. Throws `too-large`, before anything is read if it says so. */
export async function readBody(c: Context, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = (): ThroughlineError =>
    new ThroughlineError('too-large', `the body is over ${maxBytes} bytes`);
  if (Number(c.req.header('content-length') ?? 0) > maxBytes) throw tooLarge();
  const { body } = c.req.raw;
  if (body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Throws ContentTypeNotSupported for a body that says it is something else; none said is JSON. */
export function requireMediaType(c: Context, accepted: readonly string[]): void {
  const said = c.req.header('content-type')?.split(';', 1)[0]?.trim().toLowerCase();
  if (said === undefined || accepted.includes(said)) return;
  throw new ContentTypeNotSupportedError(`send the body as ${accepted.join(' or ')}`);
}

/** The version of A2A that a call names, in a header or else in its query (A2A 3.6.1). */
export const versionIn = (c: Context): string =>
  versionOf(c.req.header(A2A_VERSION_HEADER) || c.req.query(A2A_VERSION_HEADER));

/** The SDK's context of an authenticated HTTP call; `version` is that of A2A. Throws `invalid`. */
export const contextOf = (c: Context<A2aEnv>, version: string): ServerCallContext =>
  contextFrom(c.get('caller'), version, (name) => c.req.header(name));

export interface Streaming<T> {
  readonly heartbeatMs: number;
  /** One event's id and JSON. */
  readonly show: (event: T) => { readonly id?: number | undefined; readonly data: unknown };
  /** What the stream says last when its source throws. */
  readonly failure: (error: unknown) => unknown;
}

/** Server-sent events; what fails before the first of them is thrown, so that it can be an answer. */
export async function streamed<T>(
  c: Context<A2aEnv>,
  context: ServerCallContext,
  source: AsyncGenerator<T, void, undefined>,
  { heartbeatMs, show, failure }: Streaming<T>,
): Promise<Response> {
  const first = await source.next();
  const headers = { ...SSE_HEADERS, ...activeExtensions(context) };
  return c.body(eventStream(prepend(first, source), { heartbeatMs, show, failure }), 200, headers);
}

/** Not a generator: one that was never asked for its first value could not be told to return. */
function prepend<T>(
  first: IteratorResult<T, void>,
  rest: AsyncGenerator<T, void, undefined>,
): AsyncIterator<T, void, undefined> {
  let waiting: IteratorResult<T, void> | undefined = first;
  return {
    next: () => {
      const result = waiting;
      waiting = undefined;
      return result === undefined ? rest.next() : Promise.resolve(result);
    },
    return: () => rest.return(),
  };
}
