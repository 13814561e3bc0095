import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { ThroughlineError } from '../errors.ts';
import { hubApp, type HubAppOptions, type MountedApp } from './app.ts';
import type { Env } from './env.ts';
import { isLoopback } from './guard.ts';
import type { ServedHub } from './ports.ts';
import { problemResponse } from './problem.ts';

export interface ServeHubOptions<H extends ServedHub> extends Pick<
  HubAppOptions,
  'page' | 'onFailure' | 'onAnswer' | 'metrics' | 'stalledMs'
> {
  /** A hub, or what opens one as soon as its origin is known (with port 0 not before). */
  readonly hub: H | ((origin: string) => Promise<H>);
  /** 0: any free one. */
  readonly port: number;
  /** Address to listen on. Default 127.0.0.1. */
  readonly host?: string;
  /** Where it is reached from outside. Default: the address it listens on. */
  readonly origin?: string;
  /** Allows plain HTTP on an address that other machines reach, as behind a proxy with TLS. */
  readonly allowPlainHttp?: boolean;
  /** A2A agents that live in this process, by name, served under `/agents/{name}`. */
  readonly mounts?: (hub: H, origin: string) => Readonly<Record<string, Mount>>;
}

/** An agent with its life: it takes up its unfinished work at the start, and comes to rest at the end. */
export interface MountedAgent {
  readonly app: MountedApp;
  resume?(): Promise<unknown>;
  /** Resolves when all came to rest, or after so many milliseconds. */
  drain?(ms: number): Promise<unknown>;
}

export type Mount = MountedApp | MountedAgent;

export interface ServedHubHandle<H extends ServedHub> {
  readonly url: string;
  readonly hub: H;
  /** Takes no new requests, lets those under way end (bounded), frees the port. The hub stays open. */
  close(): Promise<void>;
}

const limits = {
  requestMs: 60_000,
  headersMs: 10_000,
  // The kernel takes megabytes at once, so that a slow line is seen to move on in minutes only.
  stalledMs: 300_000,
  graceMs: 5_000,
  idleMs: 50,
} as const;

/** Every address of the machine. */
const wildcards: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

type Handle = (request: Request, env: Env['Bindings']) => Response | Promise<Response>;

const starting: Handle = () =>
  problemResponse(new ThroughlineError('unavailable', 'the hub is starting; ask again'));

/**
 * Serves a hub. Throws `invalid` for plain HTTP beyond loopback and for all addresses without an
 * origin, `unavailable` when the address can’t be listened on.
 */
export async function serveHub<H extends ServedHub>(
  options: ServeHubOptions<H>,
): Promise<ServedHubHandle<H>> {
  const { port, host = '127.0.0.1', stalledMs } = options;
  if (!isLoopback(host) && options.allowPlainHttp !== true) {
    throw new ThroughlineError(
      'invalid',
      `host ${host}: other machines reach it, and plain HTTP would show them keys and content; ` +
        'listen on 127.0.0.1, or allow plain HTTP where a proxy with TLS stands in front',
    );
  }
  if (wildcards.has(host) && options.origin === undefined) {
    throw new ThroughlineError(
      'invalid',
      `host ${host}: is no address to call; name with origin where the hub is reached`,
    );
  }
  let handle: Handle = starting;
  const server = createServer(
    { requestTimeout: limits.requestMs, headersTimeout: limits.headersMs },
    (request, response) => {
      dropStalled(response, stalledMs ?? limits.stalledMs);
      void listener(request, response);
    },
  );
  const listener = getRequestListener((request, env) => handle(request, env));
  const url = await listen(server, port, host);
  const origin = options.origin ?? url;
  try {
    const hub = typeof options.hub === 'function' ? await options.hub(origin) : options.hub;
    const agents = Object.entries(options.mounts?.(hub, origin) ?? {}).map(
      ([name, mount]) => [name, 'app' in mount ? mount : { app: mount }] as const,
    );
    const { onFailure, onAnswer, metrics, page } = options;
    const closing = new AbortController();
    const app = hubApp(hub, {
      origin,
      page,
      closing: closing.signal,
      ...(stalledMs === undefined ? {} : { stalledMs }),
      ...(onAnswer === undefined ? {} : { onAnswer }),
      ...(metrics === undefined ? {} : { metrics }),
      mounts: Object.fromEntries(agents.map(([name, { app: mounted }]) => [name, mounted])),
      ...(onFailure === undefined ? {} : { onFailure }),
    });
    handle = (request, env) => app.fetch(request, env);
    for (const [name, agent] of agents) {
      agent.resume?.().catch((error: unknown) => {
        onFailure?.({ requestId: '', method: 'resume', path: `/agents/${name}`, error });
      });
    }
    const drain = () => agents.map(([, agent]) => agent.drain?.(limits.graceMs));
    const end = () => {
      closing.abort();
      return close(server, drain);
    };
    return { url, hub, close: end };
  } catch (error) {
    await close(server, () => []);
    throw error;
  }
}

/** Cuts a reader off that takes nothing of an answer for so long: what waits for it takes memory. */
function dropStalled(response: ServerResponse, ms: number): void {
  response.setTimeout(ms).on('timeout', (socket: Socket) => {
    // Else nothing waits for the reader; it waits for us.
    if (socket.writableLength > 0) socket.destroy();
  });
}

function listen(server: Server, port: number, host: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  server.once('error', (cause) => {
    const message = `can’t listen on ${host}:${port}: ${cause.message}; choose another port`;
    reject(new ThroughlineError('unavailable', message, { cause, retryable: false }));
  });
  server.listen(port, host, () => {
    const address = server.address();
    const actual = typeof address === 'object' && address !== null ? address.port : port;
    resolve(`http://${host.includes(':') ? `[${host}]` : host}:${actual}`);
  });
  return promise;
}

async function close(
  server: Server,
  drain: () => readonly (Promise<unknown> | undefined)[],
): Promise<void> {
  const { promise: closed, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => server.closeAllConnections(), limits.graceMs);
  server.close(() => resolve(undefined));
  server.closeIdleConnections();
  // A connection that is kept for more is idle only once its answer under way has ended.
  const idle = setInterval(() => server.closeIdleConnections(), limits.idleMs);
  await Promise.allSettled([closed, ...drain()]);
  clearInterval(idle);
  clearTimeout(timer);
}
