import { createHash } from 'node:crypto';
import { AgentCard, A2A_VERSION_HEADER, AGENT_CARD_PATH } from '@a2a-js/sdk';
import { Hono, type Context, type MiddlewareHandler } from 'hono';
import { limits } from '../../model/limits.ts';
import { agentSide, type AgentSide, type AgentSideOptions } from './agent-side.ts';
import { withCorrelation, type ContextTerms } from './card.ts';
import { Guard } from './guard.ts';
import { door, type A2aEnv } from './http-call.ts';
import { jsonRpc, rpcFailed, type Served } from './json-rpc.ts';
import { legacyCard } from './legacy-card.ts';
import { rest, restFailed } from './rest.ts';
import { resumeTasks } from './resume.ts';
import { legacyVersion } from './version.ts';

export type { A2aEnv } from './http-call.ts';

export interface A2aRoutesOptions extends AgentSideOptions {
  /** Stated in the card; what the hub does is the hub's own setting. */
  readonly terms?: ContextTerms;
  /** Bytes of a request body; more is answered with 413 before anything is parsed. */
  readonly bodyLimit?: number;
  /** Runs before everything: Host and Origin checks, logging. */
  readonly middleware?: readonly MiddlewareHandler[];
  readonly heartbeatMs?: number;
}

/** One agent on A2A. */
export interface A2aRoutes {
  /** JSON-RPC at POST /, HTTP+JSON under it (of A2A 0.3 under /v1), and the card at GET /.well-known/agent-card.json. */
  readonly app: Hono<A2aEnv>;
  readonly card: AgentCard;
  /** The same agent for a transport that is not HTTP/1.1; see `serveGrpc`. */
  readonly guard: Guard;
  readonly side: AgentSide;
  /** Takes up what a dead process left unfinished: once, however often it is called. */
  resume(): Promise<number>;
  /** True when the executor came to rest, and all was told, within so many milliseconds. */
  drain(ms: number): Promise<boolean>;
}

/** Where clients of A2A 0.3 look first. */
const legacyCardPath = '.well-known/agent.json';
const cardSeconds = 300;

/** A card with an entity tag, so that clients may keep it and ask again cheaply (A2A 8.6). */
function cardAnswer(c: Context, card: unknown, since: Date): Response {
  const text = JSON.stringify(card);
  const tag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
  const headers = {
    'cache-control': `public, max-age=${cardSeconds}`,
    etag: tag,
    'last-modified': since.toUTCString(),
    vary: A2A_VERSION_HEADER,
  };
  if (c.req.header('if-none-match') === tag) return c.body(null, 304, headers);
  return c.body(text, 200, { ...headers, 'content-type': 'application/json' });
}

function cards(app: Hono<A2aEnv>, side: AgentSide): void {
  const since = side.now();
  const legacy = async (c: Context): Promise<Response> => {
    const card = await legacyCard(side);
    return card === undefined ? c.notFound() : cardAnswer(c, card, since);
  };
  app.get(`/${AGENT_CARD_PATH}`, (c) =>
    c.req.header(A2A_VERSION_HEADER)?.trim() === legacyVersion
      ? legacy(c)
      : cardAnswer(c, AgentCard.toJSON(side.card), since),
  );
  app.get(`/${legacyCardPath}`, legacy);
}

/** The hono routes of one agent. Mount them at the agent's address or serve them alone. */
export function a2aRoutes(options: A2aRoutesOptions): A2aRoutes {
  const card = withCorrelation(options.card, options.terms ?? {}, {
    push: options.push !== undefined,
    extended: options.extendedCard !== undefined,
  });
  const side = agentSide({ ...options, card });
  const guard = new Guard(side);
  const { heartbeatMs = 15_000, bodyLimit: maxBytes = limits.bodyBytes } = options;
  const served: Served = { guard, card, heartbeatMs, maxBytes };
  const app = new Hono<A2aEnv>();
  for (const middleware of options.middleware ?? []) app.use(middleware);
  cards(app, side);
  app.post('/', door(side.ports, rpcFailed), jsonRpc(served));
  app.all('/*', door(side.ports, restFailed), rest(served));
  let resumed: Promise<number> | undefined;
  return {
    app,
    card,
    guard,
    side,
    resume: () => (resumed ??= resumeAll(side)),
    async drain(ms) {
      const end = performance.now() + ms;
      side.worker?.rest();
      const rested = await side.lives.drain(ms);
      const told = await side.deliveries?.drain(Math.max(0, end - performance.now()));
      await side.worker?.leave();
      return rested && told !== false;
    },
  };
}

/** Unfinished tasks and untold ends; gives how many tasks. */
async function resumeAll(side: AgentSide): Promise<number> {
  void side.deliveries?.keepUp();
  const [tasks] = await Promise.all([resumeTasks(side), side.deliveries?.resume()]);
  return tasks;
}
