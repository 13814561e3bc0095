import { StreamResponse, type AgentCard } from '@a2a-js/sdk';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { validateVersion, type ServerCallContext } from '@a2a-js/sdk/server';
import type { Context } from 'hono';
import { z } from 'zod';
import { ThroughlineError } from '../../errors.ts';
import { activeExtensions, lastSeqOf } from './call.ts';
import { failureHeaders, rpcFailure, rpcProtocolFailure, toA2aError } from './errors.ts';
import type { Guard } from './guard.ts';
import {
  contextOf,
  readBody,
  requireMediaType,
  streamed,
  versionIn,
  type A2aEnv,
} from './http-call.ts';
import { parseIJsonBytes } from './i-json.ts';
import { methodNamed } from './methods.ts';
import { readParams } from './params.ts';
import { legacyVersion } from './version.ts';

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
  return c.json(body, status, failureHeaders(error, status));
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

const noMethod = ({ id = null, method }: Rpc) =>
  rpcProtocolFailure(-32_601, `there is no method ${method.slice(0, 64)}`, id);

/** JSON-RPC 2.0 of A2A 1.0, and of 0.3 for callers that name it or no version (A2A 3.6). */
export function jsonRpc({ guard, card, heartbeatMs, maxBytes }: Served) {
  const legacy = new LegacyJsonRpcTransportHandler(guard);

  const answer = async (c: Context<A2aEnv>, rpc: Rpc, context: ServerCallContext) => {
    const id = rpc.id ?? null;
    const params = readParams(rpc.method, rpc.params);
    const method = methodNamed(rpc.method);
    if (method === undefined) return c.json(noMethod(rpc));
    if ('answer' in method) {
      const result = await method.answer(guard, params, context);
      return c.json({ jsonrpc: '2.0', id, result }, 200, activeExtensions(context));
    }
    return streamed(c, context, method.events(guard, params, context), {
      heartbeatMs,
      show: (event) => ({
        id: event.mark?.seq,
        data: { jsonrpc: '2.0', id, result: StreamResponse.toJSON(event) },
      }),
      failure: (error) => rpcFailure(error, id).body,
    });
  };

  const answerLegacy = async (c: Context<A2aEnv>, rpc: Rpc, context: ServerCallContext) => {
    const { id = null } = rpc;
    const params = readParams(rpc.method, rpc.params, true);
    const result = await legacy.handle({ ...rpc, params }, context);
    if (!(Symbol.asyncIterator in result)) return c.json(result, 200, activeExtensions(context));
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
      const version = versionIn(c);
      validateVersion(version, card, 'JSONRPC');
      const answered = version === legacyVersion ? answerLegacy : answer;
      return await answered(c, rpc, contextOf(c, version));
    } catch (error) {
      return rpcFailed(c, error, rpc.id ?? null);
    }
  };
}
