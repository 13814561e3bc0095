import { TaskState } from '@a2a-js/sdk';
import { afterEach, describe, expect, it } from 'vitest';
import { executionOf } from './call.ts';
import { gate, rpc, startAgent, wireMessage } from './conformance.ts';

type Agent = Awaited<ReturnType<typeof startAgent>>;
const open: Agent[] = [];
const start = async (...args: Parameters<typeof startAgent>): Promise<Agent> => {
  const agent = await startAgent(...args);
  open.push(agent);
  return agent;
};

afterEach(async () => {
  await Promise.all(open.splice(0).map(({ served }) => served.close(50)));
});

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
