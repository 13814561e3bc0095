import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { ForeignOptions } from './index.ts';

/** The name of a store that is listed, on this machine and without TLS, as only a test has it. */
export const listed: ForeignOptions = {
  hosts: ['store.test'],
  plainHttpHosts: ['store.test'],
  allowAddresses: ['127.0.0.1'],
  ports: 'any',
  resolve: () => Promise.resolve(['127.0.0.1']),
  totalMs: 2_000,
};

/** Stores of somebody else on loopback. */
export class OtherStores {
  readonly #servers: Server[] = [];

  /** Opens one; gives its port. */
  async open(listener: RequestListener): Promise<number> {
    const server = createServer(listener).listen(0, '127.0.0.1');
    this.#servers.push(server);
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return address.port;
  }

  close(): void {
    for (const server of this.#servers.splice(0)) server.close().closeAllConnections();
  }
}
