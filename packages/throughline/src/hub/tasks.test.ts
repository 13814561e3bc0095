import { beforeEach, describe, expect, it } from 'vitest';
import { limits, ThroughlineError, type TaskRecord } from '../model/index.ts';
import {
  bob,
  boss,
  checker,
  desk,
  mallory,
  priya,
  refusal,
  Scene,
  stores,
  through,
} from './conformance.ts';

describe.each(stores)('the record of a task (%s)', (_name, open) => {
  let scene: Scene;

  beforeEach(async () => {
    scene = await Scene.open(open);
  });

  it('belongs to who sent the message that began it, whoever writes it', async () => {
    const body = { history: ['hello'], artifacts: [{ parts: [{ text: 'é𝄞' }] }] };
    const task = await scene.task(priya, {}, { body });
    expect(await scene.hub.loadTask({ principal: priya }, task.id)).toEqual({
      ...task,
      owner: 'priya',
      body,
    });
  });

  it('is there for its owner, its agent and operators, and for nobody else', async () => {
    const { id } = await scene.task(priya);
    const load = async (principal: typeof priya) =>
      (await scene.hub.loadTask({ principal }, id))?.id;
    expect(await Promise.all([priya, desk, boss].map(load))).toEqual([id, id, id]);
    expect(await Promise.all([bob, mallory, checker].map(load))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(await scene.hub.loadTask({ principal: priya }, 'task-99')).toBeUndefined();
  });

  it('is written by its agent alone', async () => {
    const task = await scene.task(priya);
    const { contextId } = await scene.admit(priya, { messageId: 'm2' });
    const first: TaskRecord = { ...task, id: 'other', contextId, messageId: 'm2', version: 0 };
    const before = await scene.state();
    const rival = { principal: { ...desk, tenant: 'rival' } };
    const foreign = await refusal(scene.hub.saveTask(rival, task, []));
    expect(foreign).toBe(await refusal(scene.hub.saveTask(rival, { ...task, id: 'none' }, [])));
    for (const principal of [checker, bob]) {
      expect(await refusal(scene.hub.saveTask({ principal }, task, []))).toBe('not-found');
      expect(await refusal(scene.hub.saveTask({ principal }, first, []))).toBe('context-refused');
      const taken = { ...task, agent: principal.id };
      expect(await refusal(scene.hub.saveTask({ principal }, taken, []))).toMatch(
        /^(not-found|context-refused)$/,
      );
    }
    const presented = { principal: priya, via: checker };
    expect(await refusal(scene.hub.saveTask(presented, task, []))).toBe('not-found');
    expect(await scene.state()).toEqual(before);
    const written = await scene.hub.via(desk).saveTask({ principal: priya }, task, []);
    expect(written).toEqual({ version: 2 });
  });

  it('begins with a message that was let in to that agent and context, once', async () => {
    const { contextId } = await scene.admit(priya, { messageId: 'm' });
    const other = await scene.admit(priya);
    const begin = (contextOfTask: string, messageId: string, agent = desk) =>
      scene.begin(priya, { contextId: contextOfTask, messageId }, { agent });
    expect(await refusal(begin(contextId, 'never'))).toBe('context-refused');
    expect(await refusal(begin(other.contextId, 'm'))).toBe('context-refused');
    expect(await refusal(begin(contextId, 'm', checker))).toBe('context-refused');
    await begin(contextId, 'm');
    expect(await refusal(begin(contextId, 'm'))).toBe('conflict');
  });

  it('keeps the change of one writer when two started from the same version', async () => {
    const task = await scene.task(priya);
    const results = await Promise.allSettled(
      ['a', 'b'].map((body) => scene.move(task, 'in-progress', { body })),
    );
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await refusal(scene.move(task, 'in-progress'))).toBe('conflict');
    expect(await refusal(scene.move({ ...task, id: 'new' }, 'in-progress', { version: 1 }))).toBe(
      'not-found',
    );
  });

  it('never changes once it is over', async () => {
    const task = await scene.move(await scene.task(priya), 'cancelled');
    const before = await scene.state();
    expect(await refusal(scene.move(task, 'completed'))).toBe('terminal');
    expect(await refusal(scene.move(task, 'cancelled'))).toBe('terminal');
    expect(await scene.state()).toEqual(before);
  });

  it('stays in the context that it began in', async () => {
    const task = await scene.task(priya);
    const { contextId } = await scene.admit(priya);
    expect(await refusal(scene.move({ ...task, contextId }, 'completed'))).toBe('invalid');
  });

  it('is written together with what was observed, or not at all, wherever the write breaks off', async () => {
    let failAt = Infinity;
    let steps = 0;
    const breaking = through(scene.store, (name) => {
      steps += 1;
      if (steps === failAt) throw new ThroughlineError('unavailable', `killed at ${name}`);
    });
    const killed = await Scene.open(open, { store: breaking });
    const { contextId } = await killed.admit(priya, { messageId: 'm' });
    const before = await scene.store.read((reader) => reader.head());
    steps = 0;
    await killed.begin(priya, { contextId, messageId: 'm' });
    const total = steps;
    expect(total).toBeGreaterThan(10);
    const second = await killed.admit(priya, { messageId: 'n' });
    const middle = await killed.state();
    expect(middle.seq).toBeGreaterThan(before.seq);
    for (failAt = 1; failAt <= 400; failAt++) {
      steps = 0;
      const begun = killed.begin(priya, { contextId: second.contextId, messageId: 'n' });
      const broken = await begun.then(
        () => false,
        () => true,
      );
      if (!broken) break;
      expect(await killed.state()).toEqual(middle);
      expect((await killed.hub.listTasks({ principal: priya }, {})).total).toBe(1);
    }
    expect(failAt).toBeGreaterThan(10);
    expect((await killed.hub.listTasks({ principal: priya }, {})).total).toBe(2);
  });

  it('tells the graph its state, and a clock that runs ahead is clipped and noted', async () => {
    const task = await scene.task(priya);
    const ahead = new Date(scene.now.getTime() + 5 * 3_600_000).toISOString();
    const next = { ...task, state: 'completed' as const, statusAt: ahead };
    const seen = scene.seen(priya, next).map((each) => ({ ...each, at: ahead }));
    await scene.hub.saveTask({ principal: desk }, next, seen);
    const stored = await scene.hub.loadTask({ principal: priya }, task.id);
    expect(stored?.statusAt).toBe(scene.now.toISOString());
    const { assertions } = await scene.hub.timeline(priya, task.contextId);
    const last = assertions.at(-1);
    expect(last).toMatchObject({
      statement: { says: 'task.state', state: 'completed' },
      skewMs: 5 * 3_600_000,
      assertedAt: scene.now.toISOString(),
      basis: 'reported',
    });
    expect(assertions.map(({ seq }) => seq)).toEqual(
      assertions.map(({ seq }) => seq).toSorted((a, b) => a - b),
    );
  });

  it('must come with what was observed of it at first', async () => {
    const { contextId } = await scene.admit(priya, { messageId: 'm' });
    const record: TaskRecord = {
      id: 't',
      contextId,
      agent: 'desk',
      version: 0,
      state: 'in-progress',
      statusAt: scene.now.toISOString(),
      messageId: 'm',
      body: {},
    };
    expect(await refusal(scene.hub.saveTask({ principal: desk }, record, []))).toBe('invalid');
    const big = { ...record, body: 'x'.repeat(limits.taskBytes) };
    expect(await refusal(scene.hub.saveTask({ principal: desk }, big, []))).toBe('too-large');
  });

  it('keeps room for the status that ends it', async () => {
    const task = await scene.task(priya);
    const room = limits.taskBytes - limits.taskReserveBytes - '""'.length;
    const full = await scene.move(task, 'in-progress', { body: 'x'.repeat(room) });
    const more = { body: 'x'.repeat(room + 1) };
    expect(await refusal(scene.move(full, 'in-progress', more))).toBe('too-large');
    await scene.move(full, 'failed', more);
  });

  it('says who took part by who was authenticated, not by what the observation claims', async () => {
    const { contextId } = await scene.admit(priya, { messageId: 'm' });
    const statusAt = scene.now.toISOString();
    const record: TaskRecord = {
      id: 't',
      contextId,
      agent: 'desk',
      version: 0,
      state: 'in-progress',
      statusAt,
      messageId: 'm',
      body: {},
    };
    const claimed = scene.seen(bob, record).map((each) => ({
      ...each,
      server: { ...each.server, principal: 'checker' },
    }));
    await scene.hub.saveTask({ principal: desk }, record, claimed);
    const { participants } = await scene.hub.caseView(priya, contextId);
    const ids = ['priya', 'desk'].map((principal) =>
      scene.hub.master(boss).participant({ kind: 'agent', principal }),
    );
    expect(participants.map(({ id }) => id).toSorted()).toEqual(
      (await Promise.all(ids)).toSorted(),
    );
  });

  it('lets a caller ask for its cancellation without changing its state', async () => {
    const task = await scene.task(priya);
    const [message] = scene.seen(priya, task);
    if (message?.kind !== 'message') throw new Error('no message');
    const { protocol, side, endpoint, contextId, client, server, at } = message;
    const where = { protocol, side, endpoint, contextId, client, server, at };
    const request = { ...where, kind: 'cancel-request', taskId: task.id } as const;
    expect(await refusal(scene.hub.observe({ principal: bob }, [request]))).toBe('not-found');
    const elsewhere = { ...request, server: { ...server, principal: 'checker' } };
    expect(await refusal(scene.hub.observe({ principal: priya }, [elsewhere]))).toBe('not-found');
    await scene.hub.observe({ principal: priya }, [request]);
    const { tasks } = await scene.hub.caseView(priya, task.contextId);
    expect(tasks).toMatchObject([{ state: 'in-progress', cancelRequested: true }]);
  });
});
