import { AgentCard, TaskState } from '@a2a-js/sdk';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Party } from '../../model/observation.ts';
import { agentCard, withGrpc } from './card.ts';
import { connectA2a, type A2aClient } from './index.ts';
import { all, alice, echo, gate, startAgent } from './conformance.ts';
import { plainServer } from './conformance/peer.ts';
import { startWithGrpc as start } from './conformance/started.ts';
import { peerTransports } from './peer-transport.ts';

const self: Party = { kind: 'user', name: 'Alice', principal: alice.id };
async function connect(
  options: Omit<Parameters<typeof connectA2a>[0], 'self'>,
): Promise<A2aClient> {
  const client = await connectA2a({ self, ...options });
  onTestFinished(() => client.close());
  return client;
}

describe.each(peerTransports)('a connection over %s', (transport) => {
  it('sends, follows, lists and cancels, and tells what it sees alike', async () => {
    const agent = await start(echo);
    const { url, keys, ports } = agent;
    const caller = { principal: alice };
    const client = await connect({ url, credential: keys.alice, transport, ports, caller });
    expect(client.transport).toBe(transport);
    const before = ports.observations.length;
    const views = await all(client.watch({ parts: [{ kind: 'text', text: 'hello' }] }));
    expect(views.at(-1)).toMatchObject({
      state: 'completed',
      outputs: [{ id: 'answer', parts: [{ kind: 'text', text: 'hello' }] }],
    });
    const taskId = views.at(-1)?.taskId ?? '';
    expect((await client.getTask(taskId)).state).toBe('completed');
    expect((await client.listTasks({ state: 'completed', pageSize: 1 })).total).toBe(1);
    const seen = ports.observations.slice(before).filter(({ side }) => side === 'client');
    expect(new Set(seen.map(({ endpoint }) => endpoint))).toEqual(new Set([url]));
    await expect(client.cancel(taskId)).rejects.toMatchObject({ code: 'terminal' });
  });

  it('says in our words what it was refused', async () => {
    const agent = await start(echo);
    const nobody = await connect({ url: agent.url, credential: 'Bearer x', transport });
    await expect(nobody.getTask('t')).rejects.toMatchObject({ code: 'unauthenticated' });
    const client = await connect({ url: agent.url, credential: agent.keys.alice, transport });
    await expect(client.getTask('not-there')).rejects.toMatchObject({ code: 'not-found' });
    const send = client.send({ parts: [{ kind: 'text', text: 'x' }], contextId: 'invented' });
    await expect(send).rejects.toMatchObject({ code: 'context-refused' });
  });

  it('takes a task up again when the connection is cut in the middle', async () => {
    const door = gate();
    const first = await start(async (desk) => {
      desk.task();
      desk.artifact('a', 'one');
      await door.passed;
      desk.artifact('a', ' two', true);
      desk.status(TaskState.TASK_STATE_COMPLETED);
    });
    const client = await connect({
      url: first.url,
      credential: first.keys.alice,
      transport,
      retry: { attempts: 20, firstMs: 20, capMs: 50 },
    });
    const views = client.watch({ parts: [{ kind: 'text', text: 'x' }] });
    await views.next();
    const { port } = new URL(first.url);
    const rpcPort = Number(first.served.grpcAddress?.split(':')[1]);
    await first.served.close(0);
    door.open();
    const again = await startAgent(echo, {
      ports: first.ports,
      port: Number(port),
      grpc: { port: rpcPort },
    });
    onTestFinished(() => again.served.close(50));
    const last = (await all(views)).at(-1);
    expect(last?.state).toBe('completed');
  });
});

describe('which way is spoken', () => {
  it('is the first that the card names, unless another one is preferred', async () => {
    const agent = await start(echo);
    const first = await connect({ url: agent.url, credential: agent.keys.alice });
    expect(first.transport).toBe('jsonrpc');
    const { card } = agent.served;
    const turned = { ...card, supportedInterfaces: card.supportedInterfaces.toReversed() };
    const other = await connect({ card: turned, credential: agent.keys.alice });
    expect(other.transport).toBe('grpc');
  });

  it('falls back where the card does not name the preferred one', async () => {
    const plain = await plainServer(
      () => undefined,
      (url) => ({
        ...Object(AgentCard.toJSON(agentCard({ name: 'P', description: '', version: '1', url }))),
        supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      }),
    );
    onTestFinished(() => plain.close());
    expect((await connect({ url: plain.url, transport: 'grpc' })).transport).toBe('jsonrpc');
  });

  it.each([
    ['only of another version', [{ protocolBinding: 'JSONRPC', protocolVersion: '0.3' }]],
    ['only of a binding that we do not speak', [{ protocolBinding: 'CARRIER-PIGEON' }]],
    ['none', []],
  ])('is refused where the card names interfaces %s', async (_what, interfaces) => {
    const base = agentCard({ name: 'P', description: '', version: '1', url: 'http://127.0.0.1/' });
    const card = AgentCard.fromJSON({
      ...Object(AgentCard.toJSON(base)),
      supportedInterfaces: interfaces.map((each) => ({ url: 'http://127.0.0.1/', ...each })),
    });
    await expect(connect({ card })).rejects.toMatchObject({ code: 'unsupported' });
  });

  it.each([
    ['another host', 'https://elsewhere.example:443', 'names'],
    ['plain text to another machine', 'http://agent.example:80', 'plain http'],
  ])('over gRPC is refused to %s, so that no credential goes there', async (_what, grpc, why) => {
    const plain = await plainServer(
      () => undefined,
      (url) =>
        AgentCard.toJSON(
          withGrpc(agentCard({ name: 'P', description: '', version: '1', url }), grpc),
        ),
    );
    onTestFinished(() => plain.close());
    const call = connect({ url: plain.url, transport: 'grpc', credential: 'Bearer secret' });
    await expect(call).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining(why),
    });
  });
});

describe('serving gRPC', () => {
  it('lets what runs end before it closes', async () => {
    const door = gate();
    const agent = await start(async (desk) => {
      desk.task();
      await door.passed;
      desk.status(TaskState.TASK_STATE_COMPLETED);
    });
    const client = await connect({
      url: agent.url,
      credential: agent.keys.alice,
      transport: 'grpc',
    });
    const answer = client.send({ parts: [{ kind: 'text', text: 'x' }] });
    while (agent.ports.records.size === 0) await new Promise(setImmediate);
    const closed = agent.served.close(5_000);
    door.open();
    expect((await answer).state).toBe('completed');
    await closed;
  });

  it('goes on with a task whose reader went away', async () => {
    const door = gate();
    const agent = await start(async (desk) => {
      desk.task();
      await door.passed;
      desk.status(TaskState.TASK_STATE_COMPLETED);
    });
    const stop = new AbortController();
    const client = await connect({
      url: agent.url,
      credential: agent.keys.alice,
      transport: 'grpc',
    });
    const views = client.watch({ parts: [{ kind: 'text', text: 'x' }] }, { signal: stop.signal });
    await views.next();
    stop.abort();
    await expect(views.next()).rejects.toMatchObject({ code: 'timeout' });
    door.open();
    const state = () => [...agent.ports.records.values()][0]?.state;
    while (state() !== 'completed') await new Promise(setImmediate);
    expect(agent.faults).toEqual([]);
  });

  it('says so when its port is taken, and leaves nothing behind', async () => {
    const agent = await start(echo);
    const port = Number(agent.served.grpcAddress?.split(':')[1]);
    await expect(startAgent(echo, { grpc: { port } })).rejects.toMatchObject({
      code: 'unavailable',
    });
  });
});
