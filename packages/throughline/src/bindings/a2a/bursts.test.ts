import { Task, TaskState } from '@a2a-js/sdk';
import type { AgentExecutionEvent, TaskStore } from '@a2a-js/sdk/server';
import { describe, expect, it } from 'vitest';
import { Bursts, HeldStore } from './bursts.ts';
import { callContext } from './call.ts';

const { TASK_STATE_WORKING: working, TASK_STATE_COMPLETED: completed } = TaskState;
const ids = { taskId: 'task', contextId: 'context', metadata: undefined };
const status = (state: TaskState): AgentExecutionEvent => ({
  kind: 'statusUpdate',
  data: { ...ids, status: { state, message: undefined, timestamp: undefined } },
});
const output: AgentExecutionEvent = {
  kind: 'artifactUpdate',
  data: { ...ids, artifact: undefined, append: false, lastChunk: true },
};
const begun = (): { bursts: Bursts<string>; sizes: () => number[] } => {
  const bursts = new Bursts<string>(working);
  const taken: { events: unknown[] }[] = [];
  const take = bursts.take.bind(bursts);
  bursts.take = (event, turn) => {
    const burst = take(event, turn);
    if (burst !== undefined) taken.push(burst);
    return burst;
  };
  return { bursts, sizes: () => taken.map(({ events }) => events.length) };
};

const task = Task.fromJSON({ id: 'a' });

function holding(): { store: HeldStore; saved: string[] } {
  const saved: string[] = [];
  const store: TaskStore = {
    load: () => Promise.resolve(undefined),
    save: ({ id }) => Promise.resolve(void saved.push(id)),
    list: () => Promise.reject(new Error('is not asked')),
  };
  return { store: new HeldStore(store), saved };
}

describe('updates that wait', () => {
  it('are stored together, up to the one that moves the task', () => {
    const { bursts, sizes } = begun();
    for (const event of [status(working), output, status(completed), output]) {
      bursts.take(event, 'a');
    }
    expect(sizes()).toEqual([3, 1]);
  });

  it('show every state that the task was in', () => {
    const { bursts, sizes } = begun();
    const { TASK_STATE_INPUT_REQUIRED: asking } = TaskState;
    for (const state of [asking, working, completed]) bursts.take(status(state), 'a');
    expect(sizes()).toEqual([1, 1, 1]);
  });

  it('of two messages stay apart, and so do those that wait for something else in between', () => {
    const { bursts, sizes } = begun();
    bursts.take(output, 'a');
    bursts.take(output, 'b');
    bursts.close();
    bursts.take(output, 'b');
    expect(sizes()).toEqual([1, 1, 1]);
  });

  it('are no more at a time than a reader takes', () => {
    const { bursts, sizes } = begun();
    for (let at = 0; at < 40; at++) bursts.take(output, 'a');
    expect(sizes()).toEqual([16, 16, 8]);
  });
});

describe('a held store', () => {
  const context = callContext({ principal: { tenant: 't', id: 'agent', role: 'agent' } });

  it('shows what is held back, and writes it once', async () => {
    const { store, saved } = holding();
    await store.together(context, async () => {
      await store.save(task);
      expect(await store.load('a', context)).toBe(task);
      await store.save(task);
    });
    expect(saved).toEqual(['a']);
  });

  it('holds nothing any more when a change fails', async () => {
    const { store, saved } = holding();
    const failing = store.together(context, async () => {
      await store.save(task);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await store.load('a', context)).toBeUndefined();
    expect(saved).toEqual([]);
  });
});
