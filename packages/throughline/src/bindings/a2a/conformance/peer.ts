import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { AgentCard } from '@a2a-js/sdk';
import { agentCard } from '../card.ts';

/** A server of somebody else, that does what a test says. */
export async function plainServer(
  answer: (
    body: { id: unknown; method: string; params: Record<string, unknown> },
    out: ServerResponse,
    headers: Record<string, unknown>,
  ) => void,
  card: (url: string) => unknown = (url) =>
    AgentCard.toJSON(agentCard({ name: 'Plain', description: '', version: '1', url })),
): Promise<{ url: string; close: () => Promise<void> }> {
  const server: Server = createServer((incoming, out) => {
    let text = '';
    incoming.on('data', (chunk: Buffer) => (text += chunk.toString()));
    incoming.on('end', () => {
      if (incoming.method === 'GET') out.end(JSON.stringify(card(url)));
      else answer(JSON.parse(text), out, incoming.headers);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const url = `http://127.0.0.1:${address.port}/`;
  return {
    url,
    async close(): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Writes results as a stream of JSON-RPC answers. */
export const sse = (out: ServerResponse, id: unknown, ...results: unknown[]): void => {
  out.setHeader('content-type', 'text/event-stream');
  for (const result of results) {
    out.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
  }
};
