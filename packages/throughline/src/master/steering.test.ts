import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { TaskState } from '@a2a-js/sdk';
import type { Assertion } from '../model/assertion.ts';
import type { RunReport } from '../model/run.ts';
import type { WorkflowInput } from '../model/workflow.ts';
import { alice, done, offered, World, type Behaviour } from './conformance.ts';
import type { RunEvent } from './events.ts';
import type { Master, MasterOptions, RunRequest } from './master.ts';

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

type SubtaskInput = WorkflowInput['subtasks'][number];
const subtask = (id: string, more: Partial<SubtaskInput> = {}): SubtaskInput => ({
  id,
  name: `Do ${id}`,
  agent: id,
  needs: ['terms'],
  todo: [{ id: 'one', description: 'Look' }],
  evaluation: 'relaxed',
  timeoutSeconds: 30,
  ...more,
});

const master = (options: Partial<MasterOptions> = {}): Master => world.master(options);

const requestFor = async (subtasks: SubtaskInput[]): Promise<RunRequest> => ({
  taskId: await world.request('Is it right?'),
  query: 'Is it right?',
  workflow: { name: 'Case', subtasks },
  offered,
});

const statuses = (report: RunReport): Record<string, string> =>
  Object.fromEntries(report.subtasks.map(({ id, status }) => [id, status]));

async function timeline(activity: string): Promise<Assertion[]> {
  const all: Assertion[] = [];
  for (let after: number | undefined = 0; after !== undefined;) {
    const page = await world.hub.timeline(alice, activity, { after, limit: 100 });
    all.push(...page.assertions);
    after = page.next;
  }
  return all;
}

/** An agent that waits until it is let go, and says when it began. */
function gate(output: string) {
  const begun = Promise.withResolvers<void>();
  const free = Promise.withResolvers<void>();
  const seen: string[][] = [];
  const behaviour: Behaviour = async (bench) => {
    const texts = await Promise.all(
      bench.context.ContextItems.map(({ ContextID }) => bench.read(ContextID)),
    );
    seen.push(texts);
    begun.resolve();
    await free.promise;
    await bench.output(output, `${output} of ${texts.length}`);
    return done(bench.context, [output]);
  };
  return { behaviour, seen, begun: begun.promise, release: () => free.resolve() };
}

const quick =
  (output: string, calls: string[] = []): Behaviour =>
  async (bench) => {
    calls.push(bench.context.SubTaskID);
    await bench.output(output, output);
    return done(bench.context, [output]);
  };

describe('a barge-in', () => {
  it('redoes what depends on what was changed, and nothing else', async () => {
    const slow = gate('rate');
    const others: string[] = [];
    await world.aciAgent('find', slow.behaviour);
    await world.aciAgent('other', quick('sum', others));
    await world.aciAgent('check', quick('result', others));
    const desk = master();
    const events: RunEvent[] = [];
    const request = await requestFor([
      subtask('find', { produces: [{ name: 'rate', description: 'The rate' }] }),
      subtask('other', { needs: ['transactions'] }),
      subtask('check', { dependsOn: ['find'], needs: ['rate'] }),
    ]);
    const run = desk.run(request, { onEvent: (event) => events.push(event) });
    await slow.begun;
    const [runId = ''] = await desk.openRuns();
    const interrupted = await desk.interrupt(runId, {
      id: 'barge-1',
      content: 'The terms of May, not of April.',
      about: 'terms',
    });
    expect(interrupted.decisions).toEqual([
      { subtask: 'find', decision: 'modify' },
      { subtask: 'check', decision: 'modify' },
    ]);
    expect(await desk.interrupt(runId, { id: 'barge-1', content: 'again' })).toEqual(interrupted);
    await vi.waitFor(() => expect(slow.seen).toHaveLength(2), { timeout: 10_000 });
    slow.release();
    const report = await run;
    expect(statuses(report)).toEqual({ find: 'completed', other: 'completed', check: 'completed' });
    expect(report.subtasks[0]?.attempts).toMatchObject([
      { outcome: 'stopped', stop: 'stopped' },
      { outcome: 'answered' },
    ]);
    expect(others).toEqual(['other', 'check']);
    expect(slow.seen.at(-1)).toContain('The terms of May, not of April.');

    const view = await world.hub.caseView(alice, report.activity);
    expect(view.conflicts).toEqual([]);
    const [first, second] = report.subtasks[0]?.attempts ?? [];
    const input = interrupted.resource;
    const terms = view.resources.find(({ name }) => name === 'terms')?.id;
    const edges = view.relationships.map(({ type, from, to }) => [type, from, to]);
    expect(edges).toContainEqual(['modifies', input, terms]);
    expect(edges).toContainEqual(['input-to', input, first?.task]);
    expect(edges).toContainEqual(['input-to', input, second?.task]);
    expect(edges).toContainEqual(['continuation-of', second?.task, first?.task]);
    const assertions = await timeline(report.activity);
    const modifies = assertions.find(
      ({ statement }) =>
        statement.says === 'relationship.asserted' && statement.type === 'modifies',
    );
    const because = assertions.filter(({ cause }) => cause === modifies?.id);
    expect(because.map(({ about }) => about)).toEqual(
      expect.arrayContaining([first?.task, second?.task, second?.dialog]),
    );
    expect(because.map(({ statement }) => statement.says)).toContain('task.cancel-requested');
    const started = events.filter((event) => event.kind === 'subtask-started');
    expect(started.map(({ subtask: id, requirement }) => [id, requirement])).toEqual([
      ['find', undefined],
      ['other', undefined],
      ['find', input],
      ['check', input],
    ]);
  });

  it('to the request as a whole concerns all of it, as the replanner decides', async () => {
    const slow = gate('rate');
    await world.aciAgent('find', slow.behaviour);
    await world.aciAgent('deputy', quick('rate'));
    await world.aciAgent('more', quick('extra'));
    const desk = master({
      replan: ({ affected, input }) => ({
        decisions: affected.map(({ subtask: id }) => ({
          subtask: id,
          ...(id === 'find'
            ? { decision: 'replace' as const, agent: 'deputy' }
            : id === 'late'
              ? { decision: 'cancel' as const }
              : { decision: 'suspend' as const }),
        })),
        add: [subtask('more', { name: input, needs: ['input'] })],
      }),
    });
    const request = await requestFor([
      subtask('find'),
      subtask('late', { agent: 'more', dependsOn: ['find'] }),
      subtask('held', { agent: 'more', dependsOn: ['find'] }),
    ]);
    const run = desk.run(request);
    await slow.begun;
    const [runId = ''] = await desk.openRuns();
    await desk.interrupt(runId, { content: 'Ask somebody else' });
    const paused = await run;
    expect(paused).toMatchObject({ done: false, status: 'suspended' });
    expect(statuses(paused)).toEqual({
      find: 'completed',
      late: 'cancelled',
      held: 'suspended',
      more: 'completed',
    });
    expect(paused.subtasks[0]?.attempts.map(({ agent }) => agent)).toEqual(['find', 'deputy']);
    const view = await world.hub.caseView(alice, paused.activity);
    const [first, second] = paused.subtasks[0]?.attempts ?? [];
    expect(view.relationships).toContainEqual(
      expect.objectContaining({ type: 'replaces', from: second?.task, to: first?.task }),
    );
    const report = await desk.resume(runId);
    expect(report).toMatchObject({ done: true, status: 'cancelled' });
    expect(statuses(report)['held']).toBe('completed');
  });

  it('is refused by name where it does not fit', async () => {
    await world.aciAgent('find', quick('rate'));
    const desk = master({ replan: () => ({ decisions: [{ subtask: 'no', decision: 'keep' }] }) });
    const { runId } = await desk.run(await requestFor([subtask('find')]));
    await expect(desk.interrupt(runId, { content: 'x' })).rejects.toMatchObject({
      code: 'terminal',
    });
    await expect(desk.interrupt('nothing', { content: 'x' })).rejects.toMatchObject({
      code: 'not-found',
    });
    const held = await requestFor([subtask('find', { agent: 'find' })]);
    const stop = new AbortController();
    stop.abort(new Error('gone'));
    await desk.run(held, { signal: stop.signal }).catch(() => undefined);
    const slow = gate('x');
    await world.aciAgent('slow', slow.behaviour);
    const waiting = master({
      replan: () => ({ decisions: [{ subtask: 'no', decision: 'keep' }] }),
    });
    const run = waiting.run(await requestFor([subtask('slow')]));
    await slow.begun;
    const open = (await waiting.openRuns()).at(-1) ?? '';
    await expect(waiting.interrupt(open, { content: 'x', about: 'nothing' })).rejects.toThrow(
      /no item nothing/,
    );
    await expect(waiting.interrupt(open, { content: 'x' })).rejects.toThrow(/not affected.*no/);
    const alone = master({
      replan: () => ({ decisions: [{ subtask: 'slow', decision: 'replace' }] }),
    });
    await expect(alone.interrupt(open, { content: 'x' })).rejects.toThrow(
      /replace slow: nobody but slow is named for it/,
    );
    const same = master({
      replan: () => ({ decisions: [{ subtask: 'slow', decision: 'replace', agent: 'slow' }] }),
    });
    await expect(same.interrupt(open, { content: 'x' })).rejects.toMatchObject({ code: 'invalid' });
    slow.release();
    expect((await run).status).toBe('completed');
  });
});

/** It is on record what the agent calls its task, so that it can be asked to stop. */
const bound = (runId: string, id: string): Promise<void> =>
  vi.waitFor(async () => {
    const stored = await world.hub.master(world.desk).loadRun(runId);
    expect(stored?.state).toMatchObject({ subtasks: { [id]: { attempts: [{ local: {} }] } } });
  }, 10_000);

describe('cancelling a run', () => {
  it('asks each child at work, and says what came of it', async () => {
    const gates = { a: gate('a'), b: gate('b') };
    await world.aciAgent('a', gates.a.behaviour);
    await world.aciAgent('b', gates.b.behaviour);
    await world.aciAgent('c', quick('c'));
    world.stubborn.add('b');
    const desk = master();
    const run = desk.run(
      await requestFor([
        subtask('a'),
        subtask('b'),
        subtask('c'),
        subtask('d', { agent: 'c', dependsOn: ['a'] }),
      ]),
    );
    await Promise.all([gates.a.begun, gates.b.begun]);
    const [runId = ''] = await desk.openRuns();
    await vi.waitFor(async () => {
      expect(statuses(await desk.status(runId))['c']).toBe('completed');
    }, 10_000);
    const cancelled = await desk.cancel(runId, 'No longer wanted.');
    expect(cancelled).toMatchObject({
      status: 'cancelled',
      done: true,
      reason: 'No longer wanted.',
      answers: {
        stopped: [{ subtask: 'a', agent: 'a' }],
        declined: [{ subtask: 'b', agent: 'b' }],
        'already-over': [{ subtask: 'c', agent: 'c' }],
        unreachable: [],
      },
    });
    const [a, b, c, d] = ['cancelled', 'cancelled', 'completed', 'cancelled'];
    expect(statuses(cancelled)).toEqual({ a, b, c, d });
    expect((await run).status).toBe('cancelled');
    expect(await desk.openRuns()).toEqual([]);
    // An answer after that changes nothing.
    gates.b.release();
    await setTimeout(100);
    expect(await desk.status(runId)).toMatchObject({ status: 'cancelled' });
    expect((await desk.cancel(runId)).answers).toEqual(cancelled.answers);
  }, 30_000);

  it.each([
    ['where it takes no credential', 'stopped'],
    ['not where it takes one, which is not kept', 'unreachable'],
  ] as const)('left by its driver asks an agent that nobody here knows %s', async (_, how) => {
    const slow = gate('a');
    await world.aciAgent('a', slow.behaviour);
    const agents = world.agents.map(({ credential = '', ...agent }) =>
      how === 'stopped' ? { ...agent, behind: 'hub' as const } : { ...agent, credential },
    );
    const stop = new AbortController();
    const asked = await requestFor([subtask('a')]);
    const run = master({ agents }).run(asked, { signal: stop.signal });
    run.catch(() => undefined);
    await slow.begun;
    const elsewhere = master({ agents: [] });
    const [runId = ''] = await elsewhere.openRuns();
    await bound(runId, 'a');
    stop.abort(new Error('not now'));
    await expect(run).rejects.toThrow('not now');
    const kept = JSON.stringify(await world.hub.master(world.desk).loadRun(runId));
    for (const { credential } of world.agents) expect(kept).not.toContain(credential);
    expect((await elsewhere.cancel(runId)).answers[how]).toMatchObject([{ subtask: 'a' }]);
    slow.release();
  });

  it('says of an agent that is gone that it could not be told', async () => {
    const slow = gate('a');
    const agent = await world.aciAgent('a', slow.behaviour);
    const desk = master({ stopMs: 300 });
    const run = desk.run(await requestFor([subtask('a')]));
    await slow.begun;
    const [runId = ''] = await desk.openRuns();
    await agent.stop();
    const { answers } = await desk.cancel(runId);
    expect(answers.unreachable).toMatchObject([{ subtask: 'a' }]);
    expect((await run).status).toBe('cancelled');
  });
});

describe('a question in the middle of the work', () => {
  it.each(['an agent of ours', 'a plain one'])(
    'of %s waits for the user, and the answer is a Resource of its Task',
    async (kind) => {
      if (kind === 'a plain one') {
        await world.plainAgent('a', ({ parts: [part] }) => {
          const text = part?.content?.$case === 'text' ? part.content.value : '';
          return text === 'May'
            ? { text: 'It is 2 % in May' }
            : { text: 'Of which month?', state: TaskState.TASK_STATE_INPUT_REQUIRED };
        });
      } else {
        await world.aciAgent('a', async ({ context, ask, output }) => {
          await output('month', await ask('Of which month?'));
          return done(context, ['month']);
        });
      }
      const desk = master();
      const request = await requestFor([
        subtask('a'),
        subtask('b', { agent: 'a', dependsOn: ['a'] }),
      ]);
      const paused = await desk.run(request);
      expect(paused).toMatchObject({
        done: false,
        status: 'awaiting-input',
        questions: [{ subtask: 'a', text: 'Of which month?' }],
      });
      const messages = [
        { id: 'message-1', text: 'Is it right?' },
        { id: 'message-2', text: 'May' },
      ];
      // Another process takes the answer; the first subtask ends, and the second asks in its turn.
      const second = await master().run({ ...request, messages });
      expect(second.questions).toMatchObject([{ subtask: 'b' }]);
      expect((await master().run({ ...request, messages })).questions).toEqual(second.questions);
      await master().answer(second.runId, { id: 'message-3', text: 'May' });
      const report = await master().resume(second.runId);
      expect(report).toMatchObject({ done: true, status: 'completed' });
      expect(report.subtasks.map(({ attempts }) => attempts.length)).toEqual([1, 1]);
      const view = await world.hub.caseView(alice, report.activity);
      expect(view.conflicts).toEqual([]);
      const task = report.subtasks[0]?.attempts[0]?.task;
      expect(view.relationships).toContainEqual(
        expect.objectContaining({ type: 'input-to', to: task, role: 'answer' }),
      );
      await expect(
        master().answer(report.runId, { id: 'x', text: 'x', question: 'no' }),
      ).rejects.toMatchObject({ code: 'not-found' });
    },
  );

  it('is answered by a function where there is one, without the user', async () => {
    await world.aciAgent('a', async ({ context, ask, output }) => {
      await output('month', await ask('Of which month?'));
      return done(context, ['month']);
    });
    const asked: unknown[] = [];
    const report = await master().run(await requestFor([subtask('a')]), {
      onQuestion: ({ question, agent }) => {
        asked.push([agent, question.text]);
        return 'May';
      },
    });
    expect(report.status).toBe('completed');
    expect(asked).toEqual([['a', 'Of which month?']]);
  });
});

describe('suspending a run', () => {
  it('lets what is under way end, begins nothing, and goes on by itself when resumed', async () => {
    const slow = gate('a');
    await world.aciAgent('a', slow.behaviour);
    await world.aciAgent('b', quick('b'));
    const desk = master();
    const run = desk.run(await requestFor([subtask('a'), subtask('b', { dependsOn: ['a'] })]));
    await slow.begun;
    const [runId = ''] = await desk.openRuns();
    await desk.suspend(runId);
    slow.release();
    const paused = await run;
    expect(paused).toMatchObject({ done: false, status: 'suspended' });
    expect(statuses(paused)).toEqual({ a: 'completed', b: 'waiting' });
    expect(await desk.resume(runId)).toMatchObject({ done: true, status: 'completed' });
  });

  it('ends with what the user says next on its task, once and whatever that is', async () => {
    const slow = gate('a');
    await world.aciAgent('a', slow.behaviour);
    await world.aciAgent('b', quick('b'));
    const desk = master();
    const request = await requestFor([subtask('a'), subtask('b', { dependsOn: ['a'] })]);
    const run = desk.run(request);
    await slow.begun;
    const [runId = ''] = await desk.openRuns();
    await desk.suspend(runId);
    slow.release();
    expect(await run).toMatchObject({ status: 'suspended' });
    const messages = [
      { id: 'first', text: 'Is it right?' },
      { id: 'second', text: 'Go on' },
    ];
    expect(await master().run({ ...request, messages })).toMatchObject({
      status: 'completed',
      interruptions: [],
    });
    expect(await master().run({ ...request, messages })).toMatchObject({ interruptions: [] });
  });
});

describe('a run that another process drives', () => {
  const lookMs = 50;

  it('takes in a barge-in, and says who heeds it', async () => {
    const slow = gate('rate');
    await world.aciAgent('find', slow.behaviour);
    const events: RunEvent[] = [];
    const run = master({ lookMs }).run(await requestFor([subtask('find')]), {
      onEvent: (event) => events.push(event),
    });
    await slow.begun;
    // It knows no agents: the plan of the run is enough.
    const elsewhere = master({ lookMs, agents: [] });
    const [runId = ''] = await elsewhere.openRuns();
    await elsewhere.interrupt(runId, { id: 'barge', content: 'The terms of May', about: 'terms' });
    expect(await elsewhere.heeded(runId)).toBe(true);
    await vi.waitFor(() => expect(slow.seen).toHaveLength(2), { timeout: 10_000 });
    slow.release();
    expect(await run).toMatchObject({ status: 'completed', interruptions: [{ id: 'barge' }] });
    expect(slow.seen.at(-1)).toContain('The terms of May');
    expect(events.filter(({ kind }) => kind === 'interrupted')).toMatchObject([{ id: 'barge' }]);
  });

  it('has that process ask its agents to stop', async () => {
    const slow = gate('rate');
    await world.aciAgent('find', slow.behaviour);
    const run = master({ lookMs }).run(await requestFor([subtask('find')]));
    await slow.begun;
    const elsewhere = master({ lookMs, agents: [] });
    const [runId = ''] = await elsewhere.openRuns();
    await bound(runId, 'find');
    expect(await elsewhere.cancel(runId)).toMatchObject({
      status: 'cancelled',
      answers: { stopped: [{ subtask: 'find' }] },
    });
    expect(await run).toMatchObject({ status: 'cancelled' });
    slow.release();
  });

  it('begins nothing more when it is suspended, and nobody heeds what comes when it has gone', async () => {
    const slow = gate('a');
    await world.aciAgent('a', slow.behaviour);
    await world.aciAgent('b', quick('b'));
    const request = await requestFor([subtask('a'), subtask('b', { dependsOn: ['a'] })]);
    const run = master({ lookMs }).run(request);
    await slow.begun;
    const elsewhere = master({ lookMs });
    const [runId = ''] = await elsewhere.openRuns();
    await elsewhere.suspend(runId);
    expect(await elsewhere.heeded(runId)).toBe(true);
    slow.release();
    expect(await run).toMatchObject({ status: 'suspended' });
    await elsewhere.interrupt(runId, { content: 'Never mind' });
    expect(await elsewhere.heeded(runId)).toBe(false);
    expect(await elsewhere.resume(runId)).toMatchObject({ status: 'completed' });
  });

  it('is given up by it once another one drives', async () => {
    const slow = gate('rate');
    await world.aciAgent('find', slow.behaviour);
    const first = master({ lookMs }).run(await requestFor([subtask('find')]));
    await slow.begun;
    const elsewhere = master({ lookMs });
    const [runId = ''] = await elsewhere.openRuns();
    const second = elsewhere.resume(runId);
    await expect(first).rejects.toMatchObject({ code: 'conflict' });
    slow.release();
    expect(await second).toMatchObject({ status: 'completed' });
  });
});
