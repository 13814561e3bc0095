import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AgentCard } from '@a2a-js/sdk';
import { getRequestListener } from '@hono/node-server';
import { ThroughlineError } from '../../errors.ts';
import { withGrpc } from './card.ts';
import { openGrpc, type GrpcOptions } from './serve-grpc.ts';
import { a2aRoutes, type A2aRoutesOptions } from './server.ts';
import { seatOf } from './worker.ts';

export interface ServeA2aOptions extends Omit<A2aRoutesOptions, 'card'> {
  /** The card, made when the address is known; it must name that address. gRPC is added to it. */
  readonly card: (url: string) => AgentCard;
  /** Default: loopback alone. */
  readonly host?: string;
  /** Default: a free one. */
  readonly port?: number;
  /** Address that others see, where it is not the one listened on. */
  readonly publicUrl?: string;
  /** Serves gRPC too, on a port of its own. Default: not. */
  readonly grpc?: GrpcOptions;
}

export interface ServedAgent {
  /** Where the agent is reached, with a slash at the end. */
  readonly url: string;
  readonly card: AgentCard;
  /** Where gRPC is served, as `host:port`. */
  readonly grpcAddress?: string;
  /** What was taken up from before the start; settles when all of it has come to rest. */
  readonly resumed: Promise<number>;
  /**
   * Takes no new calls, lets running ones end for at most so many milliseconds (default 10 s), then
   * hangs up. What is unfinished then is taken up at the next start.
   */
  close(timeoutMs?: number): Promise<void>;
}

/**
 * Serves one agent on an address of its own and takes up what was left unfinished there.
 *
 * @throws ThroughlineError `unavailable` when the address can't be listened on.
 */
export async function serveA2a(options: ServeA2aOptions): Promise<ServedAgent> {
  const { host = '127.0.0.1', port = 0 } = options;
  const server = createServer();
  await listen(server, port, host);
  const address = server.address();
  if (address === null || typeof address === 'string') {
    throw new ThroughlineError('internal', `no TCP address to serve on at ${host}:${port}`);
  }
  const hostPart = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  const url = options.publicUrl ?? `http://${hostPart}:${address.port}/`;
  const rpc = options.grpc && (await grpcOf(server, { host, ...options.grpc }, options.bodyLimit));
  const card = options.card(url);
  const seat = options.seat ?? seatOf(address.address, address.port);
  const routes = a2aRoutes({ ...options, seat, card: rpc ? withGrpc(card, rpc.address) : card });
  rpc?.serve({ guard: routes.guard, ports: options.ports, card: routes.card });
  const listener = getRequestListener(routes.app.fetch, { overrideGlobalObjects: false });
  server.on('request', (incoming, outgoing) => void listener(incoming, outgoing));
  const resumed = routes.resume();
  resumed.catch((error: unknown) => options.onFault?.(error, {}));
  return {
    url,
    card: routes.card,
    ...(rpc === undefined ? {} : { grpcAddress: rpc.address }),
    resumed,
    async close(timeoutMs = 10_000): Promise<void> {
      const closed = once(server, 'close');
      server.close();
      const rpcClosed = rpc?.close(timeoutMs);
      // A connection that is kept alive becomes idle only once its answer is out.
      const idle = setInterval(() => server.closeIdleConnections(), 20);
      const rest = await routes.drain(timeoutMs);
      // Answers of what has just ended are still on their way; a reader that takes none is let go.
      const hangUp = setTimeout(() => server.closeAllConnections(), rest ? 1_000 : 0);
      await Promise.all([closed, rpcClosed]);
      clearInterval(idle);
      clearTimeout(hangUp);
    },
  };
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  server.listen(port, host);
  await once(server, 'listening').catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `can’t listen on ${host}:${port}: ${why}; choose another port`;
    throw new ThroughlineError('unavailable', message, { cause, retryable: false });
  });
}

/** No half of an agent stays behind when the other can't be served. */
async function grpcOf(server: Server, options: GrpcOptions, bodyLimit: number | undefined) {
  try {
    return await openGrpc({ bodyLimit, ...options });
  } catch (error) {
    server.close();
    throw error;
  }
}
