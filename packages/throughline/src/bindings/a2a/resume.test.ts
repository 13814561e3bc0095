import { TaskState } from '@a2a-js/sdk';
import { describe, expect, it } from 'vitest';
import { executionOf } from './call.ts';
import { correlationExtension } from '../../model/envelope.ts';
import { ThroughlineError } from '../../errors.ts';
import { alice, echo, gate, rpc, wireMessage, type Desk, MemoryPorts } from './conformance.ts';
import { onlyRecord, start, type Agent } from './conformance/started.ts';

/** An agent whose work never ends, after it got so far; as if its process had died then. */
async function deadAgent(state = TaskState.TASK_STATE_WORKING): Promise<Agent> {
  const agent = await start((desk) => {
    desk.task(state);
    desk.artifact('half', 'half');
    return state === TaskState.TASK_STATE_WORKING ? new Promise<void>(() => undefined) : undefined;
  });
  const params = { message: wireMessage('go'), configuration: { returnImmediately: true } };
  await rpc(agent.url, agent.keys.alice, 'SendMessage', params);
  while (([...agent.ports.records.values()][0]?.version ?? 0) < 2) await new Promise(setImmediate);
  return agent;
}

const away = (): ThroughlineError => new ThroughlineError('unavailable', 'down');

describe('after a restart', () => {
  it('a task left unfinished is run again: same task, same context, same message, once', async () => {
    const { ports } = await deadAgent();
    const [before] = [...ports.records.values()];
    const agent = await start(
      ({ context, task, artifact, status }) => {
        expect(executionOf(context.context)).toMatchObject({ resumed: true });
        task();
        artifact('whole', context.userMessage.parts[0]?.content?.$case ?? '');
        status(TaskState.TASK_STATE_COMPLETED);
      },
      { ports },
    );
    expect(await agent.served.resumed).toBe(1);
    const [after] = [...ports.records.values()];
    expect(after).toMatchObject({
      id: before?.id,
      contextId: before?.contextId,
      owner: 'alice',
      state: 'completed',
      body: {
        artifacts: [{ artifactId: 'half' }, { artifactId: 'whole' }],
        history: [{ parts: [{ text: 'go' }] }],
      },
    });
    expect(ports.records.size).toBe(1);
    expect(ports.seen('message')).toHaveLength(1);
    expect(agent.executor.requests[0]).toMatchObject({
      taskId: before?.id,
      task: { id: before?.id },
    });
    expect(agent.executor.runs).toBe(1);
  });

  it('it is run for the caller that it was run for, with the same envelope and ids', async () => {
    const told: unknown[] = [];
    const tell = ({ context }: Desk): void => {
      const { caller, envelope } = executionOf(context.context) ?? {};
      const { taskId, contextId, userMessage } = context;
      told.push({ caller, envelope, taskId, contextId, userMessage });
    };
    const first = await start((desk) => {
      tell(desk);
      desk.task();
      return new Promise<void>(() => undefined);
    });
    const envelope = { v: 1, dialog: `dlg_${'0'.repeat(26)}` };
    const message = wireMessage('go', { metadata: { [correlationExtension]: envelope } });
    await rpc(first.url, first.keys.alice, 'SendMessage', {
      message,
      configuration: { returnImmediately: true },
    });
    const again = await start(
      (desk) => {
        tell(desk);
        desk.task();
        desk.status(TaskState.TASK_STATE_COMPLETED);
      },
      { ports: first.ports },
    );
    expect(await again.served.resumed).toBe(1);
    expect(told).toHaveLength(2);
    expect(told[0]).toMatchObject({ caller: alice, envelope });
    expect(told[1]).toEqual(told[0]);
  });

  it('it is run for whoever sent its latest message, not for who owns it', async () => {
    const { ports, url, keys } = await deadAgent(TaskState.TASK_STATE_INPUT_REQUIRED);
    const [record] = [...ports.records.values()];
    ports.contexts.get(record?.contextId ?? '')?.grantees.add('bob');
    const second = await start(
      ({ task }) => {
        task();
        return new Promise<void>(() => undefined);
      },
      { ports },
    );
    expect(url).not.toBe(second.url);
    await rpc(second.url, keys.bob, 'SendMessage', {
      message: wireMessage('more', { taskId: record?.id }),
      configuration: { returnImmediately: true },
    });
    while (onlyRecord({ ports }).state !== 'in-progress') await new Promise(setImmediate);
    const third = await start(
      ({ task, status }) => {
        task();
        status(TaskState.TASK_STATE_COMPLETED);
      },
      { ports },
    );
    expect(await third.served.resumed).toBe(1);
    const [request] = third.executor.requests;
    expect(request && executionOf(request.context)?.caller).toMatchObject({ id: 'bob' });
    expect(onlyRecord({ ports })).toMatchObject({ owner: 'alice', state: 'completed' });
  });

  it('a record that says no more than its owner is run for the owner', async () => {
    const { ports } = await deadAgent();
    const record = onlyRecord({ ports });
    const { sender: _, ...body } = Object(record.body);
    ports.records.set(record.id, { ...record, body });
    const agent = await start(echo, { ports });
    expect(await agent.served.resumed).toBe(1);
    const [request] = agent.executor.requests;
    expect(request && executionOf(request.context)?.caller).toEqual(alice);
  });

  it('one of which nobody can say whose it was is not run, and says so', async () => {
    const { ports } = await deadAgent();
    const { owner: _owner, ...record } = onlyRecord({ ports });
    const { sender: _sender, ...body } = Object(record.body);
    ports.records.set(record.id, { ...record, body });
    const agent = await start(echo, { ports });
    expect(await agent.served.resumed).toBe(0);
    expect(agent.executor.runs).toBe(0);
    expect(onlyRecord({ ports })).toMatchObject({ state: 'failed' });
    expect(JSON.stringify(onlyRecord({ ports }).body)).toContain('interrupted');
    expect(ports.seen('task').at(-1)).toMatchObject({ state: 'failed' });
  });

  it('is looked for until the hub is there again', async () => {
    const { ports } = await deadAgent();
    const list = ports.listTasks.bind(ports);
    let failures = 2;
    ports.listTasks = (caller, query) =>
      failures-- > 0
        ? Promise.reject(new ThroughlineError('unavailable', 'down'))
        : list(caller, query);
    const agent = await start(echo, { ports });
    expect(await agent.served.resumed).toBe(1);
    expect(onlyRecord({ ports }).state).toBe('completed');
  });

  it('a task that was given up while the hub was away goes on when it is back, once', async () => {
    const ports = Object.assign(new MemoryPorts(), {
      beat: () => (isAway ? Promise.reject(away()) : Promise.resolve({ seconds: 1, due: false })),
      leave: () => Promise.resolve(),
      takeUp: () => Promise.resolve([]),
    });
    let isAway = false;
    ports.beforeSave = () => {
      if (isAway) throw away();
    };
    const waits = { hub: { attempts: 2, firstMs: 1, capMs: 1 } };
    const ended = Promise.withResolvers<void>();
    const agent = await start(
      async ({ context, task, artifact, status }) => {
        const { resumed = false } = executionOf(context.context) ?? {};
        task();
        while (ports.records.size === 0) await new Promise(setImmediate);
        isAway = !resumed;
        artifact('a', resumed ? 'again' : 'lost');
        status(TaskState.TASK_STATE_COMPLETED);
        if (resumed) ended.resolve();
      },
      { ports, waits },
    );
    const sent = { message: wireMessage('go') };
    const answer = await rpc(agent.url, agent.keys.alice, 'SendMessage', sent);
    expect(answer.body.error).toMatchObject({ code: -32_603 });
    expect(onlyRecord({ ports }).state).toBe('in-progress');
    isAway = false;
    await ended.promise;
    while (onlyRecord({ ports }).state !== 'completed') await new Promise(setImmediate);
    expect(onlyRecord({ ports }).body).toMatchObject({
      artifacts: [{ parts: [{ text: 'again' }] }],
    });
    expect(agent.executor.runs).toBe(2);
  });

  it('the client that waits for it by the same message gets its answer', async () => {
    const { ports } = await deadAgent();
    const door = gate();
    const agent = await start(
      async ({ task, status }) => {
        task();
        await door.passed;
        status(TaskState.TASK_STATE_COMPLETED);
      },
      { ports },
    );
    const [record] = [...ports.records.values()];
    const [message] = Object(record?.body).history;
    const { contextId: _context, taskId: _task, ...first } = message;
    const answer = rpc(agent.url, agent.keys.alice, 'SendMessage', { message: first });
    door.open();
    expect((await answer).body.result).toMatchObject({
      task: { id: record?.id, status: { state: 'TASK_STATE_COMPLETED' } },
    });
    expect(agent.executor.runs).toBe(1);
    expect(ports.records.size).toBe(1);
  });

  it('what waits for input goes on waiting', async () => {
    const { ports } = await deadAgent(TaskState.TASK_STATE_INPUT_REQUIRED);
    const agent = await start(({ reply }) => reply('never'), { ports });
    expect(await agent.served.resumed).toBe(0);
    expect(agent.executor.runs).toBe(0);
  });

  it('what moves meanwhile is left alone', async () => {
    const { ports } = await deadAgent();
    const door = gate();
    const agent = await start(
      async ({ task, status }) => {
        await door.passed;
        task();
        status(TaskState.TASK_STATE_COMPLETED);
      },
      { ports },
    );
    while (agent.executor.runs === 0) await new Promise(setImmediate);
    const [record] = [...ports.records.values()];
    if (record === undefined) throw new Error('no record');
    ports.records.set(record.id, { ...record, version: record.version + 1 });
    const writes = ports.writes.length;
    door.open();
    await agent.served.resumed;
    expect(ports.writes).toHaveLength(writes);
    expect(ports.records.get(record.id)).toMatchObject({ state: 'in-progress' });
  });

  it('what was cancelled meanwhile stays cancelled', async () => {
    const { ports } = await deadAgent();
    const [record] = [...ports.records.values()];
    if (record === undefined) throw new Error('no record');
    const body = { ...Object(record.body), status: { state: 'TASK_STATE_CANCELED' } };
    ports.records.set(record.id, {
      ...record,
      version: record.version + 1,
      state: 'cancelled',
      body,
    });
    const agent = await start(({ reply }) => reply('never'), { ports });
    expect(await agent.served.resumed).toBe(0);
    expect(agent.executor.runs).toBe(0);
  });
});
