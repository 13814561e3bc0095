import { SendMessageRequest, TaskState, type StreamResponse } from '@a2a-js/sdk';
import {
  ClientFactory,
  ClientFactoryOptions,
  JsonRpcTransportFactory,
  type Client,
} from '@a2a-js/sdk/client';
import { describe, expect, it } from 'vitest';
import { correlationExtension } from '../../model/envelope.ts';
import { echo, post, rpc, Scripted, wireMessage } from './conformance.ts';
import { start } from './conformance/started.ts';

/** The SDK's own client, with nothing of ours but an Authorization header. */
async function sdkClient(url: string, key: string): Promise<Client> {
  const withKey: typeof fetch = (input, init) =>
    fetch(input, {
      ...init,
      headers: { ...Object.fromEntries(new Headers(init?.headers)), authorization: key },
    });
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    transports: [new JsonRpcTransportFactory({ fetchImpl: withKey })],
  });
  return new ClientFactory(options).createFromUrl(url);
}

const request = (text: string, more: Record<string, unknown> = {}): SendMessageRequest =>
  SendMessageRequest.fromJSON({ message: wireMessage(text, more) });

const states = (updates: readonly StreamResponse[]): unknown[] =>
  updates.map(({ payload }) =>
    payload?.$case === 'task' || payload?.$case === 'statusUpdate'
      ? [payload.$case, payload.value.status?.state]
      : [payload?.$case],
  );

describe('a plain A2A client against our server', () => {
  it('sends, reads and lists', async () => {
    const { url, keys } = await start(echo);
    const client = await sdkClient(url, keys.alice);
    const task = await client.sendMessage(request('hello'));
    if (!('status' in task)) throw new Error('not a task');
    expect(task.contextId).toMatch(/^ctx_/);
    expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(task.artifacts[0]?.parts[0]?.content).toEqual({ $case: 'text', value: 'hello' });
    expect(task.history.every(({ contextId }) => contextId === task.contextId)).toBe(true);
    expect(await client.getTask({ tenant: '', id: task.id })).toEqual(task);
    const page = await client.listTasks({
      tenant: '',
      contextId: task.contextId,
      status: TaskState.TASK_STATE_UNSPECIFIED,
      pageToken: '',
      statusTimestampAfter: undefined,
    });
    expect(page).toMatchObject({ totalSize: 1, nextPageToken: '', pageSize: 50 });
    expect(page.tasks.map(({ id, artifacts }) => [id, artifacts])).toEqual([[task.id, []]]);
  });

  it('streams: a task, then its updates, each in the same context', async () => {
    const { url, keys } = await start(echo);
    const client = await sdkClient(url, keys.alice);
    const updates: StreamResponse[] = [];
    for await (const update of client.sendMessageStream(request('hello'))) updates.push(update);
    expect(states(updates)).toEqual([
      ['task', TaskState.TASK_STATE_WORKING],
      ['artifactUpdate'],
      ['statusUpdate', TaskState.TASK_STATE_COMPLETED],
    ]);
    const contexts = updates.map(({ payload }) => payload?.value.contextId);
    expect(new Set(contexts).size).toBe(1);
  });

  it('cancels', async () => {
    const executor = new Scripted(
      ({ task, context: { taskId } }) =>
        new Promise((resolve) => {
          task();
          stopped.set(taskId, resolve);
        }),
      async (taskId, bus) => {
        stopped.get(taskId)?.();
        const status = {
          state: TaskState.TASK_STATE_CANCELED,
          message: undefined,
          timestamp: undefined,
        };
        bus.publish({
          kind: 'statusUpdate',
          data: { taskId, contextId: '', status, metadata: undefined },
        });
        await Promise.resolve();
      },
    );
    const stopped = new Map<string, () => void>();
    const { url, keys, ports } = await start(executor);
    const client = await sdkClient(url, keys.alice);
    const task = await client.sendMessage({
      ...request('hello'),
      configuration: {
        returnImmediately: true,
        acceptedOutputModes: [],
        taskPushNotificationConfig: undefined,
      },
    });
    if (!('status' in task)) throw new Error('not a task');
    expect(task.status?.state).toBe(TaskState.TASK_STATE_WORKING);
    const cancelled = await client.cancelTask({ tenant: '', id: task.id, metadata: undefined });
    expect(cancelled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    expect(ports.seen('cancel-request')).toMatchObject([
      { taskId: task.id, client: { principal: 'alice' } },
    ]);
  });
});

describe('what comes over the wire', () => {
  it('shows a card that declares the extension and its terms', async () => {
    const { url } = await start(echo, { terms: { contextPolicy: 'refuse', contextSeconds: 60 } });
    const card = await (await fetch(new URL('.well-known/agent-card.json', url))).json();
    expect(card).toMatchObject({
      supportedInterfaces: [
        { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
        { url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
        { url, protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
      ],
      capabilities: {
        pushNotifications: false,
        extendedAgentCard: false,
        extensions: [
          { uri: correlationExtension, params: { contextPolicy: 'refuse', contextSeconds: 60 } },
        ],
      },
    });
  });

  it.each([
    ['not JSON', '{"jsonrpc":', -32_700],
    ['a key twice', '{"jsonrpc":"2.0","id":1,"id":2,"method":"GetTask","params":{}}', -32_700],
    ['too deep', `{"a":${'['.repeat(40)}${']'.repeat(40)}}`, -32_700],
    ['a lone surrogate', '{"jsonrpc":"2.0","id":"\\ud800","method":"GetTask"}', -32_700],
    ['a batch', '[]', -32_600],
    ['another version', '{"jsonrpc":"1.0","id":7,"method":"GetTask"}', -32_600],
    ['an object as id', '{"jsonrpc":"2.0","id":{},"method":"GetTask"}', -32_600],
    ['no method', '{"jsonrpc":"2.0","id":7}', -32_600],
    ['params that are a list', '{"jsonrpc":"2.0","id":7,"method":"GetTask","params":[]}', -32_600],
    ['an unknown method', '{"jsonrpc":"2.0","id":7,"method":"Nope","params":{}}', -32_601],
    ['a name of no method', '{"jsonrpc":"2.0","id":7,"method":"constructor"}', -32_601],
  ])('answers %s with its own code', async (_, body, code) => {
    const { url, keys, ports } = await start(echo);
    const answer = await post(url, keys.alice, body);
    expect(answer).toMatchObject({ status: 200, body: { error: { code } } });
    expect(ports.writes).toEqual([]);
  });

  it.each([
    ['SendMessage', { message: wireMessage('x', { context_id: 123 }) }, 'contextId'],
    [
      'SendMessage',
      { message: wireMessage('x', { reference_task_ids: 'abc' }) },
      'referenceTaskIds',
    ],
    [
      'SendMessage',
      { message: wireMessage('x', { contextId: 'a', context_id: 'b' }) },
      'context_id',
    ],
    [
      'SendMessage',
      { message: wireMessage('x', { parts: [{ text: 'x', media_type: 1 }] }) },
      'mediaType',
    ],
    [
      'SendMessage',
      { message: wireMessage('x'), configuration: { history_length: 'x' } },
      'historyLength',
    ],
    ['SendStreamingMessage', { message: wireMessage('x', { task_id: [] }) }, 'taskId'],
    ['ListTasks', { context_id: ['a'] }, 'contextId'],
    ['ListTasks', { page_size: 1_000 }, 'pageSize'],
    ['CreateTaskPushNotificationConfig', { task_id: 7, url: 'https://hooks.example' }, 'taskId'],
  ])(
    'lets nothing past the checks of %s by the names of protobuf: %j',
    async (method, params, field) => {
      const { url, keys, ports, executor } = await start(echo);
      ports.policy = 'adopt';
      const { body } = await rpc(url, keys.alice, method, params);
      const message = expect.stringContaining(`${field}: `);
      expect(body.error).toMatchObject({ code: -32_602, message });
      expect([ports.writes, executor.runs]).toEqual([[], 0]);
    },
  );

  it('reads a field by the name of protobuf as by its own, and none of a prototype', async () => {
    const { url, keys } = await start(echo);
    const first = await rpc(url, keys.alice, 'SendMessage', { message: wireMessage('x') });
    const { contextId } = Object(first.body.result?.['task']);
    const params = { message: wireMessage('x', { context_id: contextId }) };
    const { body } = await rpc(url, keys.alice, 'SendMessage', params);
    expect(body.result).toMatchObject({ task: { contextId } });
    const hidden = JSON.stringify({ message: wireMessage('x') }).replace(
      '{"message":{',
      '{"message":{"__proto__":{"contextId":"evil","context_id":"evil"},',
    );
    const text = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":${hidden}}`;
    const answer = await post(url, keys.alice, text);
    expect(Object(answer.body.result?.['task']).contextId).toMatch(/^ctx_/);
  });

  it('takes the version from the query where no header names one', async () => {
    const { url, keys } = await start(echo);
    const versions: unknown[] = [];
    for (const query of ['', '?A2A-Version=1.0']) {
      const headers = { 'a2a-version': '' };
      const { body } = await rpc(url + query, keys.alice, 'ListTasks', {}, headers);
      versions.push(body.error?.code ?? body.result?.['totalSize']);
    }
    expect(versions).toEqual([-32_601, 0]);
  });

  it('takes a method without parameters where it needs none', async () => {
    const { url, keys } = await start(echo);
    const answer = await post(url, keys.alice, '{"jsonrpc":"2.0","id":7,"method":"ListTasks"}');
    expect(answer.body).toMatchObject({ id: 7, result: { totalSize: 0 } });
  });

  it('answers bytes that are not UTF-8 as no JSON', async () => {
    const { url, keys } = await start(echo);
    const answer = await post(url, keys.alice, Uint8Array.of(0x22, 0xff, 0x22));
    expect(answer.body.error?.code).toBe(-32_700);
  });

  it('refuses a body over the limit with 413, without reading it', async () => {
    const { url, keys, ports } = await start(echo, { bodyLimit: 10_000 });
    const answer = await rpc(url, keys.alice, 'SendMessage', {
      message: wireMessage('x'.repeat(2_000_000)),
    });
    expect(answer).toMatchObject({ status: 413, body: { error: { code: -32_602 } } });
    expect(ports.writes).toEqual([]);
  });

  it.each([
    ['not whole', '1'],
    ['older than any', '0.2'],
    ['one to come', '2.0'],
  ])('refuses an A2A-Version that is %s', async (_, version) => {
    const { url, keys } = await start(echo);
    const answer = await rpc(url, keys.alice, 'GetTask', { id: 'x' }, { 'a2a-version': version });
    expect(answer.body).toMatchObject({ id: 1, error: { code: -32_009 } });
  });

  it.each([
    ['params.message', {}],
    ['params.message.parts', { message: wireMessage('x', { parts: 'text' }) }],
    ['params.message.parts.0', { message: wireMessage('x', { parts: [{ text: 'a', url: 'b' }] }) }],
    ['params.message.parts.0', { message: wireMessage('x', { parts: [{}] }) }],
    ['params.message.messageId', { message: wireMessage('x', { messageId: 123 }) }],
    ['params.message.referenceTaskIds', { message: wireMessage('x', { referenceTaskIds: 'a' }) }],
    ['params.message.metadata', { message: wireMessage('x', { metadata: [] }) }],
    [
      'params.configuration.historyLength',
      { message: wireMessage('x'), configuration: { historyLength: -1 } },
    ],
    [
      'params.configuration.returnImmediately',
      { message: wireMessage('x'), configuration: { returnImmediately: 'no' } },
    ],
    ['message.messageId', { message: wireMessage('x', { messageId: '' }) }],
    ['message.messageId', { message: wireMessage('x', { messageId: 'm'.repeat(1_000) }) }],
    ['message.messageId', { message: wireMessage('x', { messageId: '../victim' }) }],
    ['message.contextId', { message: wireMessage('x', { contextId: 'u1/sessions/s2' }) }],
    ['message.contextId', { message: wireMessage('x', { contextId: '..%2Fvictim' }) }],
    ['message.taskId', { message: wireMessage('x', { taskId: 'a\u0000b' }) }],
    ['message.role', { message: wireMessage('x', { role: 'ROLE_AGENT' }) }],
    ['message.parts', { message: wireMessage('x', { parts: [] }) }],
    [
      correlationExtension,
      { message: wireMessage('x', { metadata: { [correlationExtension]: { v: 1, dialog: 5 } } }) },
    ],
    [
      correlationExtension,
      {
        message: wireMessage('x', {
          metadata: { [correlationExtension]: { v: 1, x: 'y'.repeat(20_000) } },
        }),
      },
    ],
  ])('names what is wrong (%s) and writes nothing', async (field, params) => {
    const { url, keys, ports, executor } = await start(echo);
    const answer = await rpc(url, keys.alice, 'SendMessage', params);
    expect(answer.body.error).toMatchObject({
      code: -32_602,
      message: expect.stringContaining(field),
    });
    expect(ports.writes).toEqual([]);
    expect(executor.runs).toBe(0);
  });

  it('ignores an envelope of a version it does not know', async () => {
    const { url, keys, ports } = await start(echo);
    const metadata = { [correlationExtension]: { v: 99, anything: [] } };
    const answer = await rpc(url, keys.alice, 'SendMessage', {
      message: wireMessage('x', { metadata }),
    });
    expect(answer.body.error).toBeUndefined();
    expect(ports.seen('message')[0]?.envelope).toBeUndefined();
  });

  it('echoes A2A-Extensions, on streams too', async () => {
    const { url, keys } = await start(echo);
    const asked = { 'a2a-extensions': `https://example.com/other, ${correlationExtension}` };
    const params = { message: wireMessage('x') };
    const unary = await rpc(url, keys.alice, 'SendMessage', params, asked);
    expect(unary.headers.get('a2a-extensions')).toBe(correlationExtension);
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params });
    const stream = await fetch(url, {
      method: 'POST',
      body,
      headers: {
        authorization: keys.alice,
        'a2a-version': '1.0',
        'content-type': 'application/json',
        ...asked,
      },
    });
    expect(stream.headers.get('content-type')).toContain('text/event-stream');
    expect(stream.headers.get('a2a-extensions')).toBe(correlationExtension);
    await stream.text();
  });

  it('beats while nothing happens', async () => {
    const wait = Promise.withResolvers<void>();
    const { url, keys } = await start(
      async (desk) => {
        desk.task();
        await wait.promise;
        desk.status(TaskState.TASK_STATE_COMPLETED);
      },
      { heartbeatMs: 5 },
    );
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'SendStreamingMessage',
      params: { message: wireMessage('x') },
    });
    const response = await fetch(url, {
      method: 'POST',
      body,
      headers: {
        authorization: keys.alice,
        'a2a-version': '1.0',
        'content-type': 'application/json',
      },
    });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('\n\n:\n\n')) text += (await reader?.read())?.value ?? '';
    wait.resolve();
    for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) {
      text += next.value;
    }
    expect(text).toContain('TASK_STATE_COMPLETED');
  });

  it('offers neither push notifications nor an extended card', async () => {
    const { url, keys } = await start(echo);
    const push = await rpc(url, keys.alice, 'CreateTaskPushNotificationConfig', {
      taskId: 'x',
      url: 'http://a/',
    });
    expect(push.body.error?.code).toBe(-32_003);
    const card = await rpc(url, keys.alice, 'GetExtendedAgentCard', {});
    expect(card.body.error?.code).toBe(-32_004);
  });

  it('tells nobody what went wrong inside', async () => {
    const { url, keys, ports } = await start(echo);
    ports.loadTask = () => Promise.reject(new Error('password hunter2 at /var/lib'));
    const answer = await rpc(url, keys.alice, 'GetTask', { id: 'x' });
    expect(answer.body.error?.code).toBe(-32_603);
    expect(JSON.stringify(answer.body)).not.toContain('hunter2');
  });

  it('goes to who asked, though many ask at once under one JSON-RPC id', async () => {
    const { url, keys } = await start(echo);
    const texts = Array.from({ length: 37 }, (_, i) => `words of ${i % 2 ? 'bob' : 'alice'} ${i}`);
    const answers = await Promise.all(
      texts.map((text, i) =>
        rpc(url, i % 2 ? keys.bob : keys.alice, 'SendMessage', { message: wireMessage(text) }),
      ),
    );
    for (const [i, { body }] of answers.entries()) {
      const others = texts.filter((text) => text !== texts[i]);
      expect(body.id).toBe(1);
      expect(body.result).toMatchObject({ task: { artifacts: [{ parts: [{ text: texts[i] }] }] } });
      expect(others.filter((text) => JSON.stringify(body).includes(`"${text}"`))).toEqual([]);
    }
  });
});
