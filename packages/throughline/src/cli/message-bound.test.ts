import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Message, SendMessageRequest, TaskState, type Task } from '@a2a-js/sdk';
import { JsonRpcTransportFactory, RestTransportFactory, type Transport } from '@a2a-js/sdk/client';
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc';
import { LegacyJsonRpcTransport, LegacyRestTransport } from '@a2a-js/sdk/compat/v0_3/client';
import { LegacyGrpcTransport } from '@a2a-js/sdk/compat/v0_3/client/grpc';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Scripted } from '../bindings/a2a/conformance.ts';
import { agentCard, serveA2a, type ServedAgent } from '../bindings/a2a/index.ts';
import { textOf } from '../bindings/a2a/wire.ts';
import { HubClient } from '../client/index.ts';
import { limits } from '../model/limits.ts';
import type { Principal } from '../model/principal.ts';
import { startHub } from './wire.ts';

vi.setConfig({ testTimeout: 30_000 });

const agent: Principal = { tenant: 'local', id: 'clerk', role: 'agent' };
const closing: (() => Promise<unknown>)[] = [];
let served: ServedAgent;
let authorization: string;

const listens = new Scripted(({ task }) => task(TaskState.TASK_STATE_COMPLETED));

beforeAll(async () => {
  const hub = await startHub({ dataDir: mkdtempSync(join(tmpdir(), 'bound-')), port: 0 });
  closing.push(() => hub.close());
  const operator = new HubClient({ url: hub.url, key: hub.localKey });
  const keyOf = async (id: string, role: Principal['role']) =>
    (await operator.createKey({ principal: { tenant: 'local', id, role } })).key;
  authorization = `Bearer ${await keyOf('priya', 'caller')}`;
  served = await serveA2a({
    card: (url) => agentCard({ name: 'Clerk', description: 'Listens', version: '1', url }),
    ports: new HubClient({ url: hub.url, key: await keyOf('clerk', 'agent') }).ports(),
    agent,
    executor: listens,
    grpc: {},
  });
  closing.push(() => served.close(0));
});
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});

const wires: readonly (readonly [string, () => Transport | Promise<Transport>])[] = [
  ['JSON-RPC', () => new JsonRpcTransportFactory().create(served.url, served.card)],
  ['HTTP+JSON', () => new RestTransportFactory().create(served.url, served.card)],
  ['gRPC', () => new GrpcTransportFactory().create(served.grpcAddress ?? '', served.card)],
  ['JSON-RPC of 0.3', () => new LegacyJsonRpcTransport({ endpoint: served.url })],
  ['HTTP+JSON of 0.3', () => new LegacyRestTransport({ endpoint: served.url.slice(0, -1) })],
  ['gRPC of 0.3', () => new LegacyGrpcTransport({ endpoint: served.grpcAddress ?? '' })],
];

/** A message whose JSON has so many bytes. */
function sized(bytes: number): SendMessageRequest {
  const messageId = crypto.randomUUID();
  const of = (text: string): Message =>
    Message.fromJSON({ messageId, role: 'ROLE_USER', parts: [{ text }] });
  const bare = JSON.stringify(Message.toJSON(of('.'))).length;
  const message = of('.'.repeat(1 + bytes - bare));
  return { ...SendMessageRequest.fromJSON({}), message };
}

const taskIn = (answer: Message | Task): Task => {
  if ('status' in answer) return answer;
  throw new Error('not a task');
};

describe.each(wires)('a message over %s', (wire, open) => {
  const by = () => ({
    serviceParameters: {
      authorization,
      ...(wire.endsWith('0.3') ? {} : { 'a2a-version': '1.0' }),
    },
  });

  it('that is let in can be stored and read back, at the bound too', async () => {
    const client = await open();
    const request = sized(limits.messageBytes);
    const { id } = taskIn(await client.sendMessage(request, by()));
    const { status, history } = await client.getTask({ tenant: '', id }, by());
    expect(status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(history[0] && textOf(history[0].parts)).toBe(textOf(request.message?.parts ?? []));
  });

  it('beyond the bound is refused by name, and nothing runs', async () => {
    const client = await open();
    const { runs } = listens;
    const sent = client.sendMessage(sized(limits.messageBytes + 1), by());
    await expect(sent).rejects.toThrow(`over ${limits.messageBytes} bytes`);
    expect(listens.runs).toBe(runs);
  });
});
