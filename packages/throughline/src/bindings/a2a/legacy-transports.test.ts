import {
  Role,
  SendMessageRequest,
  TaskState,
  type Message,
  type Part,
  type StreamResponse,
  type Task,
} from '@a2a-js/sdk';
import type { RequestOptions, Transport } from '@a2a-js/sdk/client';
import { LegacyJsonRpcTransport, LegacyRestTransport } from '@a2a-js/sdk/compat/v0_3/client';
import { LegacyGrpcTransport } from '@a2a-js/sdk/compat/v0_3/client/grpc';
import {
  A2AError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import { AgentEvent } from '@a2a-js/sdk/server';
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { correlationExtension } from '../../model/envelope.ts';
import { agentCard } from './card.ts';
import { all, echo, gate, MemoryPorts, post, Scripted, wireMessage } from './conformance.ts';
import { type Agent, startWithGrpc as start } from './conformance/started.ts';
import { MemoryPush, MemorySender } from './conformance/push.ts';
import { markKey } from './marks.ts';
import { peerTransports, type PeerTransport } from './peer-transport.ts';

const endpoint = ({ served }: Agent): string => served.url.slice(0, -1);

/** The SDK's own transports of 0.3, with nothing of ours but an Authorization header. */
const opening: Readonly<Record<PeerTransport, (agent: Agent) => Transport>> = {
  jsonrpc: ({ url }) => new LegacyJsonRpcTransport({ endpoint: url }),
  'http-json': (agent) => new LegacyRestTransport({ endpoint: endpoint(agent) }),
  grpc: ({ served }) => new LegacyGrpcTransport({ endpoint: served.grpcAddress ?? '' }),
};

const by = (key: string | undefined, more: Record<string, string> = {}): RequestOptions => ({
  serviceParameters: { ...(key === undefined ? {} : { authorization: key }), ...more },
});

const waiting = { returnImmediately: false };
const request = (
  text: string,
  more: Record<string, unknown> = {},
  configuration: unknown = waiting,
): SendMessageRequest =>
  SendMessageRequest.fromJSON({ message: wireMessage(text, more), configuration });

const taskOf = (answer: Message | Task): Task => {
  if ('status' in answer) return answer;
  throw new Error('not a task');
};
const contentOf = ({ content }: Part): unknown[] => [
  content?.$case,
  content?.$case === 'raw' ? Buffer.from(content.value).toString() : content?.value,
];
const caseOf = ({ payload }: StreamResponse) => payload?.$case;

async function refused(call: Promise<unknown>): Promise<Error> {
  try {
    await call;
  } catch (error) {
    const inner = error instanceof Error && error.cause instanceof A2AError ? error.cause : error;
    if (inner instanceof Error) return inner;
  }
  throw new Error('was not refused');
}

describe.each(peerTransports)('a client of A2A 0.3 over %s', (kind) => {
  it('sends, reads and is refused to cancel what is over', async () => {
    const agent = await start(echo);
    const client = opening[kind](agent);
    const options = by(agent.keys.alice);
    const task = taskOf(await client.sendMessage(request('hello'), options));
    expect(task).toMatchObject({
      contextId: expect.stringMatching(/^ctx_/),
      status: { state: TaskState.TASK_STATE_COMPLETED },
      artifacts: [{ parts: [{ content: { $case: 'text', value: 'hello' } }] }],
    });
    expect(await client.getTask({ tenant: '', id: task.id }, options)).toEqual(task);
    const cancelled = client.cancelTask({ tenant: '', id: task.id, metadata: undefined }, options);
    expect(await refused(cancelled)).toBeInstanceOf(TaskNotCancelableError);
    const last = { tenant: '', id: task.id, historyLength: 1 };
    expect((await client.getTask(last, options)).history).toHaveLength(1);
    const next = request('again', { contextId: task.contextId });
    expect(taskOf(await client.sendMessage(next, options)).contextId).toBe(task.contextId);
  });

  it('takes and gives text, files and data', async () => {
    const seen: unknown[] = [];
    const agent = await start(({ context, bus }) => {
      const { userMessage } = context;
      seen.push(...userMessage.parts.map(contentOf));
      bus.publish(AgentEvent.message({ ...userMessage, role: Role.ROLE_AGENT }));
    });
    const parts = [
      { text: 'a' },
      { url: 'https://files.example/a', mediaType: 'text/plain' },
      { raw: 'aGk=', mediaType: 'image/png' },
      { data: { n: 1 } },
    ];
    const sent = request('', { parts });
    const answer = await opening[kind](agent).sendMessage(sent, by(agent.keys.alice));
    if ('status' in answer) throw new Error('not a message');
    const contents = [
      ['text', 'a'],
      ['url', 'https://files.example/a'],
      ['raw', 'hi'],
      ['data', { n: 1 }],
    ];
    expect(seen).toEqual(contents);
    expect(answer.parts.map(contentOf)).toEqual(contents);
    expect(answer.parts.map(({ mediaType }) => mediaType)).toEqual([
      '',
      'text/plain',
      'image/png',
      '',
    ]);
  });

  it('streams, subscribes, and is told when a task was cancelled', async () => {
    const door = gate();
    const script = new Scripted(
      async (desk) => {
        desk.task();
        await door.passed;
        desk.artifact('a', 'half');
        desk.status(TaskState.TASK_STATE_CANCELED);
      },
      async () => door.open(),
    );
    const agent = await start(script);
    const client = opening[kind](agent);
    const options = by(agent.keys.alice);
    const events = client.sendMessageStream(request('hello'), options);
    const first = (await events.next()).value;
    if (first?.payload?.$case !== 'task') throw new Error('no task first');
    const { id } = first.payload.value;
    const other = client.resubscribeTask({ tenant: '', id }, options);
    expect((await other.next()).value).toMatchObject({ payload: { $case: 'task', value: { id } } });
    const cancelled = await client.cancelTask({ tenant: '', id, metadata: undefined }, options);
    expect(cancelled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    const rest = ['artifactUpdate', 'statusUpdate'];
    expect((await all(events)).map(caseOf)).toEqual(rest);
    const last = (await all(other)).at(-1);
    expect(last).toMatchObject({
      payload: { value: { status: { state: TaskState.TASK_STATE_CANCELED } } },
    });
    const again = all(client.resubscribeTask({ tenant: '', id }, options));
    expect(await refused(again)).toBeInstanceOf(UnsupportedOperationError);
  });

  it('is told where a stream stands when it knows the extension', async () => {
    const agent = await start(echo);
    const named = { 'x-a2a-extensions': correlationExtension };
    const client = opening[kind](agent);
    const marks = async (more: Record<string, string>): Promise<unknown[]> =>
      (await all(client.sendMessageStream(request('x'), by(agent.keys.alice, more)))).map(
        ({ payload }) => payload?.value.metadata?.[markKey],
      );
    expect((await marks(named)).at(-1)).toMatchObject({ seq: expect.any(Number) });
    expect((await marks({})).every((mark) => mark === undefined)).toBe(true);
  });

  it('is admitted like any other: no identity, no other’s context, no other’s task', async () => {
    const agent = await start(echo);
    const client = opening[kind](agent);
    const options = by(agent.keys.alice);
    const { id, contextId } = taskOf(await client.sendMessage(request('mine'), options));
    const writes = [...agent.ports.writes];
    for (const key of [agent.keys.bob, agent.keys.otherAlice]) {
      const stolen = await refused(client.sendMessage(request('x', { contextId }), by(key)));
      expect(stolen.message).toContain(`context ${contextId} can't be used`);
      const streamed = all(client.sendMessageStream(request('x', { contextId }), by(key)));
      expect((await refused(streamed)).message).toContain(`context ${contextId} can't be used`);
      const read = await refused(client.getTask({ tenant: '', id }, by(key)));
      const missing = await refused(client.getTask({ tenant: '', id: 'no-such' }, by(key)));
      expect(read).toBeInstanceOf(TaskNotFoundError);
      expect(read.message.replaceAll(id, 'ID')).toBe(missing.message.replaceAll('no-such', 'ID'));
      const followed = refused(all(client.resubscribeTask({ tenant: '', id }, by(key))));
      expect(await followed).toBeInstanceOf(TaskNotFoundError);
      const stopped = client.cancelTask({ tenant: '', id, metadata: undefined }, by(key));
      expect(await refused(stopped)).toBeInstanceOf(TaskNotFoundError);
    }
    const swapped = refused(
      client.sendMessage(request('x', { taskId: id, contextId: 'ctx_other' }), options),
    );
    expect((await swapped).message).not.toBe('');
    await refused(client.sendMessage(request('x'), by(undefined)));
    await refused(client.getTask({ tenant: '', id }, by('Bearer wrong')));
    expect(agent.ports.writes).toEqual(writes);
    expect(agent.executor.runs).toBe(1);
  });

  it('keeps push configs of its own, and is told in its own form', async () => {
    const ports = new MemoryPorts();
    const push = new MemoryPush(ports);
    const sender = new MemorySender();
    const agent = await start(echo, { ports, push: { ports: push, sender } });
    const client = opening[kind](agent);
    const options = by(agent.keys.alice);
    const { id: taskId } = taskOf(await client.sendMessage(request('x'), options));
    const config = {
      tenant: '',
      taskId,
      id: 'hook',
      url: 'https://told.example/',
      token: 'check',
      authentication: { scheme: 'Bearer', credentials: 'secret' },
    };
    expect(await client.createTaskPushNotificationConfig(config, options)).toEqual(config);
    await sender.count(1);
    expect(sender.sent[0]?.body).toMatchObject({ kind: 'task', id: taskId });
    const one = { tenant: '', taskId, id: 'hook' };
    const whole = { tenant: '', taskId, pageSize: 0, pageToken: '' };
    expect(await client.getTaskPushNotificationConfig(one, options)).toEqual(config);
    const listed = await client.listTaskPushNotificationConfig(whole, options);
    expect(listed.configs).toEqual([config]);
    const foreign = client.getTaskPushNotificationConfig(one, by(agent.keys.bob));
    expect(await refused(foreign)).toBeInstanceOf(TaskNotFoundError);
    const planted = { ...config, url: 'http://169.254.169.254/' };
    await refused(client.createTaskPushNotificationConfig(planted, options));
    await client.deleteTaskPushNotificationConfig(one, options);
    expect((await client.listTaskPushNotificationConfig(whole, options)).configs).toEqual([]);
    await refused(client.getTaskPushNotificationConfig(one, options));
  });

  it('asks to be told with the message itself', async () => {
    const ports = new MemoryPorts();
    const push = new MemoryPush(ports);
    const sender = new MemorySender();
    const agent = await start(echo, { ports, push: { ports: push, sender } });
    const hook = { url: 'https://told.example/', token: 'check' };
    const configuration = { ...waiting, taskPushNotificationConfig: hook };
    await opening[kind](agent).sendMessage(request('x', {}, configuration), by(agent.keys.alice));
    await sender.count(1);
    expect(push.configs).toMatchObject([{ ...hook, protocolVersion: '0.3' }]);
  });

  it('gets the extended card with an identity, in its own form', async () => {
    const described = { name: 'Clerk', description: 'Knows more', version: '1' };
    const extendedCard = agentCard({ ...described, url: 'http://desk.example/' });
    const agent = await start(echo, { extendedCard });
    const client = opening[kind](agent);
    const shown = await client.getExtendedAgentCard({ tenant: '' }, by(agent.keys.alice));
    expect(shown).toMatchObject({
      description: 'Knows more',
      supportedInterfaces: [
        { protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
        { protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
      ],
      securitySchemes: { key: { scheme: { $case: 'httpAuthSecurityScheme' } } },
    });
    await refused(client.getExtendedAgentCard({ tenant: '' }, by(undefined)));
  });
});

describe('the card of A2A 0.3', () => {
  it('names every transport that is served', async () => {
    const agent = await start(echo);
    const found = await fetch(new URL('.well-known/agent.json', agent.url));
    expect(await found.json()).toMatchObject({
      protocolVersion: '0.3',
      url: agent.url,
      preferredTransport: 'JSONRPC',
      additionalInterfaces: [
        { url: agent.url, transport: 'HTTP+JSON' },
        { url: agent.served.grpcAddress, transport: 'GRPC' },
      ],
    });
  });
});

/** A message as the JSON of 0.3's protobuf has it. */
const message = (more: Record<string, unknown> = {}): Record<string, unknown> => ({
  messageId: crypto.randomUUID(),
  role: 'ROLE_USER',
  content: [{ text: 'x' }],
  ...more,
});

const send = (agent: Agent, body: unknown, headers: Record<string, string> = {}, path = 'v1/') =>
  post(`${agent.url}${path}message:send`, agent.keys.alice, JSON.stringify(body), {
    'a2a-version': '',
    ...headers,
  });

describe('HTTP+JSON of A2A 0.3', () => {
  it('answers errors with code and message alone', async () => {
    const agent = await start(echo);
    const response = await fetch(`${agent.url}v1/tasks/none`, {
      headers: { authorization: agent.keys.alice },
    });
    expect([response.status, response.headers.get('content-type'), await response.json()]).toEqual([
      404,
      'application/json',
      { code: -32_001, message: 'Task not found: none' },
    ]);
    const nobody = await fetch(`${agent.url}v1/tasks/none`);
    expect([nobody.status, nobody.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect(await nobody.json()).toEqual({ code: -32_000, message: expect.any(String) });
    const nowhere = await fetch(`${agent.url}v1/tasks`, {
      headers: { authorization: agent.keys.alice },
    });
    expect(nowhere.status).toBe(404);
  });

  it('is not spoken on the paths of 1.0, nor 1.0 on its own', async () => {
    const agent = await start(echo);
    const late = await send(agent, { message: message() }, {}, '');
    expect([late.status, JSON.stringify(late.body)]).toEqual([
      400,
      expect.stringContaining('VERSION_NOT_SUPPORTED'),
    ]);
    // There "v1" is a tenant, and nobody's.
    const early = await send(agent, { message: wireMessage('x') }, { 'a2a-version': '1.0' });
    expect(early.status).toBe(404);
    expect(agent.ports.writes).toEqual([]);
  });

  it.each([
    ['no message', {}, 'message'],
    ['content that is none', { message: message({ content: 'text' }) }, 'parts'],
    ['a part that is none', { message: message({ content: [{ file: 5 }] }) }, 'parts.0'],
    [
      'bytes that are none',
      { message: message({ content: [{ file: { fileWithBytes: 5 } }] }) },
      'raw',
    ],
    ['an id that is no segment', { message: message({ messageId: '../victim' }) }, 'messageId'],
    [
      'blocking that is no boolean',
      { message: message(), configuration: { blocking: 'x' } },
      'returnImmediately',
    ],
    ['a message of an agent', { message: message({ role: 'ROLE_AGENT' }) }, 'role'],
  ])('is refused %s, by name, and nothing is written', async (_what, body, field) => {
    const agent = await start(echo);
    const answer = await send(agent, body);
    expect([answer.status, answer.body]).toEqual([
      400,
      { code: -32_602, message: expect.stringContaining(field) },
    ]);
    expect(agent.ports.writes).toEqual([]);
    expect(agent.executor.runs).toBe(0);
  });

  it('does not wait where a configuration does not say so', async () => {
    const door = gate();
    const agent = await start(async (desk) => {
      desk.task();
      await door.passed;
      desk.status(TaskState.TASK_STATE_COMPLETED);
    });
    const answer = await send(agent, { message: message(), configuration: {} });
    expect(answer.body).toMatchObject({ task: { status: { state: 'TASK_STATE_WORKING' } } });
    door.open();
  });

  it('keeps a config for the task in the path, and none that is named for another', async () => {
    const ports = new MemoryPorts();
    const push = new MemoryPush(ports);
    const agent = await start(echo, { ports, push: { ports: push, sender: new MemorySender() } });
    const first = await send(agent, { message: message(), configuration: { blocking: true } });
    const { id } = Object(Object(first.body).task);
    const set = (body: unknown) =>
      post(
        `${agent.url}v1/tasks/${id}/pushNotificationConfigs`,
        agent.keys.alice,
        JSON.stringify(body),
        { 'a2a-version': '0.3' },
      );
    const pushNotificationConfig = { id: 'c', url: 'https://told.example/' };
    const other = await set({
      name: 'tasks/other/pushNotificationConfigs/c',
      pushNotificationConfig,
    });
    expect(other.status).toBe(400);
    expect(push.configs).toEqual([]);
    expect((await set({ pushNotificationConfig })).body).toMatchObject({
      name: `tasks/${id}/pushNotificationConfigs/c`,
    });
    expect(push.configs).toMatchObject([{ taskId: id }]);
  });

  it('picks a stream up after the last event that was read', async () => {
    const doors = [gate(), gate()] as const;
    const agent = await start(async (desk) => {
      desk.task();
      await doors[0].passed;
      desk.artifact('a', 'one');
      await doors[1].passed;
      desk.status(TaskState.TASK_STATE_COMPLETED);
    });
    const answer = await send(agent, { message: message(), configuration: {} });
    const { id } = Object(Object(answer.body).task);
    doors[0].open();
    const response = await fetch(`${agent.url}v1/tasks/${id}:subscribe`, {
      headers: { authorization: agent.keys.alice, 'last-event-id': '1' },
    });
    doors[1].open();
    const text = await response.text();
    expect(text).toMatch(/^id: \d+$/m);
    expect(text).toContain('"final":true');
    expect(text).toContain('"text":"one"');
  });
});

describe('names of files in A2A 0.3', () => {
  it('go both ways over HTTP+JSON', async () => {
    const agent = await start(({ context, bus }) => {
      const { userMessage } = context;
      bus.publish(AgentEvent.message({ ...userMessage, role: Role.ROLE_AGENT }));
    });
    const content = [
      { file: { fileWithBytes: 'aGk=', mimeType: 'image/png', name: 'a.png' } },
      { file: { fileWithUri: 'https://files.example/b', name: 'b' } },
    ];
    const sent = await send(agent, { message: message({ content }) });
    expect(sent.body).toMatchObject({ message: { content } });
    expect(agent.executor.requests[0]?.userMessage.parts.map(({ filename }) => filename)).toEqual([
      'a.png',
      'b',
    ]);
  });
});

describe('gRPC of A2A 0.3', () => {
  it('names what went wrong by its code', async () => {
    const agent = await start(echo);
    const client = new Client(agent.served.grpcAddress ?? '', credentials.createInsecure());
    const call = (bytes: number[], headers: Record<string, string>): Promise<ServiceError | null> =>
      new Promise((resolve) => {
        client.makeUnaryRequest(
          '/a2a.v1.A2AService/SendMessage',
          (value: Uint8Array) => Buffer.from(value),
          (value: Buffer) => value,
          Uint8Array.from(bytes),
          Metadata.fromHttp2Headers(headers),
          (error) => resolve(error),
        );
      });
    const known = { authorization: agent.keys.alice };
    expect(await call([], {})).toMatchObject({ code: 16 });
    expect(await call([], known)).toMatchObject({ code: 3, details: expect.any(String) });
    expect(await call([], { ...known, 'a2a-version': '1.0' })).toMatchObject({ code: 9 });
    client.close();
    expect(agent.ports.writes).toEqual([]);
  });
});
