/**
 * The system under test for the public A2A compatibility kit, whose tests say by the beginning of a
 * messageId what the agent shall do: our agent on a hub that adopts contextIds or refuses them.
 *
 *     node packages/throughline/test/tck-sut.ts adopt|refuse [--port 9999] [--ids distinct|as-sent]
 *
 * The kit can't send a credential: a call without one counts as made with the hub's own key. And it
 * uses one messageId for many messages, which a server that knows messages by their ids refuses;
 * with `distinct` (the default) each message's id is made its own on its way in.
 */
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { A2AService } from '@a2a-js/sdk/server/grpc';
import type { MiddlewareHandler } from 'hono';
import { agentCard, serveA2a } from 'throughline/a2a';
import { connectAgent } from 'throughline/cli';
import type { Principal } from 'throughline/model';
import { KitExecutor } from './tck-executor.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    port: { type: 'string', default: '9999' },
    ids: { type: 'string', default: 'distinct' },
  },
});
const mode = positionals[0] === 'refuse' ? 'refuse' : 'adopt';

const principal: Principal = { tenant: 'local', id: 'kit-agent', role: 'agent' };
const dataDir = mkdtempSync(join(tmpdir(), 'kit-'));
const connection = await connectAgent({
  dataDir,
  principal,
  contextPolicy: mode,
  outbound: {
    allowAddresses: ['127.0.0.1', '::1'],
    plainHttpHosts: ['localhost', '127.0.0.1'],
    ports: 'any',
  },
});
const key = `Bearer ${readFileSync(join(dataDir, 'local.key'), 'utf8').trim()}`;

let sent = 0;
const ownId = (id: string): string => `${id}.${sent++}`;

/** Each message's id made its own; what it begins with stays. */
const distinct: MiddlewareHandler = async (c, next) => {
  if (c.req.method === 'POST') {
    const body = (await c.req.raw.text()).replace(
      /("messageId"\s*:\s*")([^"]+)"/,
      (_, before: string, id: string) => `${before}${ownId(id)}"`,
    );
    const { method } = c.req.raw;
    const headers = new Headers(c.req.header());
    headers.delete('content-length');
    c.req.raw = new Request(c.req.url, { method, headers, body });
  }
  await next();
};

if (values.ids === 'distinct') {
  for (const method of [A2AService.sendMessage, A2AService.sendStreamingMessage]) {
    const decode = method.requestDeserialize;
    Reflect.set(method, 'requestDeserialize', (bytes: Buffer) => {
      const request = decode(bytes);
      if (request.message !== undefined)
        request.message.messageId = ownId(request.message.messageId);
      return request;
    });
  }
}

const { ports } = connection;
const agent = await serveA2a({
  card: (url) =>
    agentCard({
      name: 'Kit agent',
      description: 'Does what the compatibility kit asks for',
      version: '1.0.0',
      url,
      skills: [{ id: 'kit', name: 'Kit', description: 'Scenarios of the kit', tags: ['kit'] }],
    }),
  terms: { contextPolicy: mode },
  agent: principal,
  executor: new KitExecutor(),
  push: connection.push,
  port: Number(values.port),
  grpc: {},
  middleware: values.ids === 'distinct' ? [distinct] : [],
  ports: {
    ...ports,
    authenticate: (credential) => ports.authenticate(credential ?? key),
  },
  onFault: (error) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  },
});
process.stdout.write(`${mode}: ${agent.url}, gRPC at ${agent.grpcAddress ?? 'none'}\n`);
await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
await agent.close(1_000);
await connection.close();
