import { Hono, type Context } from 'hono';
import { ThroughlineError } from '../errors.ts';
import type { Acting } from '../hub/acting.ts';
import { limits } from '../model/limits.ts';
import type { Principal } from '../model/principal.ts';
import { limitBody, readBody } from './body.ts';
import { serveBearers, shownIn } from './content.ts';
import type { Env } from './env.ts';
import { checkSource, securityHeaders, streamHeaders } from './guard.ts';
import { observed, type Answered } from './observed.ts';
import { openApi } from './openapi.ts';
import { servePage } from './page.ts';
import type { ServedHub } from './ports.ts';
import { problemResponse, problems } from './problem.ts';
import { hubRoutes, routeGroups } from './routes.ts';
import type { RawInput, Route } from './route.ts';
import { serveSessions, sessionPrincipal } from './session.ts';
import { Together } from './together.ts';

/** Of Prometheus’ text format. */
export const metricsMediaType = 'text/plain; version=0.0.4; charset=utf-8';

/** A failure that is the hub’s own, for its log; `error` may hold what no answer may say. */
export interface Failure {
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  readonly error: unknown;
}

export interface HubAppOptions {
  /** Where the hub is reached from outside, such as `https://hub.example.com`. */
  readonly origin: string;
  /** Apps that live in this process, by name, served under `/agents/{name}`. */
  readonly mounts?: Readonly<Record<string, MountedApp>>;
  /** Folder of the built page; it is served at `/`. Absent: no page. */
  readonly page?: string | undefined;
  /** Aborted when the server closes: answers that go on end then. */
  readonly closing?: AbortSignal;
  /**
   * Milliseconds after which a reader that takes nothing is dropped. Default 30,000 for the hub's own
   * streams, whose reader can go on where it was; 300,000 for any other answer of a server.
   */
  readonly stalledMs?: number;
  /** Told of every answer with a status of 500 and more. */
  readonly onFailure?: (failure: Failure) => void;
  /** Told of every answer, once it is out. */
  readonly onAnswer?: (answered: Answered) => void;
  /** The hub’s own figures as Prometheus reads them; undefined for whom they are not meant. */
  readonly metrics?: (principal: Principal) => Promise<string> | undefined;
}

/** A hono app, whatever its own variables are. */
export interface MountedApp {
  readonly fetch: (request: Request) => Response | Promise<Response>;
}

/**
 * The hub’s HTTP API as an app: `GET /health` and the page for anyone, what the page reads with its
 * session, everything else with a key, every error as problem details. Agents under `mounts` authenticate by themselves.
 */
export function hubApp(hub: ServedHub, options: HubAppOptions): Hono<Env> {
  const own = new URL(options.origin);
  const app = new Hono<Env>({ strict: false });
  app.use(observed((answered) => options.onAnswer?.(answered)));
  app.use(async (c, next) => {
    c.set('headers', securityHeaders);
    await next();
    const { headers } = c.res;
    headers.set('X-Request-Id', c.get('requestId'));
    for (const [name, value] of Object.entries(c.get('headers'))) headers.set(name, value);
  });
  app.use(async (c, next) => {
    checkSource({ host: c.req.header('Host'), origin: c.req.header('Origin') }, own);
    await next();
  });
  app.onError((thrown, c) => answerError(thrown, c, options));
  app.notFound((c) => problemResponse(noRoute(), c.get('requestId')));

  app.get('/health', async (c) => c.json({ ok: (await hub.health()).ok }));
  // An outer bound: an agent that has one of its own refuses in the words of its protocol.
  app.use('/agents/*', limitBody(limits.contentBytes));
  for (const [name, mounted] of Object.entries(options.mounts ?? {})) {
    app.mount(`/agents/${name}`, (request: Request) => mounted.fetch(request));
  }
  if (options.page !== undefined) servePage(app, options.page);
  serveSessions(app, hub, own);
  serveBearers(app, hub, own.origin);
  app.use(async (c, next) => {
    const credential = c.req.header('Authorization');
    const session = credential === undefined ? await sessionPrincipal(c, hub, own) : undefined;
    c.set('bySession', session !== undefined);
    c.set('principal', session ?? (await hub.authenticate(credential)));
    await next();
  });
  const description = openApi(routeGroups, own.origin);
  app.get('/openapi.json', (c) => {
    needKey(c);
    return c.json(description);
  });
  app.get('/metrics', async (c) => {
    needKey(c);
    const text = options.metrics?.(c.get('principal'));
    if (text === undefined) throw noRoute();
    return c.text(await text, 200, { 'Content-Type': metricsMediaType });
  });
  const place: Place = {
    own,
    closing: options.closing,
    checks: new Together<boolean>(),
    stalledMs: options.stalledMs ?? 30_000,
    onFailure: (error, c) => void answerError(error, c, options),
  };
  for (const route of hubRoutes) serveRoute(app, hub, place, route);
  return app;
}

const noRoute = (): ThroughlineError => new ThroughlineError('not-found', 'there is no such route');

function answerError(thrown: unknown, c: Context<Env>, { onFailure }: HubAppOptions): Response {
  const response = problemResponse(thrown, c.get('requestId'));
  if (response.status >= problems.internal[0]) {
    const { method, path } = c.req;
    onFailure?.({ requestId: c.get('requestId'), method, path, error: thrown });
  }
  return response;
}

interface Place {
  readonly own: URL;
  readonly closing: AbortSignal | undefined;
  /** Looks at credentials of answers that go on. */
  readonly checks: Together<boolean>;
  readonly stalledMs: number;
  readonly onFailure: (error: unknown, c: Context<Env>) => void;
}

function serveRoute(app: Hono<Env>, hub: ServedHub, place: Place, route: Route): void {
  const path = route.path.replaceAll(/\{(\w+)\}/g, ':$1');
  app.on(route.method.toUpperCase(), path, limitBody(route.maxBytes), async (c) => {
    if (!route.bySession) needKey(c);
    if (route.gives === 'events') c.set('headers', streamHeaders);
    return answer(route, await route.run(hub, await readInput(c, hub, place, route)));
  });
}

/** Refuses the page’s cookie. */
function needKey(c: Context<Env>): void {
  if (!c.get('bySession')) return;
  throw new ThroughlineError(
    'unauthenticated',
    'the page’s session reads cases and nothing else; call with a key',
  );
}

function answer(route: Route, result: unknown): Response {
  if (route.gives === 'nothing') return new Response(null, { status: 204 });
  return result instanceof Response ? result : Response.json(result);
}

async function readInput(
  c: Context<Env>,
  hub: ServedHub,
  { own, closing, checks, stalledMs, onFailure }: Place,
  route: Route,
): Promise<RawInput> {
  const principal = c.get('principal');
  const { signal } = c.req.raw;
  const shown = [c.req.header('Authorization'), c.req.header('Cookie')].join(' ');
  return {
    principal,
    origin: own.origin,
    live: {
      lastEventId: c.req.header('Last-Event-ID'),
      signal: closing === undefined ? signal : AbortSignal.any([signal, closing]),
      stillIn: () => checks.ask(shown, () => isStillIn(c, hub, own)),
      stalledMs,
      drop: () => void c.env?.outgoing?.destroy(),
      onFailure: (error) => onFailure(error, c),
    },
    caller: () => callerOf(c, hub, principal),
    params: readParams(c),
    query: readQuery(c),
    body: await readBody(c, route),
    ...shownIn(c),
  };
}

/** Whether the key or the session that a request came with still stands for whom it did. */
async function isStillIn(c: Context<Env>, hub: ServedHub, own: URL): Promise<boolean> {
  const before = c.get('principal');
  try {
    const now = c.get('bySession')
      ? await sessionPrincipal(c, hub, own)
      : await hub.authenticate(c.req.header('Authorization'));
    return now?.tenant === before.tenant && now.id === before.id && now.role === before.role;
  } catch (error) {
    if (error instanceof ThroughlineError && error.code === 'unauthenticated') return false;
    throw error;
  }
}

/**
 * The bearer itself, or, for an agent that hands on a credential of its tenant, whose that is. Either
 * way the hub learns through whom the call came: that one may write for itself alone.
 */
async function callerOf(c: Context<Env>, hub: ServedHub, bearer: Principal): Promise<Acting> {
  const handedOn = c.req.header('Throughline-Caller');
  const own = c.req.header('Authorization') ?? '';
  if (handedOn !== undefined) needKey(c);
  if (handedOn === undefined || handedOn === own) {
    return { principal: bearer, credential: own, via: bearer };
  }
  const principal = await hub.authenticate(handedOn, bearer);
  if (bearer.role !== 'agent' || principal.tenant !== bearer.tenant) {
    throw new ThroughlineError(
      'unauthenticated',
      'Throughline-Caller: only an agent’s key may come with a credential of its own tenant',
    );
  }
  return { principal, credential: handedOn, via: bearer };
}

/** Parameters decoded once; bytes that are no UTF-8 are refused, not replaced. */
function readParams(c: Context<Env>): Record<string, string> {
  try {
    decodeURIComponent(new URL(c.req.url).pathname);
  } catch {
    throw new ThroughlineError('invalid', 'path: is not percent-encoded UTF-8');
  }
  return c.req.param();
}

function readQuery(c: Context<Env>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(c.req.queries()).map(([name, [value = '', ...more]]) => {
      if (more.length === 0) return [name, value];
      throw new ThroughlineError('invalid', `query.${name.slice(0, 80)}: is given twice`);
    }),
  );
}
