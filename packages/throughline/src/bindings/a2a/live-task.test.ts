import { TaskState, type Artifact } from '@a2a-js/sdk';
import { AgentEvent } from '@a2a-js/sdk/server';
import { describe, expect, it } from 'vitest';
import { ThroughlineError } from '../../errors.ts';
import { correlationExtension } from '../../model/envelope.ts';
import { executionOf, type Execution } from './call.ts';
import { echo, gate, rpc, Scripted, stream, all, wireMessage, type Desk } from './conformance.ts';
import { onlyRecord, send, sendNow, start } from './conformance/started.ts';
import { currentTrace } from '../../telemetry/trace.ts';

describe('an executor that breaks the rules', () => {
  const other = '00000000-0000-4000-8000-000000000000';
  const artifact: Artifact = {
    artifactId: 'a',
    name: '',
    description: '',
    parts: [],
    metadata: undefined,
    extensions: [],
  };
  const breaches: readonly (readonly [string, (desk: Desk) => void, string])[] = [
    [
      'another context on its task',
      ({ task }) => task(undefined, { contextId: other }),
      'another contextId',
    ],
    ['another task id', ({ task }) => task(undefined, { id: other }), 'another taskId'],
    [
      'another context on a status',
      ({ task, bus, context: { taskId } }) => {
        task();
        const status = {
          state: TaskState.TASK_STATE_COMPLETED,
          message: undefined,
          timestamp: undefined,
        };
        bus.publish(
          AgentEvent.statusUpdate({ taskId, contextId: other, status, metadata: undefined }),
        );
      },
      'another contextId',
    ],
    [
      'another task on an artifact',
      ({ task, bus, context: { contextId } }) => {
        task();
        const rest = { append: false, lastChunk: true, metadata: undefined };
        bus.publish(AgentEvent.artifactUpdate({ taskId: other, contextId, artifact, ...rest }));
      },
      'another taskId',
    ],
    [
      'another context on its reply',
      ({ reply }) => reply('x', { contextId: other }),
      'another contextId',
    ],
    ['nothing at all', () => undefined, 'published nothing'],
    [
      'an update before any task',
      ({ status }) => status(TaskState.TASK_STATE_COMPLETED),
      'before any task',
    ],
    ['a task that it never finishes', ({ task }) => task(), 'without finishing'],
    ['a state that A2A has no word for', ({ task }) => task(TaskState.UNRECOGNIZED), 'a state'],
    [
      'a chunk for an artifact that is not there',
      (desk) => {
        desk.task();
        desk.artifact('a', 'part two', true);
        desk.status(TaskState.TASK_STATE_COMPLETED);
      },
      'does not exist',
    ],
    [
      'a reply after its task',
      (desk) => {
        desk.task();
        desk.reply('and this');
      },
      'after its answer had begun',
    ],
    ['what is no JSON', ({ task }) => task(undefined, { metadata: { big: 1n } }), 'can not carry'],
  ];

  it.each(breaches)(
    'by publishing %s: the task fails, and the call says so',
    async (_, script, reason) => {
      const agent = await start(script);
      const answer = await send(agent);
      expect(answer.body.error).toMatchObject({
        code: -32_006,
        message: expect.stringContaining(reason),
      });
      expect(onlyRecord(agent)).toMatchObject({ state: 'failed', agent: 'clerk', owner: 'alice' });
      expect(JSON.stringify(onlyRecord(agent).body)).toContain(reason);
      expect(agent.ports.seen('task').at(-1)).toMatchObject({ state: 'failed' });
      expect(agent.faults.length).toBeGreaterThan(0);
    },
  );

  it('tells a stream too: the failed status, then the error', async () => {
    const agent = await start(({ task }) => {
      task();
      task(undefined, { contextId: other });
    });
    const events = await all(
      stream(agent, 'SendStreamingMessage', { message: wireMessage('x') }).events,
    );
    expect(events).toMatchObject([
      { result: { task: { status: { state: 'TASK_STATE_WORKING' } } } },
      { result: { statusUpdate: { status: { state: 'TASK_STATE_FAILED' } } } },
      { error: { code: -32_006 } },
    ]);
  });
});

describe('an executor that throws', () => {
  it('leaves a failed task, and no word of what is inside', async () => {
    const agent = await start(({ task }) => {
      task();
      throw new Error('password hunter2');
    });
    const answer = await send(agent);
    expect(answer.body.result).toMatchObject({ task: { status: { state: 'TASK_STATE_FAILED' } } });
    expect(JSON.stringify(answer.body)).not.toContain('hunter2');
    expect(agent.faults).toMatchObject([{ message: 'password hunter2' }]);
  });

  it('may say why in words meant for others', async () => {
    const agent = await start(() => {
      throw new ThroughlineError('quota', 'the model has no more budget today');
    });
    const answer = await send(agent);
    expect(JSON.stringify(answer.body.result)).toContain('no more budget today');
  });
});

describe('what is published', () => {
  it('is stored once, whatever the executor does to it afterwards', async () => {
    const agent = await start(async ({ task, bus, context, status }) => {
      task();
      const metadata = { step: 1 };
      const { taskId, contextId } = context;
      const working = {
        state: TaskState.TASK_STATE_WORKING,
        message: undefined,
        timestamp: undefined,
      };
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: working, metadata }));
      metadata.step = 99;
      await Promise.resolve();
      status(TaskState.TASK_STATE_COMPLETED);
    });
    const answer = await send(agent);
    expect(answer.body.result).toMatchObject({ task: { metadata: { step: 1 } } });
  });

  it('is put together from chunks, and told as one artifact when it is whole', async () => {
    const agent = await start((desk) => {
      desk.task();
      desk.artifact('a', 'one ');
      desk.artifact('a', 'two ', true);
      desk.artifact('a', 'three', true);
      desk.status(TaskState.TASK_STATE_COMPLETED);
    });
    const answer = await send(agent);
    expect(answer.body.result).toMatchObject({
      task: { artifacts: [{ parts: [{ text: 'one ' }, { text: 'two ' }, { text: 'three' }] }] },
    });
    const parts = [{ text: 'one ' }, { text: 'two ' }, { text: 'three' }];
    expect(agent.ports.seen('artifact')).toMatchObject([
      { artifactId: 'a', resource: { size: JSON.stringify(parts).length } },
    ]);
  });

  it('may be tasks again and again: a stream shows one, then updates', async () => {
    const agent = await start(({ task }) => {
      task(TaskState.TASK_STATE_SUBMITTED);
      task(TaskState.TASK_STATE_WORKING);
      task(TaskState.TASK_STATE_COMPLETED);
    });
    const events = await all(
      stream(agent, 'SendStreamingMessage', { message: wireMessage('x') }).events,
    );
    expect(events.map(({ result }) => Object.keys(Object(result)))).toEqual([
      ['task'],
      ['statusUpdate'],
      ['statusUpdate'],
    ]);
  });

  it('is told with the message first, then each new state once', async () => {
    const agent = await start((desk) => {
      desk.task();
      desk.status(TaskState.TASK_STATE_WORKING, 'still at it');
      desk.artifact('answer', 'four');
      desk.status(TaskState.TASK_STATE_COMPLETED);
    });
    await send(agent, 'two and two?');
    const kinds = agent.ports.observations.map((o) => (o.kind === 'task' ? o.state : o.kind));
    expect(kinds).toEqual(['message', 'in-progress', 'artifact', 'completed']);
    const sent = { protocol: 'a2a', side: 'server', endpoint: agent.url };
    expect(agent.ports.observations[0]).toMatchObject({
      ...sent,
      objective: 'two and two?',
      client: { kind: 'user', principal: 'alice' },
      server: { kind: 'agent', principal: 'clerk', name: 'Clerk' },
    });
    expect(agent.ports.seen('artifact')[0]?.resource).toMatchObject({ size: 4 });
  });

  it('can’t be stored when it is too large: the task fails instead of hanging', async () => {
    const agent = await start((desk) => {
      desk.task();
      desk.artifact('kept', 'x');
      desk.artifact('a', 'x'.repeat(10_000));
      desk.status(TaskState.TASK_STATE_COMPLETED);
    });
    agent.ports.beforeSave = ({ body }) => {
      if (JSON.stringify(body).length > 8_000) throw new ThroughlineError('too-large', 'over');
    };
    const answer = await send(agent);
    expect(answer.body.error).toMatchObject({ code: -32_006 });
    const { state, body } = onlyRecord(agent);
    expect(state).toBe('failed');
    expect(body).toMatchObject({ artifacts: [{ artifactId: 'kept' }] });
  });
});

describe('the store', () => {
  it('is tried again while it can’t be reached', async () => {
    const agent = await start(echo);
    let failures = 2;
    agent.ports.beforeSave = () => {
      if (failures-- > 0) throw new ThroughlineError('unavailable', 'down');
    };
    const answer = await send(agent);
    expect(answer.body.result).toMatchObject({
      task: { status: { state: 'TASK_STATE_COMPLETED' } },
    });
  });

  it.each([1, 2])(
    'may lose its answer to write %i: what is there is read, and nothing is written twice',
    async (lost) => {
      const agent = await start(echo);
      let writes = 0;
      agent.ports.afterWrite = () => {
        if (++writes === lost) throw new ThroughlineError('unavailable', 'gone before it answered');
      };
      const answer = await send(agent);
      expect(answer.body.result).toMatchObject({
        task: { status: { state: 'TASK_STATE_COMPLETED' }, artifacts: [{ artifactId: 'answer' }] },
      });
      expect(agent.ports.writes).toEqual(['admit', 'saveTask', 'saveTask']);
      expect(agent.ports.seen('message')).toHaveLength(1);
      expect(agent.ports.seen('artifact')).toHaveLength(1);
      expect(agent.faults).toEqual([]);
    },
  );

  it('may lose its answer to a reply: the reply stands, once', async () => {
    const agent = await start(({ reply }) => reply('four'));
    agent.ports.afterWrite = () => {
      throw new ThroughlineError('timeout', 'no answer in time');
    };
    const answer = await send(agent);
    expect(answer.body.result).toMatchObject({ message: { parts: [{ text: 'four' }] } });
    expect(agent.ports.writes.filter((each) => each === 'saveReply')).toHaveLength(1);
  });

  it('does not take for ours what somebody else wrote while its answer was lost', async () => {
    const agent = await start(echo);
    let writes = 0;
    agent.ports.afterWrite = () => {
      writes += 1;
      if (writes !== 2) return;
      const record = onlyRecord(agent);
      const body = { ...Object(record.body), status: { state: 'TASK_STATE_CANCELED' } };
      agent.ports.records.set(record.id, { ...record, state: 'cancelled', body });
      throw new ThroughlineError('unavailable', 'gone before it answered');
    };
    expect((await send(agent)).body.result).toMatchObject({
      task: { status: { state: 'TASK_STATE_CANCELED' } },
    });
  });

  it('that stays away is not waited for longer than it was said', async () => {
    const hub = { attempts: 1_000, firstMs: 1, capMs: 5, forMs: 30 };
    const agent = await start(echo, { waits: { hub } });
    agent.ports.beforeSave = () => {
      throw new ThroughlineError('unavailable', 'down');
    };
    const answer = await send(agent);
    expect(answer.body.error).toMatchObject({ message: expect.stringContaining('down') });
    expect(agent.ports.records.size).toBe(0);
  });

  it('takes changes of two writers together where both can stand', async () => {
    const door = gate();
    const agent = await start(async (desk) => {
      desk.task();
      await door.passed;
      desk.artifact('ours', 'ours');
      desk.status(TaskState.TASK_STATE_COMPLETED);
    });
    const answer = send(agent);
    while (agent.ports.records.size === 0) await new Promise(setImmediate);
    const record = onlyRecord(agent);
    const theirs = { artifactId: 'theirs', parts: [{ text: 'theirs' }] };
    const body = { ...Object(record.body), artifacts: [theirs] };
    agent.ports.records.set(record.id, { ...record, version: record.version + 1, body });
    door.open();
    const { body: wire } = await answer;
    expect(wire.result).toMatchObject({
      task: { artifacts: [{ artifactId: 'theirs' }, { artifactId: 'ours' }] },
    });
  });

  it('refuses both words about one artifact', async () => {
    const door = gate();
    const agent = await start(async (desk) => {
      desk.task();
      desk.artifact('a', 'one');
      await door.passed;
      desk.artifact('a', 'ours');
      desk.status(TaskState.TASK_STATE_COMPLETED);
    });
    const answer = send(agent);
    while ((agent.ports.records.size === 0 ? 0 : onlyRecord(agent).version) < 2) {
      await new Promise(setImmediate);
    }
    const record = onlyRecord(agent);
    const body = {
      ...Object(record.body),
      artifacts: [{ artifactId: 'a', parts: [{ text: 'theirs' }] }],
    };
    agent.ports.records.set(record.id, { ...record, version: record.version + 1, body });
    door.open();
    expect((await answer).body.error).toMatchObject({
      data: [{ metadata: { code: 'conflict' } }],
    });
    expect(JSON.stringify(onlyRecord(agent).body)).toContain('theirs');
  });

  it('has the last word: a task that ended elsewhere is shown as it ended', async () => {
    const door = gate();
    const agent = await start(async (desk) => {
      desk.task();
      await door.passed;
      desk.status(TaskState.TASK_STATE_COMPLETED);
    });
    const answer = send(agent);
    while (agent.ports.records.size === 0) await new Promise(setImmediate);
    const record = onlyRecord(agent);
    const body = { ...Object(record.body), status: { state: 'TASK_STATE_CANCELED' } };
    const ended = { ...record, version: record.version + 1, state: 'cancelled' as const, body };
    agent.ports.records.set(record.id, ended);
    door.open();
    expect((await answer).body.result).toMatchObject({
      task: { status: { state: 'TASK_STATE_CANCELED' } },
    });
  });
});

describe('a cancellation', () => {
  it('is recorded, and the task is shown as it is when the executor does not act', async () => {
    const door = gate();
    const agent = await start(
      async (desk) => {
        desk.task();
        await door.passed;
        desk.status(TaskState.TASK_STATE_COMPLETED);
      },
      { waits: { cancelMs: 20 } },
    );
    await sendNow(agent);
    const { id } = onlyRecord(agent);
    const answer = await rpc(agent.url, agent.keys.alice, 'CancelTask', { id });
    expect(answer.body.result).toMatchObject({ status: { state: 'TASK_STATE_WORKING' } });
    expect(agent.ports.seen('cancel-request')).toHaveLength(1);
    door.open();
  });

  it('that the executor can’t carry out is said to be impossible', async () => {
    const door = gate();
    const script = async (desk: Desk): Promise<void> => {
      desk.task();
      await door.passed;
      desk.status(TaskState.TASK_STATE_COMPLETED);
    };
    const agent = await start(new Scripted(script, () => Promise.reject(new Error('no'))));
    await sendNow(agent);
    const { id } = onlyRecord(agent);
    const answer = await rpc(agent.url, agent.keys.alice, 'CancelTask', { id });
    expect(answer.body.error?.code).toBe(-32_002);
    door.open();
  });

  it('of a task that nobody works on takes effect at once, and twice is no error', async () => {
    const agent = await start(({ task }) => task(TaskState.TASK_STATE_INPUT_REQUIRED));
    await send(agent);
    const { id } = onlyRecord(agent);
    for (let n = 0; n < 2; n++) {
      const answer = await rpc(agent.url, agent.keys.alice, 'CancelTask', { id });
      expect(answer.body.result).toMatchObject({ status: { state: 'TASK_STATE_CANCELED' } });
    }
    expect(agent.ports.seen('task').at(-1)).toMatchObject({ state: 'cancelled' });
  });
});

describe('what an executor is told of its call', () => {
  it('is the caller, the envelope and the trace, which goes on by itself', async () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    let told: Execution | undefined;
    let ambient: unknown;
    const agent = await start(async (desk) => {
      told = executionOf(desk.context.context);
      await Promise.resolve();
      ambient = currentTrace();
      desk.reply('ok');
    });
    const dialog = `dlg_${'0'.repeat(26)}`;
    const metadata = { [correlationExtension]: { v: 1, dialog } };
    await rpc(
      agent.url,
      agent.keys.alice,
      'SendMessage',
      { message: wireMessage('x', { metadata }) },
      { traceparent, tracestate: 'a=b' },
    );
    const trace = { traceparent, tracestate: 'a=b' };
    expect(told).toMatchObject({
      caller: { id: 'alice' },
      envelope: { dialog },
      trace,
      resumed: false,
    });
    expect(ambient).toEqual(trace);
    expect(agent.ports.seen('message')[0]?.envelope).toEqual({ v: 1, dialog });
  });
});
