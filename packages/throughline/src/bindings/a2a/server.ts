import {
  AgentCard,
  A2A_VERSION_HEADER,
  AGENT_CARD_PATH,
  Extensions,
  HTTP_EXTENSION_HEADER,
  SSE_HEADERS,
} from '@a2a-js/sdk';
import {
  JsonRpcTransportHandler,
  validateVersion,
  type ServerCallContext,
} from '@a2a-js/sdk/server';
import { Hono, type Context, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { z } from 'zod';
import { ThroughlineError } from '../../errors.ts';
import { correlationExtension } from '../../model/envelope.ts';
import { limits } from '../../model/limits.ts';
import type { Caller } from '../../model/principal.ts';
import { agentSide, type AgentSideOptions } from './agent-side.ts';
import { callContext } from './call.ts';
import { withCorrelation, type ContextTerms } from './card.ts';
import { rpcFailure, rpcProtocolFailure, toA2aError } from './errors.ts';
import { Guard } from './guard.ts';
import { parseIJsonBytes } from './i-json.ts';
import { checkParams } from './params.ts';
import { resumeTasks } from './resume.ts';
import { eventStream } from './sse.ts';
import { traceFrom } from './trace.ts';

export interface A2aRoutesOptions extends AgentSideOptions {
  /** Stated in the card; what the hub does is the hub's own setting. */
  readonly terms?: ContextTerms;
  /** Bytes of a request body; more is answered with 413 before anything is parsed. */
  readonly bodyLimit?: number;
  /** Runs before everything: Host and Origin checks, logging. */
  readonly middleware?: readonly MiddlewareHandler[];
  readonly heartbeatMs?: number;
}

export interface A2aEnv {
  Variables: { caller: Caller };
}

/** One agent on A2A. */
export interface A2aRoutes {
  /** POST /: JSON-RPC; GET /.well-known/agent-card.json. */
  readonly app: Hono<A2aEnv>;
  readonly card: AgentCard;
  /** Takes up what a dead process left unfinished: once, however often it is called. */
  resume(): Promise<number>;
  /** True when the executor came to rest within so many milliseconds. */
  drain(ms: number): Promise<boolean>;
}

const rpcSchema = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.int(), z.null()]).optional(),
  method: z.string().min(1),
  params: z.record(z.string(), z.unknown()).nullish(),
});
type Rpc = z.infer<typeof rpcSchema>;
const withId = z.looseObject({ id: z.union([z.string(), z.int()]) });

const failed = (c: Context, error: unknown, id: string | number | null = null): Response => {
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

function contextFor(c: Context<A2aEnv>): ServerCallContext {
  const extensions = Extensions.parseServiceParameter(c.req.header(HTTP_EXTENSION_HEADER));
  const context = callContext(c.get('caller'), {
    extensions,
    trace: traceFrom(c.req.raw.headers),
  });
  if (extensions.includes(correlationExtension))
    context.addActivatedExtension(correlationExtension);
  return context;
}

/** The hono routes of one agent. Mount them at the agent's address or serve them alone. */
export function a2aRoutes(options: A2aRoutesOptions): A2aRoutes {
  const card = withCorrelation(options.card, options.terms ?? {});
  const side = agentSide({ ...options, card });
  const handler = new JsonRpcTransportHandler(new Guard(side));
  const heartbeatMs = options.heartbeatMs ?? 15_000;
  const maxSize = options.bodyLimit ?? limits.bodyBytes;
  const app = new Hono<A2aEnv>();
  for (const middleware of options.middleware ?? []) app.use(middleware);

  app.get(`/${AGENT_CARD_PATH}`, (c) => c.json(AgentCard.toJSON(card)));
  app.post(
    '/',
    async (c, next) => {
      const credential = c.req.header('authorization');
      try {
        const principal = await side.ports.authenticate(credential);
        c.set('caller', { principal, ...(credential === undefined ? {} : { credential }) });
      } catch (error) {
        return failed(c, error);
      }
      return next();
    },
    bodyLimit({
      maxSize,
      onError: (c) =>
        failed(c, new ThroughlineError('too-large', `the body is over ${maxSize} bytes`)),
    }),
    async (c) => {
      const rpc = readRpc(c, new Uint8Array(await c.req.arrayBuffer()));
      if (rpc instanceof Response) return rpc;
      const id = rpc.id ?? null;
      const context = contextFor(c);
      try {
        validateVersion(c.req.header(A2A_VERSION_HEADER)?.trim() || '0.3', card, 'JSONRPC');
        checkParams(rpc.method, rpc.params);
        const answer = await handler.handle(rpc, context);
        if (!(Symbol.asyncIterator in answer)) return c.json(answer, 200, echo(context));
        // What is refused is refused before a stream begins.
        const first = await answer.next();
        const source = prepend(first, answer);
        const failure = (error: unknown): unknown => rpcFailure(toA2aError(error), id).body;
        const headers = { ...SSE_HEADERS, ...echo(context) };
        return c.body(eventStream(source, { heartbeatMs, failure }), 200, headers);
      } catch (error) {
        return failed(c, error, id);
      }
    },
  );
  let resumed: Promise<number> | undefined;
  return {
    app,
    card,
    resume: () => (resumed ??= resumeTasks(side)),
    drain: (ms) => side.lives.drain(ms),
  };
}

const echo = (context: ServerCallContext): Record<string, string> => {
  const active = context.activatedExtensions ?? [];
  return active.length === 0
    ? {}
    : { [HTTP_EXTENSION_HEADER]: Extensions.toServiceParameter(active) };
};

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
