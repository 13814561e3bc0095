import { beforeEach, describe, expect, it } from 'vitest';
import type { Principal } from '../model/index.ts';
import { bob, boss, desk, priya, refusal, refused, Scene, stores } from './conformance.ts';
import { Hub } from './hub.ts';

const day = 86_400_000;
const hour = 3_600_000;

describe.each(stores)('what is kept for a time (%s)', (_name, open) => {
  let scene: Scene;

  beforeEach(async () => {
    scene = await Scene.open(open, {
      contextPolicy: 'adopt',
      contextTtlMs: 30 * day,
      taskTtlMs: 7 * day,
      historyTtlMs: 90 * day,
    });
  });

  /** Sweeps to the end and gives what went. */
  const sweep = async () => {
    const all = { contexts: 0, tasks: 0, replies: 0, cases: 0, contents: 0 };
    for (let passes = 0; passes < 100; passes++) {
      const { more, ...swept } = await scene.hub.sweep();
      for (const kind of ['contexts', 'tasks', 'replies', 'cases', 'contents'] as const) {
        all[kind] += swept[kind];
      }
      if (!more) return all;
    }
    throw new Error('did not end');
  };
  const load = (principal: Principal, id: string) => scene.hub.loadTask({ principal }, id);
  const nothing = { contexts: 0, tasks: 0, replies: 0, cases: 0, contents: 0 };

  it('is told to clients', () => {
    expect(scene.hub.terms).toEqual({
      contextPolicy: 'adopt',
      contextSeconds: (30 * day) / 1_000,
      taskSeconds: (7 * day) / 1_000,
      historySeconds: (90 * day) / 1_000,
    });
  });

  it('is a context as long as it is used', async () => {
    const { contextId } = await scene.task(priya);
    for (let month = 0; month < 4; month++) {
      scene.pass(29 * day);
      expect(await sweep()).toEqual(nothing);
      await scene.admit(priya, { contextId });
    }
    scene.pass(30 * day);
    expect(await refusal(scene.admit(priya, { contextId }))).toBe('context-refused');
  });

  it('is a task that may be read and takes no message once its context is gone', async () => {
    const longer = await Scene.open(open, { contextTtlMs: 30 * day, taskTtlMs: 90 * day });
    const task = await longer.move(await longer.task(priya), 'completed');
    const send = (by: Principal) => refused(longer.admit(by, { taskId: task.id }));
    longer.pass(30 * day);
    const before = await send(priya);
    expect(before).toMatchObject({ code: 'context-refused' });
    expect(await longer.hub.sweep()).toMatchObject({ contexts: 1, tasks: 0 });
    expect(await longer.hub.loadTask({ principal: priya }, task.id)).toMatchObject({ id: task.id });
    expect(await send(priya)).toMatchObject({ code: before.code, message: before.message });
    expect(await send(bob)).toMatchObject({ code: 'not-found' });
  });

  it('is a Dialog that is over once its context is, as far as can be inferred', async () => {
    const { contextId } = await scene.move(await scene.task(priya), 'completed');
    const [dialog] = (await scene.hub.caseView(boss, contextId)).dialogs;
    const { summary } = await scene.hub.caseView(boss, contextId);
    scene.pass(30 * day);
    await sweep();
    const over = (await scene.hub.caseView(boss, summary.activity)).dialogs;
    expect(over).toMatchObject([
      { id: dialog?.id, state: 'terminated', reason: 'expired', endInferred: true },
    ]);
    const { assertions } = await scene.hub.timeline(boss, summary.activity);
    expect(assertions.at(-1)).toMatchObject({ source: 'hub', basis: 'observed' });
  });

  it('is refused afterwards like what never was, before and after it is swept', async () => {
    const issued = await scene.move(await scene.task(priya), 'completed');
    const brought = 'ctx_ord123';
    await scene.move(await scene.task(priya, { contextId: brought }), 'completed');
    scene.pass(30 * day);
    const text = async (contextId: string) => {
      const { code, message } = await refused(scene.admit(priya, { contextId }));
      return [code, message.replace(contextId, 'ID')];
    };
    const missing = await text('ctx_00000000000000000000000000');
    for (const contextId of [issued.contextId, brought]) {
      expect(await text(contextId)).toEqual(missing);
    }
    expect(await sweep()).toMatchObject({ contexts: 2 });
    for (const contextId of [issued.contextId, brought]) {
      expect(await text(contextId)).toEqual(missing);
    }
    expect(await sweep()).toEqual(nothing);
  });

  it('outlives the records of its tasks', async () => {
    const task = await scene.task(priya, { messageId: 'm' });
    await scene.move(task, 'completed');
    const open2 = await scene.task(priya, { contextId: task.contextId });
    scene.pass(7 * day - hour);
    expect(await sweep()).toEqual(nothing);
    scene.pass(hour);
    expect(await sweep()).toEqual({ ...nothing, tasks: 1 });
    expect(await load(priya, task.id)).toBeUndefined();
    expect(await load(priya, open2.id)).toMatchObject({ id: open2.id });
    const { tasks } = await scene.hub.caseView(priya, task.contextId);
    expect(tasks.map(({ state }) => state)).toEqual(['completed', 'in-progress']);
    const list = await scene.hub.listTasks({ principal: priya }, { contextId: task.contextId });
    expect(list).toMatchObject({ total: 1, tasks: [{ id: open2.id }] });
    // The key of its message went with it, and no earlier.
    expect(await scene.admit(priya, { contextId: task.contextId, messageId: 'm' })).toMatchObject({
      kind: 'new',
    });
  });

  it('is a reply as long as the record of a task', async () => {
    const messageId = 'asked';
    const { contextId } = await scene.admit(priya, { messageId });
    const record = { id: 'm-1', contextId, agent: desk.id, version: 0, body: null } as const;
    const status = { state: 'completed', statusAt: scene.now.toISOString(), messageId } as const;
    await scene.hub.saveReply(
      { principal: desk },
      { agent: desk.id, messageId, contextId, reply: 'yes' },
      scene.seen(priya, { ...record, ...status }),
    );
    scene.pass(7 * day - hour);
    expect(await scene.admit(priya, { messageId, contextId })).toMatchObject({ kind: 'replay' });
    scene.pass(hour);
    expect(await sweep()).toEqual({ ...nothing, replies: 1 });
    expect(await scene.admit(priya, { messageId, contextId })).toMatchObject({ kind: 'new' });
  });

  it('is not taken from a task that still runs', async () => {
    const task = await scene.task(priya);
    await scene.hub.grant(priya, task.contextId, { grantee: 'bob', operations: ['get'] });
    scene.pass(31 * day);
    expect(await sweep()).toEqual(nothing);
    const moved = await scene.move(task, 'completed');
    expect(moved.version).toBe(2);
    expect(await load(bob, task.id)).toMatchObject({ id: task.id });
    scene.pass(2 * hour);
    expect(await sweep()).toMatchObject({ contexts: 1 });
    expect(await load(bob, task.id)).toBeUndefined();
    expect(await load(priya, task.id)).toMatchObject({ id: task.id });
  });

  it('is history until it is erased, by the hub itself', async () => {
    const { contextId } = await scene.move(await scene.task(priya), 'completed');
    const { activity } = (await scene.hub.caseView(priya, contextId)).summary;
    scene.pass(90 * day - hour);
    expect(await sweep()).toEqual({ ...nothing, contexts: 1, tasks: 1 });
    expect((await scene.hub.caseView(boss, activity)).summary.objective).toBeDefined();
    scene.pass(hour);
    expect(await sweep()).toEqual({ ...nothing, cases: 1 });
    const { summary } = await scene.hub.caseView(priya, activity);
    expect(summary).toMatchObject({ erased: true });
    expect(summary.objective).toBeUndefined();
    const { assertions } = await scene.hub.timeline(priya, activity);
    expect(assertions.at(-1)).toMatchObject({
      source: 'hub',
      statement: { says: 'activity.erased' },
    });
    expect(await sweep()).toEqual(nothing);
  });

  it(
    'goes in passes of a bounded size, each of which says whether there is more',
    { timeout: 120_000 },
    async () => {
      for (let i = 0; i < 501; i++) await scene.admit(priya);
      scene.pass(31 * day);
      const first = await scene.hub.sweep();
      expect(first.more).toBe(true);
      expect(first.contexts).toBeLessThan(501);
      await sweep();
      const report = await scene.hub.quotaReport(boss, 'priya');
      expect(report.used.principal?.contexts).toBe(0);
    },
  );
});

describe('terms that can’t be', () => {
  it.each([
    { contextTtlMs: 0 },
    { taskTtlMs: -1 },
    { historyTtlMs: Number.NaN },
    { contextTtlMs: 2 * day, historyTtlMs: day },
    { contextTtlMs: hour, taskTtlMs: 2 * day, historyTtlMs: day },
  ])('are refused: %j', async (terms) => {
    const [[, open] = ['', undefined]] = stores;
    if (open === undefined) throw new Error('no store');
    const options = { domainKey: new Uint8Array(32), origin: 'https://hub.example' };
    const hub = async () => Hub.open({ ...options, ...terms, store: await open() });
    expect(await refusal(hub())).toBe('invalid');
  });
});
