import { createServer, type Server } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import type { Hono } from 'hono';
import { ThroughlineError } from '../errors.ts';
import { hubApp, type Failure } from './app.ts';
import { isLoopback } from './guard.ts';
import type { ServedHub } from './ports.ts';
import { problemResponse } from './problem.ts';

export interface ServeHubOptions<H extends ServedHub> {
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
  /** A2A agents that live in this process, by name. */
  readonly mounts?: (hub: H, origin: string) => Readonly<Record<string, Hono>>;
  readonly onFailure?: (failure: Failure) => void;
}

export interface ServedHubHandle<H extends ServedHub> {
  readonly url: string;
  readonly hub: H;
  /** Takes no new requests, lets those under way end (bounded), frees the port. The hub stays open. */
  close(): Promise<void>;
}

const limits = { requestMs: 60_000, headersMs: 10_000, graceMs: 5_000 } as const;

type Handle = (request: Request) => Response | Promise<Response>;

const starting: Handle = () =>
  problemResponse(new ThroughlineError('unavailable', 'the hub is starting; ask again'));

/**
 * Serves a hub. Throws `invalid` for plain HTTP beyond loopback, `unavailable` when the address can’t
 * be listened on.
 */
export async function serveHub<H extends ServedHub>(
  options: ServeHubOptions<H>,
): Promise<ServedHubHandle<H>> {
  const { port, host = '127.0.0.1' } = options;
  if (!isLoopback(host) && options.allowPlainHttp !== true) {
    throw new ThroughlineError(
      'invalid',
      `host ${host}: other machines reach it, and plain HTTP would show them keys and content; ` +
        'listen on 127.0.0.1, or allow plain HTTP where a proxy with TLS stands in front',
    );
  }
  let handle: Handle = starting;
  const server = createServer(
    { requestTimeout: limits.requestMs, headersTimeout: limits.headersMs },
    (request, response) => void listener(request, response),
  );
  const listener = getRequestListener((request) => handle(request));
  const url = await listen(server, port, host);
  const origin = options.origin ?? url;
  try {
    const hub = typeof options.hub === 'function' ? await options.hub(origin) : options.hub;
    const mounts = options.mounts?.(hub, origin) ?? {};
    const app = hubApp(hub, {
      origin,
      mounts,
      ...(options.onFailure ? { onFailure: options.onFailure } : {}),
    });
    handle = (request) => app.fetch(request);
    return { url, hub, close: () => close(server) };
  } catch (error) {
    await close(server);
    throw error;
  }
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

function close(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => server.closeAllConnections(), limits.graceMs);
  server.close(() => {
    clearTimeout(timer);
    resolve(undefined);
  });
  server.closeIdleConnections();
  return promise;
}
