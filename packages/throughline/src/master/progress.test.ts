import { describe, expect, it } from 'vitest';
import type { RunEvent } from './events.ts';
import { Progress, type RunProgress } from './progress.ts';

const began: Extract<RunEvent, { kind: 'run-began' }> = {
  kind: 'run-began',
  runId: 'r',
  subtasks: ['a', 'b'].map((id) => ({
    id,
    name: id,
    agent: id,
    status: 'waiting',
    attempt: 0,
    items: [
      { id: 'one', description: 'One' },
      { id: 'two', description: 'Two' },
    ],
  })),
};
const started = (subtask: string, attempt = 1): RunEvent => ({
  kind: 'subtask-started',
  subtask,
  agent: subtask,
  attempt,
  dialog: 'd',
  task: 't',
});
const item = (subtask: string, id: string): RunEvent => ({
  kind: 'item-state',
  subtask,
  item: id,
  state: 1,
});

const folded = (...events: RunEvent[]): RunProgress => {
  const progress = new Progress();
  for (const event of events) progress.take(event);
  return progress.now;
};

describe('progress', () => {
  it('holds the state of each item of each subtask', () => {
    const { subtasks } = folded(began, started('a'), item('a', 'two'));
    expect(subtasks.map(({ id, status }) => [id, status])).toEqual([
      ['a', 'running'],
      ['b', 'waiting'],
    ]);
    expect(subtasks[0]?.items.map(({ state }) => state)).toEqual([0, 1]);
    expect(subtasks[1]?.items.map(({ state }) => state)).toEqual([0, 0]);
  });

  it('begins the items anew with another attempt, and keeps why the last one failed until then', () => {
    const failed: RunEvent = {
      kind: 'attempt-ended',
      subtask: 'a',
      task: 't',
      outcome: 'failed',
      reason: 'too lazy',
    };
    const before = folded(began, started('a'), item('a', 'one'), failed);
    expect(before.subtasks[0]).toMatchObject({ reason: 'too lazy' });
    const after = folded(began, started('a'), item('a', 'one'), failed, started('a', 2));
    expect(after.subtasks[0]).toMatchObject({ attempt: 2, items: [{ state: 0 }, { state: 0 }] });
    expect(after.subtasks[0]).not.toHaveProperty('reason');
  });

  it('begins them anew where a stopped attempt is followed by a first one again', () => {
    const stopped: RunEvent = {
      kind: 'attempt-ended',
      subtask: 'a',
      task: 't',
      outcome: 'stopped',
    };
    const { subtasks } = folded(began, started('a'), item('a', 'one'), stopped, started('a'));
    expect(subtasks[0]).toMatchObject({ attempt: 1, items: [{ state: 0 }, { state: 0 }] });
  });

  it('shows what was done before a run is gone on with as done', () => {
    const [a, b] = began.subtasks;
    if (a === undefined || b === undefined) throw new Error('two are planned');
    const again: RunEvent = {
      ...began,
      subtasks: [{ ...a, status: 'completed', attempt: 2 }, b],
    };
    const { subtasks } = folded(again);
    expect(subtasks[0]).toMatchObject({ attempt: 2, items: [{ state: 1 }, { state: 1 }] });
    expect(subtasks[1]).toMatchObject({ attempt: 0, items: [{ state: 0 }, { state: 0 }] });
  });

  it('shows whom nobody reached, what is asked, and why it ends', () => {
    const away: RunEvent = {
      kind: 'agent-not-reached',
      subtask: 'a',
      agent: 'a',
      reason: 'down',
      deadline: '',
    };
    const asked: RunEvent = { kind: 'question', id: 'q', subtask: 'b', text: 'Which?' };
    const own: RunEvent = { kind: 'question', id: 'm', text: 'More?' };
    const ending: RunEvent = { kind: 'run-ending', status: 'failed', reason: 'money' };
    const all = folded(began, started('a'), away, started('b'), asked, own, ending);
    expect(all).toMatchObject({
      question: 'More?',
      ending: { reason: 'money' },
      subtasks: [{ notReached: 'down' }, { status: 'awaiting', question: 'Which?' }],
    });
    const answered = folded(began, own, { kind: 'answered', id: 'm' });
    expect(answered).not.toHaveProperty('question');
  });

  it('gives a slow reader the newest state, and the last one always', async () => {
    const progress = new Progress();
    const seen: RunProgress[] = [];
    const reader = progress[Symbol.asyncIterator]();
    progress.take(began);
    const first = await reader.next();
    if (first.done !== true) seen.push(first.value);
    for (let times = 0; times < 100_000; times++) progress.take(started('a', times));
    progress.take(item('a', 'one'));
    progress.end();
    for await (const state of { [Symbol.asyncIterator]: () => reader }) seen.push(state);
    expect(seen).toHaveLength(2);
    expect(seen.at(-1)).toBe(progress.now);
    expect(seen.at(-1)?.subtasks[0]?.attempt).toBe(99_999);
  });

  it('ends for whoever begins to read when it is over', async () => {
    const progress = new Progress();
    progress.take(began);
    progress.end();
    const states: RunProgress[] = [];
    for await (const state of progress) states.push(state);
    expect(states).toEqual([progress.now]);
    const nothing = new Progress();
    nothing.end();
    const early: RunProgress[] = [];
    for await (const state of nothing) early.push(state);
    expect(early.length).toBeLessThanOrEqual(1);
  });
});
