import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { makeExecutor, serveAgent } from '../agent/index.ts';
import { agentCard, serveA2a } from '../bindings/a2a/index.ts';
import { HubClient } from '../client/index.ts';
import type { Principal } from '../model/principal.ts';
import { connectAgent, startHub, type Connection, type RunningHub } from './wire.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

interface Told {
  readonly headers: IncomingHttpHeaders;
  readonly body: {
    statusUpdate?: { status: { state: string } };
    task?: { status: { state: string } };
  };
}

const isEnd = ({ body }: Told): boolean =>
  (body.statusUpdate ?? body.task)?.status.state === 'TASK_STATE_COMPLETED';

/** A webhook on this machine that keeps what it is told and answers as a test says. */
async function webhook(): Promise<{
  url: string;
  told: Told[];
  status: number;
  end: () => Promise<void>;
}> {
  const hook = { url: '', told: [] as Told[], status: 200, end: () => Promise.resolve() };
  const waiting: (() => void)[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      hook.told.push({ headers: request.headers, body: JSON.parse(text) });
      response.writeHead(hook.status).end();
      for (const wake of waiting.splice(0)) wake();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(async () => server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  hook.url = `http://127.0.0.1:${address.port}/hook`;
  hook.end = async () => {
    while (!hook.told.some(isEnd)) await new Promise<void>((resolve) => waiting.push(resolve));
  };
  return hook;
}

const loopback = {
  allowAddresses: ['127.0.0.1'],
  plainHttpHosts: ['127.0.0.1'],
  ports: 'any',
} as const;

const principal: Principal = { tenant: 'local', id: 'echo', role: 'agent' };

/** Short, so that what a process left untold is due soon. */
const leaseMs = 300;

async function hubWithKeys(): Promise<{ hub: RunningHub; agentKey: string; priya: string }> {
  const hub = await startHub({ dataDir: mkdtempSync(join(tmpdir(), 'push-')), port: 0, leaseMs });
  closing.push(() => hub.close());
  const operator = new HubClient({ url: hub.url, key: hub.localKey });
  const make = async (id: string, role: Principal['role']) =>
    (await operator.createKey({ principal: { tenant: 'local', id, role } })).key;
  return { hub, agentKey: await make('echo', 'agent'), priya: await make('priya', 'caller') };
}

async function serve(connection: Connection, faults: unknown[] = []) {
  const agent = await serveAgent({
    card: { name: 'Echo', description: 'Says it again', version: '1' },
    ports: connection.ports,
    push: connection.push,
    principal,
    onMessage: ({ text }) => Promise.resolve({ text }),
    onFault: (error) => faults.push(error),
  });
  return agent;
}

async function send(
  url: string,
  key: string,
  config: object,
): Promise<{ status: number; text: string }> {
  const response = await fetch(`${url}message:send`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'a2a-version': '1.0',
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hi' }] },
      configuration: { taskPushNotificationConfig: config },
    }),
  });
  return { status: response.status, text: await response.text() };
}

describe('push notifications of an agent process on a real hub', () => {
  it('are taken up by a living process when another one left them untold, once', async () => {
    const { hub, agentKey, priya } = await hubWithKeys();
    const hook = await webhook();
    hook.status = 503;
    const open = () => connectAgent({ hubUrl: hub.url, key: agentKey, outbound: loopback });
    const ports = (await open()).ports;
    const living = await Promise.all(
      [1, 2].map(async () => {
        const agent = await serveA2a({
          card: (url) => agentCard({ name: 'Echo', description: 'Says it', version: '1', url }),
          ports,
          push: (await open()).push,
          agent: principal,
          executor: makeExecutor({ ports, principal, onMessage: ({ text }) => ({ text }) }),
          waits: { dueMs: 50 },
        });
        closing.push(() => agent.close(0));
        return agent.resumed;
      }),
    );
    expect(living).toEqual([0, 0]);
    const dying = await serve(await open());
    expect((await send(dying.url, priya, { url: hook.url })).status).toBe(200);
    await hook.end();
    await dying.close(0);
    hook.status = 200;
    hook.told.length = 0;
    await hook.end();
    await sleep(leaseMs * 8);
    expect(hook.told.filter(isEnd)).toHaveLength(1);
  });

  it('tell whoever asked, with the secrets that it gave', async () => {
    const { hub, agentKey, priya } = await hubWithKeys();
    const hook = await webhook();
    const connection = await connectAgent({ hubUrl: hub.url, key: agentKey, outbound: loopback });
    const agent = await serve(connection);
    closing.push(() => agent.close());
    const config = {
      url: hook.url,
      token: 'tok',
      authentication: { scheme: 'Bearer', credentials: 'cred' },
    };
    expect((await send(agent.url, priya, config)).status).toBe(200);
    await hook.end();
    expect(hook.told[0]?.headers).toMatchObject({
      authorization: 'Bearer cred',
      'x-a2a-notification-token': 'tok',
      'content-type': 'application/a2a+json',
    });
  });

  it('may not be sent to this machine or its network, and nothing is written then', async () => {
    const { hub, agentKey, priya } = await hubWithKeys();
    const connection = await connectAgent({ hubUrl: hub.url, key: agentKey });
    const agent = await serve(connection);
    closing.push(() => agent.close());
    for (const url of [
      'http://169.254.169.254/latest/meta-data',
      'https://127.0.0.1/hook',
      'https://localhost/',
      'file:///etc/passwd',
      'htp://example.com/',
    ]) {
      const answer = await send(agent.url, priya, { url });
      expect([url, answer.status]).toEqual([url, 400]);
    }
    expect((await new HubClient({ url: hub.url, key: priya }).cases()).cases).toEqual([]);
  });

  it('tell the end after a restart, when it could not be told before', async () => {
    const { hub, agentKey, priya } = await hubWithKeys();
    const hook = await webhook();
    hook.status = 503;
    const open = () => connectAgent({ hubUrl: hub.url, key: agentKey, outbound: loopback });
    const first = await serve(await open());
    expect((await send(first.url, priya, { url: hook.url })).status).toBe(200);
    await hook.end();
    await first.close(0);
    hook.status = 200;
    hook.told.length = 0;
    await sleep(leaseMs * 4);
    const second = await serve(await open());
    closing.push(() => second.close());
    await hook.end();
    await second.resumed;
    expect(hook.told).toHaveLength(1);
    await second.close();
    const third = await serve(await open());
    closing.push(() => third.close());
    await third.resumed;
    expect(hook.told).toHaveLength(1);
  });
});
