import { TaskState, TaskStatus } from '@a2a-js/sdk';
import { AgentEvent } from '@a2a-js/sdk/server';
import { describe, expect, it } from 'vitest';
import { all, gate, stream, wireMessage } from './conformance.ts';
import { onlyRecord, send, sendNow, start } from './conformance/started.ts';

describe('a reader', () => {
  it('that hangs up does not stop the task', async () => {
    const door = gate();
    const agent = await start(async (desk) => {
      desk.task();
      await door.passed;
      for (let n = 0; n < 10; n++) desk.artifact(`a${n}`, 'x');
      desk.status(TaskState.TASK_STATE_COMPLETED);
    });
    const { events, hangUp } = stream(agent, 'SendStreamingMessage', { message: wireMessage('x') });
    await events.next();
    hangUp();
    await expect(events.next()).rejects.toThrow();
    door.open();
    while (onlyRecord(agent).state !== 'completed') await new Promise(setImmediate);
    expect(agent.ports.seen('artifact')).toHaveLength(10);
  });

  it('that keeps up misses nothing of a burst', async () => {
    const agent = await start((desk) => {
      desk.task();
      for (let n = 0; n < 300; n++) desk.status(TaskState.TASK_STATE_WORKING);
      desk.status(TaskState.TASK_STATE_COMPLETED);
    });
    const params = { message: wireMessage('x') };
    const events = await all(stream(agent, 'SendStreamingMessage', params).events);
    expect(events).toHaveLength(302);
  });

  it('that never reads is dropped and told, and the task runs on', async () => {
    const blob = 'x'.repeat(100_000);
    const agent = await start(({ task, bus, context, status }) => {
      task();
      const { taskId, contextId } = context;
      const working = TaskStatus.fromJSON({ state: 'TASK_STATE_WORKING' });
      for (let step = 0; step < 300; step++) {
        const metadata = { blob, step };
        bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: working, metadata }));
      }
      status(TaskState.TASK_STATE_COMPLETED);
    });
    const { events } = stream(agent, 'SendStreamingMessage', { message: wireMessage('x') });
    await events.next();
    while (onlyRecord(agent).state !== 'completed') await new Promise(setImmediate);
    expect(onlyRecord(agent).body).toMatchObject({ metadata: { step: 299 } });
    const rest = await all(events);
    expect(rest.length).toBeLessThan(300);
    expect(rest.at(-1)).toMatchObject({
      error: { code: -32_603, data: [{ metadata: { code: 'unavailable', retryable: 'true' } }] },
    });
  });

  it('that subscribes gets the task as it is, then what comes after', async () => {
    const door = gate();
    const agent = await start(async (desk) => {
      desk.task();
      desk.artifact('a', 'one');
      await door.passed;
      desk.artifact('a', 'two', true);
      desk.status(TaskState.TASK_STATE_COMPLETED);
    });
    void sendNow(agent);
    while ((agent.ports.records.size === 0 ? 0 : onlyRecord(agent).version) < 2) {
      await new Promise(setImmediate);
    }
    const { events } = stream(agent, 'SubscribeToTask', { id: onlyRecord(agent).id });
    const first = await events.next();
    expect(first.value).toMatchObject({
      result: { task: { artifacts: [{ parts: [{ text: 'one' }] }] } },
    });
    door.open();
    expect(await all(events)).toMatchObject([
      { result: { artifactUpdate: { append: true, artifact: { parts: [{ text: 'two' }] } } } },
      { result: { statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } } },
    ]);
  });

  it('of a task that nobody works on here gets it as it is, then what changes in its record', async () => {
    const agent = await start(({ task }) => task(TaskState.TASK_STATE_INPUT_REQUIRED));
    await send(agent);
    const record = onlyRecord(agent);
    const { events } = stream(agent, 'SubscribeToTask', { id: record.id });
    expect((await events.next()).value).toMatchObject({
      result: { task: { status: { state: 'TASK_STATE_INPUT_REQUIRED' } } },
    });
    const body = {
      ...Object(record.body),
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ artifactId: 'a', parts: [{ text: 'done' }] }],
    };
    agent.ports.records.set(record.id, {
      ...record,
      version: record.version + 1,
      state: 'completed',
      body,
    });
    expect(await all(events)).toMatchObject([
      { result: { artifactUpdate: { artifact: { artifactId: 'a' } } } },
      { result: { statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } } },
    ]);
  });

  it('of a task that never moves is told so', async () => {
    const agent = await start(({ task }) => task(TaskState.TASK_STATE_INPUT_REQUIRED), {
      waits: { record: { everyMs: 10, forMs: 50 } },
    });
    await send(agent);
    const { id } = onlyRecord(agent);
    const events = await all(stream(agent, 'SubscribeToTask', { id }).events);
    expect(events).toMatchObject([
      { result: { task: {} } },
      { error: { data: [{ metadata: { code: 'timeout', retryable: 'true' } }] } },
    ]);
  });

  it('whose right is taken away hears no more', async () => {
    const doors = [gate(), gate()];
    const agent = await start(
      async (desk) => {
        desk.task();
        for (const door of doors) {
          await door.passed;
          desk.status(TaskState.TASK_STATE_WORKING, 'secret');
        }
        desk.status(TaskState.TASK_STATE_COMPLETED);
      },
      { waits: { rightsMs: 0 } },
    );
    await sendNow(agent);
    const { id, contextId } = onlyRecord(agent);
    const grantees = agent.ports.contexts.get(contextId)?.grantees;
    grantees?.add('bob');
    const asBob = { url: agent.url, keys: { alice: agent.keys.bob } };
    const { events } = stream(asBob, 'SubscribeToTask', { id });
    await events.next();
    doors[0]?.open();
    expect((await events.next()).value).toMatchObject({ result: { statusUpdate: {} } });
    grantees?.delete('bob');
    doors[1]?.open();
    expect(await all(events)).toMatchObject([{ error: { code: -32_001 } }]);
  });

  it('with the same message joins the stream of the first one', async () => {
    const door = gate();
    const agent = await start(async (desk) => {
      desk.task();
      await door.passed;
      desk.status(TaskState.TASK_STATE_COMPLETED);
    });
    const params = { message: wireMessage('x') };
    const first = stream(agent, 'SendStreamingMessage', params).events;
    await first.next();
    const second = stream(agent, 'SendStreamingMessage', params).events;
    expect((await second.next()).value).toMatchObject({ result: { task: {} } });
    door.open();
    expect(await all(second)).toMatchObject([
      { result: { statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } } },
    ]);
    const third = await all(stream(agent, 'SendStreamingMessage', params).events);
    expect(third).toMatchObject([
      { result: { task: { status: { state: 'TASK_STATE_COMPLETED' } } } },
    ]);
    expect(agent.executor.runs).toBe(1);
  });
});
