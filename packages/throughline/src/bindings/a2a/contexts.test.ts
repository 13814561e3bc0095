import { randomUUID } from 'node:crypto';
import { TaskState } from '@a2a-js/sdk';
import { describe, expect, it } from 'vitest';
import { echo, gate, rpc, Scripted, wireMessage, type RpcAnswer } from './conformance.ts';
import { type Agent, start } from './conformance/started.ts';

interface WireTask {
  readonly id: string;
  readonly contextId: string;
  readonly status: { readonly state: string };
  readonly history?: readonly Record<string, unknown>[];
  readonly artifacts?: readonly unknown[];
}
const isTask = (value: unknown): value is WireTask =>
  typeof value === 'object' && value !== null && 'id' in value && 'contextId' in value;
const taskIn = (answer: RpcAnswer): WireTask => {
  const task = answer.body.result?.['task'] ?? answer.body.result;
  if (!isTask(task)) throw new Error(`no task in ${JSON.stringify(answer.body)}`);
  return task;
};
const send = (
  { url }: Agent,
  key: string | undefined,
  text: string,
  more: Record<string, unknown> = {},
): Promise<RpcAnswer> => rpc(url, key, 'SendMessage', { message: wireMessage(text, more) });

/** Asks for input at the first turn, is done at the second. */
const asksOnce = new Scripted(({ context, task, status }) => {
  task(TaskState.TASK_STATE_WORKING);
  if (context.task === undefined) status(TaskState.TASK_STATE_INPUT_REQUIRED, 'which currency?');
  else status(TaskState.TASK_STATE_COMPLETED);
});

describe('contexts', () => {
  it('come back on the task and on every message of it', async () => {
    const agent = await start(echo);
    const task = taskIn(await send(agent, agent.keys.alice, 'one'));
    expect(task.contextId).toMatch(/^ctx_/);
    expect(task.history).toMatchObject([{ contextId: task.contextId, taskId: task.id }]);
  });

  it('take a further task when named without a task', async () => {
    const agent = await start(echo);
    const first = taskIn(await send(agent, agent.keys.alice, 'one'));
    const { contextId } = first;
    const second = taskIn(await send(agent, agent.keys.alice, 'two', { contextId }));
    expect(second).toMatchObject({ contextId });
    expect(second.id).not.toBe(first.id);
  });

  it('are inferred from a task alone, and the task goes on', async () => {
    const agent = await start(asksOnce);
    const first = taskIn(await send(agent, agent.keys.alice, 'rate?'));
    expect(first.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const second = taskIn(await send(agent, agent.keys.alice, 'CAD', { taskId: first.id }));
    expect(second).toMatchObject({
      id: first.id,
      contextId: first.contextId,
      status: { state: 'TASK_STATE_COMPLETED' },
    });
    const texts = second.history?.map(({ parts }) => parts);
    const [asked, question, answer] = ['rate?', 'which currency?', 'CAD'];
    expect(texts).toMatchObject([[{ text: asked }], [{ text: question }], [{ text: answer }]]);
    expect(agent.ports.seen('message').map(({ taskId, objective }) => [taskId, objective])).toEqual(
      [
        [first.id, 'rate?'],
        [first.id, 'CAD'],
      ],
    );
  });

  it('refuse a task of another context, and nothing is written', async () => {
    const agent = await start(asksOnce);
    const task = taskIn(await send(agent, agent.keys.alice, 'one'));
    const other = taskIn(await send(agent, agent.keys.alice, 'two'));
    const before = structuredClone([...agent.ports.records]);
    const writes = agent.ports.writes.length;
    const { contextId } = other;
    const answer = await send(agent, agent.keys.alice, 'three', { taskId: task.id, contextId });
    expect(answer.body.error?.code).toBe(-32_602);
    expect([...agent.ports.records]).toEqual(before);
    expect(agent.ports.writes).toHaveLength(writes);
  });

  it('never make a task with an id that a client brings', async () => {
    const agent = await start(echo);
    const answer = await send(agent, agent.keys.alice, 'one', { taskId: 'typo' });
    expect(answer.body.error?.code).toBe(-32_001);
    expect(agent.ports.records.size).toBe(0);
    expect(agent.executor.runs).toBe(0);
  });

  it('that were not issued, are expired or are somebody else’s are refused alike', async () => {
    const agent = await start(echo);
    const bobs = taskIn(await send(agent, agent.keys.bob, 'mine')).contextId;
    const expired = taskIn(await send(agent, agent.keys.alice, 'old')).contextId;
    const context = agent.ports.contexts.get(expired);
    if (context !== undefined) context.expired = true;
    const runs = agent.executor.runs;
    const unknown = `ctx_${randomUUID()}`;
    const answers = await Promise.all(
      [unknown, bobs, expired].map(async (contextId) => {
        const { body } = await send(agent, agent.keys.alice, 'x', { contextId });
        return JSON.stringify(body).replaceAll(contextId, '…');
      }),
    );
    expect(new Set(answers).size).toBe(1);
    expect(JSON.parse(answers[0] ?? '')).toMatchObject({
      error: { code: -32_602, data: [{ metadata: { code: 'context-refused' } }] },
    });
    expect(agent.executor.runs).toBe(runs);
  });

  it('that a client brings are echoed unchanged where the hub adopts them', async () => {
    const agent = await start(echo);
    agent.ports.policy = 'adopt';
    const task = taskIn(await send(agent, agent.keys.alice, 'x', { contextId: 'sess-8842' }));
    expect(task.contextId).toBe('sess-8842');
    const bob = await send(agent, agent.keys.otherAlice, 'x', { contextId: 'sess-8842' });
    expect(bob.body.error?.code).toBe(-32_602);
  });
});

describe('whoever calls', () => {
  const methods: readonly (readonly [string, (id: string) => unknown])[] = [
    ['GetTask', (id) => ({ id })],
    ['CancelTask', (id) => ({ id })],
    ['SubscribeToTask', (id) => ({ id })],
    ['SendMessage', (taskId) => ({ message: wireMessage('x', { taskId, messageId: 'fixed' }) })],
    [
      'SendStreamingMessage',
      (taskId) => ({ message: wireMessage('x', { taskId, messageId: 'fixed' }) }),
    ],
    [
      'SendMessage',
      (id) => ({ message: wireMessage('x', { messageId: 'refs', referenceTaskIds: [id] }) }),
    ],
  ];

  it.each([
    'SendMessage',
    'SendStreamingMessage',
    'GetTask',
    'ListTasks',
    'CancelTask',
    'SubscribeToTask',
    'GetExtendedAgentCard',
    'Nope',
  ])('without a key gets 401 and nothing else: %s', async (method) => {
    const agent = await start(echo);
    for (const key of [undefined, 'Bearer wrong']) {
      const answer = await rpc(agent.url, key, method, { id: 'x', message: wireMessage('x') });
      expect(answer).toMatchObject({ status: 401, body: { id: null, error: { code: -32_000 } } });
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
    expect(agent.ports.writes).toEqual([]);
  });

  it.each(methods)('sees a foreign task as a missing one: %s', async (method, params) => {
    const agent = await start(asksOnce);
    const task = taskIn(await send(agent, agent.keys.alice, 'one'));
    const missing = randomUUID();
    const writes = agent.ports.writes.length;
    const [foreign, none, elsewhere] = await Promise.all([
      rpc(agent.url, agent.keys.bob, method, params(task.id)),
      rpc(agent.url, agent.keys.bob, method, params(missing)),
      rpc(agent.url, agent.keys.otherAlice, method, params(task.id)),
    ]);
    expect(foreign.body.error?.code).toBe(-32_001);
    const same = JSON.stringify(foreign.body).replaceAll(task.id, missing);
    expect(same).toBe(JSON.stringify(none.body));
    expect(elsewhere.body).toEqual(foreign.body);
    expect(agent.ports.writes).toHaveLength(writes);
    expect(agent.ports.seen('cancel-request')).toEqual([]);
  });

  it('lists nothing of others, in neither tenant', async () => {
    const agent = await start(echo);
    const { contextId } = taskIn(await send(agent, agent.keys.alice, 'one'));
    for (const key of [agent.keys.bob, agent.keys.otherAlice]) {
      for (const params of [{}, { contextId }]) {
        const { body } = await rpc(agent.url, key, 'ListTasks', params);
        expect(body.result).toEqual({ tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 });
      }
    }
  });

  it('goes on with a case after a grant, and its task is its own', async () => {
    const agent = await start(echo);
    const { contextId, id } = taskIn(await send(agent, agent.keys.alice, 'one'));
    agent.ports.contexts.get(contextId)?.grantees.add('bob');
    const task = taskIn(await send(agent, agent.keys.bob, 'two', { contextId }));
    expect(task.contextId).toBe(contextId);
    expect(agent.ports.records.get(task.id)?.owner).toBe('bob');
    const { body } = await rpc(agent.url, agent.keys.bob, 'ListTasks', { contextId });
    expect(body.result).toMatchObject({ totalSize: 2 });
    expect(taskIn(await rpc(agent.url, agent.keys.bob, 'GetTask', { id })).id).toBe(id);
  });

  it('is the same whatever tenant the request claims', async () => {
    const agent = await start(echo);
    const task = taskIn(await send(agent, agent.keys.alice, 'one'));
    const params = { id: task.id, tenant: 'acme' };
    const answer = await rpc(agent.url, agent.keys.otherAlice, 'GetTask', params);
    expect(answer.body.error?.code).toBe(-32_001);
  });
});

describe('lists', () => {
  it('walk by pages, filter by state and time, and shorten histories', async () => {
    const agent = await start(asksOnce);
    const first = taskIn(await send(agent, agent.keys.alice, 'a'));
    const { contextId } = first;
    await send(agent, agent.keys.alice, 'b', { contextId });
    await send(agent, agent.keys.alice, 'c', { contextId });
    const found: string[] = [];
    let pageToken = '';
    do {
      const { body } = await rpc(agent.url, agent.keys.alice, 'ListTasks', {
        contextId,
        pageSize: 2,
        pageToken,
        historyLength: 0,
      });
      expect(body.result).toMatchObject({ totalSize: 3, pageSize: 2 });
      const tasks = body.result?.['tasks'];
      for (const task of Array.isArray(tasks) ? tasks : []) {
        if (!isTask(task)) throw new Error('no task');
        expect(task.history).toBeUndefined();
        found.push(task.id);
      }
      pageToken = String(body.result?.['nextPageToken']);
    } while (pageToken !== '');
    expect(new Set(found).size).toBe(3);
    const at = agent.ports.records.get(first.id)?.statusAt;
    const count = async (params: Record<string, unknown>): Promise<unknown> =>
      (await rpc(agent.url, agent.keys.alice, 'ListTasks', params)).body.result?.['totalSize'];
    expect(await count({ statusTimestampAfter: at })).toBe(3);
    expect(await count({ status: 'TASK_STATE_INPUT_REQUIRED' })).toBe(3);
    expect(await count({ status: 'TASK_STATE_AUTH_REQUIRED' })).toBe(0);
    expect(await count({ contextId: `ctx_${randomUUID()}` })).toBe(0);
  });

  it('leave artifacts out unless asked for', async () => {
    const agent = await start(echo);
    await send(agent, agent.keys.alice, 'a');
    const list = async (params: unknown): Promise<string> =>
      JSON.stringify((await rpc(agent.url, agent.keys.alice, 'ListTasks', params)).body.result);
    expect(await list({})).not.toContain('artifacts');
    expect(await list({ includeArtifacts: true })).toContain('"artifactId":"answer"');
  });

  it.each([
    { pageSize: 0 },
    { pageSize: 101 },
    { status: 'TASK_STATE_NOPE' },
    { statusTimestampAfter: 'yesterday' },
    { historyLength: -1 },
    { contextId: 'c'.repeat(1_000) },
  ])('refuse %j', async (params) => {
    const agent = await start(echo);
    const answer = await rpc(agent.url, agent.keys.alice, 'ListTasks', params);
    expect(answer.body.error?.code).toBe(-32_602);
  });
});

describe('the same message again', () => {
  it('is answered with the same task and runs nothing', async () => {
    const agent = await start(echo);
    const messageId = randomUUID();
    const first = taskIn(await send(agent, agent.keys.alice, 'one', { messageId }));
    const again = taskIn(await send(agent, agent.keys.alice, 'one', { messageId }));
    expect(again).toEqual(first);
    expect(agent.executor.runs).toBe(1);
  });

  it('with other content is a conflict', async () => {
    const agent = await start(echo);
    const messageId = randomUUID();
    await send(agent, agent.keys.alice, 'one', { messageId });
    const answer = await send(agent, agent.keys.alice, 'two', { messageId });
    expect(answer.body.error).toMatchObject({
      code: -32_602,
      data: [{ metadata: { code: 'conflict' } }],
    });
    expect(agent.executor.runs).toBe(1);
  });

  it('of another caller is another message', async () => {
    const agent = await start(echo);
    const messageId = randomUUID();
    const alices = taskIn(await send(agent, agent.keys.alice, 'one', { messageId }));
    const bobs = taskIn(await send(agent, agent.keys.bob, 'one', { messageId }));
    expect(bobs.id).not.toBe(alices.id);
  });

  it('two hundred times at once makes one task, and the executor runs once', async () => {
    const agent = await start(echo);
    const messageId = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => send(agent, agent.keys.alice, 'one', { messageId })),
    );
    expect(new Set(answers.map((answer) => taskIn(answer).id)).size).toBe(1);
    expect(agent.executor.runs).toBe(1);
    expect(agent.ports.records.size).toBe(1);
  });

  it('while the first one runs waits for that', async () => {
    const door = gate();
    const agent = await start(async (desk) => {
      desk.task();
      await door.passed;
      desk.status(TaskState.TASK_STATE_COMPLETED);
    });
    const messageId = randomUUID();
    const answers = [1, 2, 3].map(() => send(agent, agent.keys.alice, 'one', { messageId }));
    while (agent.ports.records.size === 0) await new Promise(setImmediate);
    door.open();
    const tasks = (await Promise.all(answers)).map(taskIn);
    expect(new Set(tasks.map(({ id, status }) => `${id} ${status.state}`)).size).toBe(1);
    expect(agent.executor.runs).toBe(1);
  });

  it('that another process works on waits so long, then says: later', async () => {
    const agent = await start(echo, {
      waits: { replayMs: 100, record: { everyMs: 20, forMs: 50 } },
    });
    const message = wireMessage('one', { messageId: 'm1' });
    await rpc(agent.url, agent.keys.alice, 'SendMessage', { message });
    const known = [...agent.ports.messages.values()][0];
    if (known === undefined) throw new Error('not admitted');
    delete known.taskId;
    const answer = await rpc(agent.url, agent.keys.alice, 'SendMessage', { message });
    expect(answer.body.error).toMatchObject({
      code: -32_603,
      data: [{ metadata: { code: 'timeout', retryable: 'true' } }],
    });
    expect(agent.executor.runs).toBe(1);
  });

  it('joins the first one even where the hub has given that one up', async () => {
    const door = gate();
    const agent = await start(async (desk) => {
      await door.passed;
      desk.task(TaskState.TASK_STATE_COMPLETED);
    });
    const messageId = randomUUID();
    const first = send(agent, agent.keys.alice, 'one', { messageId });
    while (agent.executor.runs === 0) await new Promise(setImmediate);
    agent.ports.messages.clear();
    const again = send(agent, agent.keys.alice, 'one', { messageId });
    while (agent.ports.messages.size === 0) await new Promise(setImmediate);
    const { contextId } = agent.executor.requests[0] ?? { contextId: '' };
    for (const known of agent.ports.messages.values()) Object.assign(known, { contextId });
    door.open();
    expect(taskIn(await again)).toEqual(taskIn(await first));
    expect(agent.executor.runs).toBe(1);
  });

  it('gets a reply by message alone again, which is no task', async () => {
    const agent = await start(({ reply }) => reply('hello yourself'));
    const messageId = randomUUID();
    const first = await send(agent, agent.keys.alice, 'hello', { messageId });
    const again = await send(agent, agent.keys.alice, 'hello', { messageId });
    expect(first.body.result).toMatchObject({ message: { parts: [{ text: 'hello yourself' }] } });
    expect(JSON.stringify(first.body)).not.toContain('taskId');
    expect(again.body.result).toEqual(first.body.result);
    expect(agent.executor.runs).toBe(1);
    const { body } = await rpc(agent.url, agent.keys.alice, 'ListTasks', {});
    expect(body.result).toMatchObject({ totalSize: 0 });
    expect(agent.ports.seen('task')).toMatchObject([{ state: 'completed' }]);
  });
});

describe('a task that is over', () => {
  it('takes no message, and the refusal names the context to go on in', async () => {
    const agent = await start(echo);
    const task = taskIn(await send(agent, agent.keys.alice, 'one'));
    const answer = await send(agent, agent.keys.alice, 'more', { taskId: task.id });
    expect(answer.body.error).toMatchObject({
      code: -32_004,
      message: expect.stringContaining(task.contextId),
    });
    expect(agent.executor.runs).toBe(1);
    expect(taskIn(await rpc(agent.url, agent.keys.alice, 'GetTask', { id: task.id }))).toEqual(
      task,
    );
  });

  it('can be neither subscribed to nor cancelled', async () => {
    const agent = await start(echo);
    const { id } = taskIn(await send(agent, agent.keys.alice, 'one'));
    const subscribe = await rpc(agent.url, agent.keys.alice, 'SubscribeToTask', { id });
    expect(subscribe.body.error?.code).toBe(-32_004);
    const cancel = await rpc(agent.url, agent.keys.alice, 'CancelTask', { id });
    expect(cancel.body.error?.code).toBe(-32_002);
    expect(agent.ports.seen('cancel-request')).toEqual([]);
  });

  it('stays cancelled when its executor finishes after all', async () => {
    const door = gate();
    const late = gate();
    const agent = await start(
      new Scripted(
        async (desk) => {
          desk.task();
          await door.passed;
          desk.artifact('late', 'too late');
          desk.status(TaskState.TASK_STATE_COMPLETED);
          late.open();
        },
        async (taskId, bus) => {
          const status = {
            state: TaskState.TASK_STATE_CANCELED,
            message: undefined,
            timestamp: undefined,
          };
          bus.publish({
            kind: 'statusUpdate',
            data: { taskId, contextId: '', status, metadata: undefined },
          });
          return Promise.resolve();
        },
      ),
    );
    const first = await rpc(agent.url, agent.keys.alice, 'SendMessage', {
      message: wireMessage('one'),
      configuration: { returnImmediately: true },
    });
    const { id } = taskIn(first);
    const cancelled = taskIn(await rpc(agent.url, agent.keys.alice, 'CancelTask', { id }));
    expect(cancelled.status.state).toBe('TASK_STATE_CANCELED');
    door.open();
    await late.passed;
    expect(await agent.served.close(1_000)).toBeUndefined();
    expect(agent.ports.records.get(id)).toMatchObject({ state: 'cancelled' });
    expect(agent.ports.seen('artifact')).toEqual([]);
  });
});

describe('references to other tasks', () => {
  it('reach the executor', async () => {
    const agent = await start(echo);
    const { id } = taskIn(await send(agent, agent.keys.alice, 'one'));
    await send(agent, agent.keys.alice, 'two', { referenceTaskIds: [id] });
    expect(agent.executor.requests[1]?.referenceTasks).toMatchObject([{ id }]);
    expect(agent.ports.seen('message')[1]?.referenceTaskIds).toEqual([id]);
  });
});
