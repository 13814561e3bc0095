import {
  A2A_VERSION_HEADER,
  SendMessageRequest,
  StreamResponse,
  SubscribeToTaskRequest,
  type AgentCard,
} from '@a2a-js/sdk';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { JsonRpcTransportHandler, validateVersion } from '@a2a-js/sdk/server';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import type { Context } from 'hono';
import { z } from 'zod';
import { ThroughlineError } from '../../errors.ts';
import { lastSeqOf } from './call.ts';
import { rpcFailure, rpcProtocolFailure, toA2aError } from './errors.ts';
import type { Guard } from './guard.ts';
import { contextOf, echo, readBody, requireMediaType, streamed, type A2aEnv } from './http-call.ts';
import { parseIJsonBytes } from './i-json.ts';
import type { StreamEvent } from './marks.ts';
import { checkParams } from './params.ts';
import { legacyVersion, versionOf } from './version.ts';

export interface Served {
  readonly guard: Guard;
  readonly card: AgentCard;
  readonly heartbeatMs: number;
  /** Bytes of a request's body. */
  readonly maxBytes: number;
}

const rpcSchema = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.int(), z.null()]).optional(),
  method: z.string().min(1),
  params: z.record(z.string(), z.unknown()).nullish(),
});
type Rpc = z.infer<typeof rpcSchema>;
const withId = z.looseObject({ id: z.union([z.string(), z.int()]) });

export const rpcFailed = (
  c: Context,
  error: unknown,
  id: string | number | null = null,
): Response => {
  const { body, status } = rpcFailure(error, id);
  if (status === 401) c.header('WWW-Authenticate', 'Bearer');
  return c.json(body, status);
};

/** A request, or the answer to what is none. */
function readRpc(c: Context, bytes: Uint8Array): Rpc | Response {
  let value: unknown;
  try {
    value = parseIJsonBytes(bytes);
  } catch (error) {
    const what = error instanceof ThroughlineError ? error.message : 'the body is not JSON';
    return c.json(rpcProtocolFailure(-32_700, what));
  }
  const rpc = rpcSchema.safeParse(value);
  if (rpc.success) return rpc.data;
  const id = withId.safeParse(value);
  const [issue] = rpc.error.issues;
  const what = `not a JSON-RPC 2.0 request: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`;
  return c.json(rpcProtocolFailure(-32_600, what, id.success ? id.data.id : null));
}

type Streaming = (
  guard: Guard,
  params: unknown,
  context: ServerCallContext,
) => AsyncGenerator<StreamEvent, void, undefined>;

const streams: ReadonlyMap<string, Streaming> = new Map<string, Streaming>([
  [
    'SendStreamingMessage',
    (guard, params, context) =>
      guard.sendMessageStream(SendMessageRequest.fromJSON(params), context),
  ],
  [
    'SubscribeToTask',
    (guard, params, context) => guard.resubscribe(SubscribeToTaskRequest.fromJSON(params), context),
  ],
]);

/** JSON-RPC 2.0 of A2A 1.0, and of 0.3 for callers that name it or no version (A2A 3.6). */
export function jsonRpc({ guard, card, heartbeatMs, maxBytes }: Served) {
  const handler = new JsonRpcTransportHandler(guard);
  const legacy = new LegacyJsonRpcTransportHandler(guard);

  const answer = async (c: Context<A2aEnv>, rpc: Rpc, context: ServerCallContext) => {
    const id = rpc.id ?? null;
    const isLegacy = context.requestedVersion === legacyVersion;
    checkParams(rpc.method, rpc.params, isLegacy);
    const params = rpc.params ?? {};
    const stream = isLegacy ? undefined : streams.get(rpc.method)?.(guard, params, context);
    if (stream !== undefined) {
      return streamed(c, context, stream, {
        heartbeatMs,
        show: (event) => ({
          id: event.mark?.seq,
          data: { jsonrpc: '2.0', id, result: StreamResponse.toJSON(event) },
        }),
        failure: (error) => rpcFailure(toA2aError(error), id).body,
      });
    }
    const result = await (isLegacy ? legacy : handler).handle({ ...rpc, params }, context);
    if (!(Symbol.asyncIterator in result)) return c.json(result, 200, echo(context));
    return streamed(c, context, result, {
      heartbeatMs,
      show: (data) => ({ id: lastSeqOf(context), data }),
      failure: (error) => ({
        jsonrpc: '2.0',
        id,
        error: LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(toA2aError(error)),
      }),
    });
  };

  return async (c: Context<A2aEnv>): Promise<Response> => {
    let rpc: Rpc | Response;
    try {
      requireMediaType(c, ['application/json']);
      rpc = readRpc(c, await readBody(c, maxBytes));
    } catch (error) {
      return rpcFailed(c, error);
    }
    if (rpc instanceof Response) return rpc;
    try {
      const version = versionOf(c.req.header(A2A_VERSION_HEADER));
      validateVersion(version, card, 'JSONRPC');
      return await answer(c, rpc, contextOf(c, version));
    } catch (error) {
      return rpcFailed(c, error, rpc.id ?? null);
    }
  };
}
