import {
  SendMessageRequest,
  TaskState,
  type Message,
  type StreamResponse,
  type Task,
} from '@a2a-js/sdk';
import type { RequestOptions, Transport } from '@a2a-js/sdk/client';
import {
  JsonRpcTransportFactory,
  RestTransportFactory,
  type TransportFactory,
} from '@a2a-js/sdk/client';
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc';
import { A2AError, TaskNotFoundError, UnsupportedOperationError } from '@a2a-js/sdk/errors';
import { describe, expect, it } from 'vitest';
import { ThroughlineError } from '../../errors.ts';
import { correlationExtension } from '../../model/envelope.ts';
import { all, alice, echo, gate, Scripted, wireMessage } from './conformance.ts';
import { type Agent, startWithGrpc as start } from './conformance/started.ts';
import { fromA2aError } from './errors.ts';
import { peerTransports, type PeerTransport } from './peer-transport.ts';

const factories: Readonly<Record<PeerTransport, TransportFactory>> = {
  jsonrpc: new JsonRpcTransportFactory(),
  'http-json': new RestTransportFactory(),
  grpc: new GrpcTransportFactory(),
};

/** The SDK's own transport, with nothing of ours but an Authorization header. */
const transportTo = ({ served }: Agent, kind: PeerTransport): Promise<Transport> =>
  factories[kind].create(kind === 'grpc' ? (served.grpcAddress ?? '') : served.url, served.card);

const by = (key: string | undefined, more: Record<string, string> = {}): RequestOptions => ({
  serviceParameters: {
    'a2a-version': '1.0',
    ...(key === undefined ? {} : { authorization: key }),
    ...more,
  },
});

const request = (
  text: string,
  more: Record<string, unknown> = {},
  configuration?: unknown,
): SendMessageRequest =>
  SendMessageRequest.fromJSON({ message: wireMessage(text, more), configuration });

const taskOf = (answer: Message | Task): Task => {
  if ('status' in answer) return answer;
  throw new Error('not a task');
};

const caseOf = ({ payload }: StreamResponse) => payload?.$case;

const anyTask = {
  tenant: '',
  contextId: '',
  status: TaskState.TASK_STATE_UNSPECIFIED,
  pageToken: '',
  statusTimestampAfter: undefined,
};

const refused = async (call: Promise<unknown>): Promise<A2AError> => {
  try {
    await call;
  } catch (error) {
    const inner = error instanceof Error && error.cause instanceof A2AError ? error.cause : error;
    if (inner instanceof A2AError) return inner;
    throw error;
  }
  throw new Error('was not refused');
};

const codeOf = async (call: Promise<unknown>): Promise<string> =>
  fromA2aError(await refused(call), 'peer').code;

describe.each(peerTransports)('an agent over %s', (kind) => {
  it('is sent to, read, listed and asked for its card', async () => {
    const agent = await start(echo, {
      extendedCard: undefined,
    });
    const client = await transportTo(agent, kind);
    const options = by(agent.keys.alice);
    const task = taskOf(await client.sendMessage(request('hello'), options));
    expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(task.artifacts[0]?.parts[0]?.content).toEqual({ $case: 'text', value: 'hello' });
    expect(await client.getTask({ tenant: '', id: task.id }, options)).toEqual(task);
    const bare = await client.getTask({ tenant: '', id: task.id, historyLength: 0 }, options);
    expect(bare.history).toEqual([]);
    const list = {
      tenant: '',
      contextId: task.contextId,
      status: TaskState.TASK_STATE_COMPLETED,
      pageToken: '',
      statusTimestampAfter: task.status?.timestamp,
    };
    const page = await client.listTasks({ ...list, pageSize: 1 }, options);
    expect(page).toMatchObject({ totalSize: 1, nextPageToken: '', pageSize: 1 });
    expect(page.tasks.map(({ id, artifacts }) => [id, artifacts])).toEqual([[task.id, []]]);
    const whole = await client.listTasks({ ...list, includeArtifacts: true }, options);
    expect(whole.tasks[0]?.artifacts).toEqual(task.artifacts);
    const card = await refused(client.getExtendedAgentCard({ tenant: '' }, options));
    expect(card).toBeInstanceOf(UnsupportedOperationError);
  });

  it('streams, and is subscribed to', async () => {
    const door = gate();
    const agent = await start(async (desk) => {
      desk.task();
      await door.passed;
      desk.artifact('a', 'done');
      desk.status(TaskState.TASK_STATE_COMPLETED);
    });
    const client = await transportTo(agent, kind);
    const options = by(agent.keys.alice);
    const events = client.sendMessageStream(request('hello'), options);
    const first = (await events.next()).value;
    if (first?.payload?.$case !== 'task') throw new Error('no task first');
    const { id } = first.payload.value;
    const other = client.resubscribeTask({ tenant: '', id }, options);
    const snapshot = await other.next();
    expect(snapshot.value).toMatchObject({ payload: { $case: 'task', value: { id } } });
    door.open();
    const rest = ['artifactUpdate', 'statusUpdate'];
    expect((await all(events)).map(caseOf)).toEqual(rest);
    expect((await all(other)).map(caseOf)).toEqual(rest);
    const again = all(client.resubscribeTask({ tenant: '', id }, options));
    expect(await refused(again)).toBeInstanceOf(UnsupportedOperationError);
  });

  it('is asked to cancel', async () => {
    const executor = new Scripted(
      ({ task }) => {
        task();
        return new Promise<void>(() => undefined);
      },
      (taskId, bus) => {
        const status = {
          state: TaskState.TASK_STATE_CANCELED,
          message: undefined,
          timestamp: undefined,
        };
        const data = { taskId, contextId: '', status, metadata: undefined };
        bus.publish({ kind: 'statusUpdate', data });
        return Promise.resolve();
      },
    );
    const agent = await start(executor);
    const client = await transportTo(agent, kind);
    const options = by(agent.keys.alice);
    const sent = client.sendMessage(request('hello', {}, { returnImmediately: true }), options);
    const { id } = taskOf(await sent);
    const cancelled = await client.cancelTask({ tenant: '', id, metadata: undefined }, options);
    expect(cancelled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    const again = client.cancelTask({ tenant: '', id, metadata: undefined }, options);
    expect(taskOf(await again).status?.state).toBe(TaskState.TASK_STATE_CANCELED);
  });

  it('does nothing for a caller without an identity', async () => {
    const agent = await start(echo, { push: undefined });
    const client = await transportTo(agent, kind);
    const about = { tenant: '', taskId: 't', id: 'c' };
    const calls = (options: RequestOptions): Promise<unknown>[] => [
      client.sendMessage(request('x'), options),
      all(client.sendMessageStream(request('x'), options)),
      client.getTask({ tenant: '', id: 't' }, options),
      client.cancelTask({ tenant: '', id: 't', metadata: undefined }, options),
      all(client.resubscribeTask({ tenant: '', id: 't' }, options)),
      client.listTasks(anyTask, options),
      client.createTaskPushNotificationConfig(
        { ...about, url: 'https://a.example/', token: '', authentication: undefined },
        options,
      ),
      client.getTaskPushNotificationConfig(about, options),
      client.listTaskPushNotificationConfig({ ...about, pageSize: 0, pageToken: '' }, options),
      client.deleteTaskPushNotificationConfig(about, options),
      client.getExtendedAgentCard({ tenant: '' }, options),
    ];
    for (const key of [undefined, 'Bearer nobody']) {
      const codes = await Promise.all(calls(by(key)).map(codeOf));
      expect(new Set(codes)).toEqual(new Set(['unauthenticated']));
    }
    expect(agent.ports.writes).toEqual([]);
    expect(agent.executor.runs).toBe(0);
  });

  it('refuses what is not the caller’s exactly like what is not there', async () => {
    const agent = await start(async (desk) => {
      desk.task();
      await new Promise<void>(() => undefined);
    });
    const client = await transportTo(agent, kind);
    const sent = client.sendMessage(
      request('hello', {}, { returnImmediately: true }),
      by(agent.keys.alice),
    );
    const { id, contextId } = taskOf(await sent);
    const writes = [...agent.ports.writes];
    for (const key of [agent.keys.bob, agent.keys.otherAlice]) {
      const options = by(key);
      const answers = async (taskId: string) => {
        const calls = [
          client.getTask({ tenant: '', id: taskId }, options),
          client.cancelTask({ tenant: '', id: taskId, metadata: undefined }, options),
          all(client.resubscribeTask({ tenant: '', id: taskId }, options)),
          client.sendMessage(request('x', { taskId }), options),
          client.sendMessage(request('x', { referenceTaskIds: [taskId] }), options),
        ];
        const errors = await Promise.all(calls.map(refused));
        return errors.map(({ name, message }) => [name, message.replaceAll(taskId, 'ID')]);
      };
      expect(await answers(id)).toEqual(await answers('task-that-is-not-there'));
      expect(await codeOf(client.sendMessage(request('x', { contextId }), options))).toBe(
        'context-refused',
      );
      const page = await client.listTasks({ ...anyTask, contextId }, options);
      expect(page).toMatchObject({ tasks: [], totalSize: 0 });
    }
    expect(agent.ports.writes).toEqual(writes);
  });

  it('takes a tenant for a claim: the caller’s own passes, another one does not exist', async () => {
    const agent = await start(echo);
    const client = await transportTo(agent, kind);
    const options = by(agent.keys.alice);
    const own = { ...request('hello'), tenant: alice.tenant };
    const { id } = taskOf(await client.sendMessage(own, options));
    expect((await client.getTask({ tenant: alice.tenant, id }, options)).id).toBe(id);
    const writes = [...agent.ports.writes];
    for (const tenant of ['globex', 'no-such-tenant']) {
      const calls = [
        client.getTask({ tenant, id }, options),
        client.sendMessage({ ...request('x'), tenant }, options),
        all(client.sendMessageStream({ ...request('x'), tenant }, options)),
        client.cancelTask({ tenant, id, metadata: undefined }, options),
        all(client.resubscribeTask({ tenant, id }, options)),
        client.listTasks({ ...anyTask, tenant }, options),
        client.getExtendedAgentCard({ tenant }, options),
      ];
      for (const error of await Promise.all(calls.map(refused))) {
        expect(error).toBeInstanceOf(TaskNotFoundError);
      }
    }
    expect(agent.ports.writes).toEqual(writes);
  });

  it.each([
    ['another version', { 'a2a-version': '2.0' }, 'unsupported'],
    ['a cursor that is none', { 'last-event-id': 'x' }, 'invalid'],
  ])('refuses %s', async (_what, headers, code) => {
    const agent = await start(echo);
    const client = await transportTo(agent, kind);
    const call = client.sendMessage(request('x'), by(agent.keys.alice, headers));
    expect(await codeOf(call)).toBe(code);
    expect(agent.ports.writes).toEqual([]);
  });

  it.each([
    ['an id that is no segment', { messageId: '../victim' }],
    ['an id without end', { contextId: 'c'.repeat(1_000) }],
    ['no parts', { parts: [] }],
    ['the wrong role', { role: 'ROLE_AGENT' }],
    ['metadata that nests without end', { metadata: { a: nested(60) } }],
    ['an envelope that is none', { metadata: { [correlationExtension]: { v: 1, dialog: 5 } } }],
  ])('refuses %s by name and writes nothing', async (_what, more) => {
    const agent = await start(echo);
    const client = await transportTo(agent, kind);
    const options = by(agent.keys.alice);
    const error = await refused(client.sendMessage(request('x', more), options));
    // What breaks JSON-RPC's own rules is said in its words, with a code of its own.
    expect(['RequestMalformedError', 'JsonRpcTransportError']).toContain(error.name);
    expect(agent.ports.writes).toEqual([]);
    expect(agent.executor.runs).toBe(0);
  });

  it('refuses a list filter that means nothing', async () => {
    const agent = await start(echo);
    const client = await transportTo(agent, kind);
    const options = by(agent.keys.alice);
    for (const more of [
      { pageSize: 1_000 },
      { historyLength: -1 },
      { statusTimestampAfter: 'yesterday' },
    ]) {
      const asked = { ...anyTask, ...more };
      // On gRPC a time is a number of seconds; what is none is the client's own failure.
      if (kind === 'grpc' && 'statusTimestampAfter' in more) continue;
      expect(await codeOf(client.listTasks(asked, options))).toBe('invalid');
    }
  });

  it('refuses a message over the limit unread', async () => {
    const agent = await start(echo, { bodyLimit: 10_000 });
    const client = await transportTo(agent, kind);
    const call = client.sendMessage(request('x'.repeat(100_000)), by(agent.keys.alice));
    const error = await refused(call);
    expect(['too-large', 'quota', 'invalid']).toContain(fromA2aError(error, 'peer').code);
    expect(agent.ports.writes).toEqual([]);
  });

  it('says that a limit is reached, and when it pays to come again', async () => {
    const agent = await start(echo);
    const details = { retryAfterSeconds: 40 };
    const quota = new ThroughlineError('quota', 'no more this minute', {
      details,
      retryable: true,
    });
    agent.ports.admit = () => Promise.reject(quota);
    const client = await transportTo(agent, kind);
    const error = await refused(client.sendMessage(request('x'), by(agent.keys.alice)));
    expect(fromA2aError(error, 'peer').code).toBe('quota');
    const metadata = expect.objectContaining({ retryAfterSeconds: '40' });
    const info = expect.objectContaining({ reason: 'RESOURCE_EXHAUSTED', metadata });
    const places = {
      jsonrpc: { envelopeCode: -32_000, data: [info] },
      'http-json': { statusCode: 429 },
      grpc: { status: 8 },
    };
    expect(error).toMatchObject(places[kind]);
  });

  it('tells nobody what went wrong inside', async () => {
    const agent = await start(echo);
    agent.ports.loadTask = () => Promise.reject(new Error('password hunter2 at /var/lib'));
    const client = await transportTo(agent, kind);
    const error = await refused(client.getTask({ tenant: '', id: 'x' }, by(agent.keys.alice)));
    expect(error.message).not.toContain('hunter2');
    expect(fromA2aError(error, 'peer').code).toBe('internal');
  });

  it('shows a card of its own to callers with an identity', async () => {
    const agent = await start(echo);
    const { card } = agent.served;
    const extendedCard = { ...card, description: 'With the internal skills' };
    const more = await start(echo, { extendedCard });
    const client = await transportTo(more, kind);
    expect(more.served.card.capabilities?.extendedAgentCard).toBe(true);
    expect(
      (await client.getExtendedAgentCard({ tenant: '' }, by(more.keys.alice))).description,
    ).toBe('With the internal skills');
    expect(await codeOf(client.getExtendedAgentCard({ tenant: '' }, by(undefined)))).toBe(
      'unauthenticated',
    );
  });
});

function nested(depth: number): unknown {
  return depth === 0 ? 'x' : { a: nested(depth - 1) };
}
