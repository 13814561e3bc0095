import { beforeEach, describe, expect, it } from 'vitest';
import { limits, type Principal } from '../model/index.ts';
import {
  bob,
  boss,
  checker,
  desk,
  mallory,
  priya,
  refusal,
  refused,
  Scene,
  stores,
  twoOnOneFile,
} from './conformance.ts';

describe.each(stores)('a message that asks to come in (%s)', (_name, open) => {
  let scene: Scene;

  beforeEach(async () => {
    scene = await Scene.open(open);
  });

  it('gets a context of its own when it brings neither context nor task', async () => {
    const first = await scene.admit(priya);
    const second = await scene.admit(priya);
    expect(first).toMatchObject({ kind: 'new', issued: true });
    expect(first.contextId).toMatch(/^ctx_[0-9a-z]{26}$/);
    expect(second.contextId).not.toBe(first.contextId);
  });

  it('goes on in a context of its owner, at whatever agent behind the hub', async () => {
    const { contextId } = await scene.admit(priya);
    const next = await scene.admit(priya, { contextId, agent: checker });
    expect(next).toEqual({ kind: 'new', contextId, issued: false });
  });

  it('gets one text for a context that is unknown, foreign or expired', async () => {
    const own = await scene.admit(priya);
    const foreign = await refused(scene.admit(bob, { contextId: own.contextId }));
    const tenant = await refused(scene.admit(mallory, { contextId: own.contextId }));
    const operator = await refused(scene.admit(boss, { contextId: own.contextId }));
    scene.pass(31 * 86_400_000);
    const expired = await refused(scene.admit(priya, { contextId: own.contextId }));
    const unknown = await refused(
      scene.admit(priya, { contextId: 'ctx_00000000000000000000000000' }),
    );
    const texts = [foreign, tenant, operator, expired, unknown].map(({ code, message }) => [
      code,
      message.replace(/"ctx_\w+"/, 'ID'),
    ]);
    expect(texts).toEqual(texts.map(() => ['context-refused', expect.stringContaining('ID')]));
    expect(new Set(texts.map(String)).size).toBe(1);
  });

  it('reads the store as often for a foreign context as for one that never was', async () => {
    const { contextId } = await scene.admit(priya);
    const reads: string[][] = [];
    for (const each of [contextId, 'ctx_00000000000000000000000000', 'never']) {
      const calls: string[] = [];
      const watched = await Scene.open(open, { store: asking(scene.store, calls) });
      calls.length = 0;
      await refusal(watched.admit(bob, { contextId: each, messageId: 'same' }));
      reads.push(calls);
    }
    expect(reads[0]).toEqual(['record', 'record', 'record', 'records']);
    expect(reads[1]).toEqual(reads[0]);
    expect(reads[2]).toEqual(reads[0]);
  });

  it('writes nothing when it is refused', async () => {
    const mine = await scene.task(priya);
    const other = await scene.admit(priya);
    const theirs = await scene.task(bob);
    const over = await scene.move(mine, 'completed');
    const before = await scene.state();
    expect(await refusal(scene.admit(bob, { contextId: mine.contextId }))).toBe('context-refused');
    expect(await refusal(scene.admit(priya, { taskId: theirs.id }))).toBe('not-found');
    expect(await refusal(scene.admit(priya, { taskId: mine.id, contextId: other.contextId }))).toBe(
      'invalid',
    );
    expect(await refusal(scene.admit(priya, { references: [theirs.id] }))).toBe('not-found');
    expect(await refusal(scene.admit(priya, { taskId: over.id }))).toBe('terminal');
    expect(await scene.state()).toEqual(before);
  });

  it('is refused, and nothing is written, when its task has no room for it', async () => {
    const room = 1_000;
    const held = limits.taskBytes - limits.taskReserveBytes - room;
    const task = await scene.task(priya, {}, { body: 'x'.repeat(held - '""'.length) });
    const before = await scene.state();
    const sent = { taskId: task.id, bytes: room };
    const error = await refused(scene.admit(priya, sent));
    expect([error.code, error.message]).toEqual([
      'too-large',
      expect.stringContaining(task.contextId),
    ]);
    expect(await scene.state()).toEqual(before);
    expect(await scene.admit(priya, { ...sent, bytes: room - 1 })).toMatchObject({ kind: 'new' });
  });

  it('infers the context from the task, and only at the agent that executes it', async () => {
    const task = await scene.task(priya);
    expect(await scene.admit(priya, { taskId: task.id })).toMatchObject({
      kind: 'new',
      contextId: task.contextId,
    });
    expect(await refusal(scene.admit(priya, { taskId: task.id, agent: checker }))).toBe(
      'not-found',
    );
    expect(await refusal(scene.admit(priya, { taskId: 'task-99' }))).toBe('not-found');
  });

  it('comes in through the agent that it is for and no other', async () => {
    const message = { agent: 'desk', messageId: 'm', referenceTaskIds: [] };
    const payload = `sha-256:${'0'.repeat(64)}`;
    const admit = (via: typeof desk) =>
      scene.hub.via(via).admit({ principal: priya }, { ...message, payload });
    const before = await scene.state();
    expect(await refusal(admit(checker))).toBe('not-found');
    expect(await refusal(admit({ ...desk, tenant: 'rival' }))).toBe('not-found');
    expect(await scene.state()).toEqual(before);
    expect(await admit(desk)).toMatchObject({ kind: 'new' });
  });

  it('is told where to go on when its task is over', async () => {
    const task = await scene.move(await scene.task(priya), 'completed');
    const error = await refused(scene.admit(priya, { taskId: task.id }));
    expect(error.code).toBe('terminal');
    expect(error.message).toContain(task.contextId);
    expect(error.details).toEqual({ contextId: task.contextId });
  });

  it('names the reference that it may not read', async () => {
    const mine = await scene.task(priya);
    const theirs = await scene.task(bob);
    const error = await refused(scene.admit(priya, { references: [mine.id, theirs.id] }));
    expect(error.code).toBe('not-found');
    expect(error.message).toContain(theirs.id);
    expect(error.message).not.toContain(mine.id);
    expect(await scene.admit(priya, { references: [mine.id] })).toMatchObject({ kind: 'new' });
  });
});

describe.each(stores)('the same messageId again (%s)', (_name, open) => {
  let scene: Scene;

  beforeEach(async () => {
    scene = await Scene.open(open);
  });

  it('is answered with the task that the first one led to', async () => {
    const task = await scene.task(priya, { messageId: 'm' });
    expect(await scene.admit(priya, { messageId: 'm' })).toEqual({
      kind: 'replay',
      contextId: task.contextId,
      taskId: task.id,
    });
  });

  it('is refused with another payload, and at another agent', async () => {
    await scene.task(priya, { messageId: 'm' });
    expect(await refusal(scene.admit(priya, { messageId: 'm', text: 'other' }))).toBe('conflict');
    expect(await refusal(scene.admit(priya, { messageId: 'm', agent: checker }))).toBe('conflict');
  });

  it('is another message from another caller or tenant', async () => {
    await scene.admit(priya, { messageId: 'm' });
    expect(await scene.admit(bob, { messageId: 'm' })).toMatchObject({ kind: 'new' });
    expect(await scene.admit(mallory, { messageId: 'm' })).toMatchObject({ kind: 'new' });
  });

  it('comes in once when many arrive together', async () => {
    const all = await Promise.all(
      Array.from({ length: 20 }, () => scene.admit(priya, { messageId: 'm' })),
    );
    expect(all.filter(({ kind }) => kind === 'new')).toHaveLength(1);
    expect(all.filter(({ kind }) => kind === 'replay')).toHaveLength(19);
    expect(new Set(all.map(({ contextId }) => contextId)).size).toBe(1);
    expect(all.some((each) => 'taskId' in each)).toBe(false);
  });

  it('comes in anew once, when the process that took it up never stored a task', async () => {
    const first = await scene.admit(priya, { messageId: 'm' });
    scene.pass(30_001);
    expect(await scene.admit(priya, { messageId: 'm' })).toEqual({
      kind: 'new',
      contextId: first.contextId,
      issued: false,
    });
    expect(await scene.admit(priya, { messageId: 'm' })).toMatchObject({ kind: 'replay' });
  });

  it('goes on with its task: a replay once the task was written, anew when it never was', async () => {
    const task = await scene.task(priya);
    const again = { messageId: 'n', taskId: task.id };
    expect(await scene.admit(priya, again)).toMatchObject({ kind: 'new' });
    expect(await scene.admit(priya, again)).toMatchObject({ kind: 'replay', taskId: task.id });
    scene.pass(30_001);
    expect(await scene.admit(priya, again)).toMatchObject({ kind: 'new' });
    await scene.move(task, 'completed');
    scene.pass(30_001);
    expect(await scene.admit(priya, again)).toMatchObject({ kind: 'replay', taskId: task.id });
  });

  it('is checked for rights anew', async () => {
    const { contextId } = await scene.admit(priya);
    const grant = await scene.hub.grant(priya, contextId, {
      grantee: 'bob',
      operations: ['send'],
    });
    await scene.task(bob, { contextId, messageId: 'b' });
    expect(await scene.admit(bob, { contextId, messageId: 'b' })).toMatchObject({ kind: 'replay' });
    await scene.hub.revokeGrant(priya, grant.id);
    expect(await refusal(scene.admit(bob, { contextId, messageId: 'b' }))).toBe('context-refused');
    expect(await refusal(scene.admit(bob, { messageId: 'b' }))).toBe('context-refused');
  });

  it('gets the reply that was given without a task', async () => {
    const { contextId } = await scene.admit(priya, { messageId: 'm' });
    const record = { id: 'reply-1', contextId, agent: 'desk', version: 0 } as const;
    const seen = scene.seen(priya, {
      ...record,
      state: 'completed',
      statusAt: scene.now.toISOString(),
      body: {},
    });
    const reply = { agent: 'desk', messageId: 'm', contextId, reply: { text: 'yes' } };
    await scene.hub.saveReply({ principal: desk }, reply, seen);
    expect(await scene.admit(priya, { messageId: 'm' })).toEqual({
      kind: 'replay',
      contextId,
      reply: { text: 'yes' },
    });
    expect((await scene.hub.listTasks({ principal: priya }, {})).total).toBe(0);
    expect((await scene.hub.caseView(priya, contextId)).tasks).toHaveLength(1);
    expect(await refusal(scene.hub.saveReply({ principal: desk }, reply, seen))).toBe('conflict');
  });
});

describe('a thousand sends of one message at once', () => {
  it('lead to one task', async () => {
    const [[, open] = ['', undefined]] = stores.slice(1);
    if (open === undefined) throw new Error('no store');
    const scene = await Scene.open(open);
    const sends = Array.from({ length: 1_000 }, async () => {
      const admitted = await scene.admit(priya, { messageId: 'same', text: 'same' });
      if (admitted.kind === 'new') await scene.begin(priya, { ...admitted, messageId: 'same' });
      return admitted;
    });
    const admissions = await Promise.all(sends);
    expect(admissions.filter(({ kind }) => kind === 'new')).toHaveLength(1);
    expect(new Set(admissions.map(({ contextId }) => contextId)).size).toBe(1);
    const { tasks, total } = await scene.hub.listTasks({ principal: priya }, {});
    expect(total).toBe(1);
    const later = await scene.admit(priya, { messageId: 'same', text: 'same' });
    expect(later).toMatchObject({ kind: 'replay', taskId: tasks[0]?.id });
  });
});

describe('two hubs on one file', () => {
  it('let a message in once, and each knows what the other did', async () => {
    const [first, second] = await twoOnOneFile();
    const here = await Scene.open(() => Promise.resolve(first));
    const there = await Scene.open(() => Promise.resolve(second));
    const all = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        (i % 2 === 0 ? here : there).admit(priya, { messageId: 'm' }),
      ),
    );
    expect(all.filter(({ kind }) => kind === 'new')).toHaveLength(1);
    const { contextId } = all[0] ?? { contextId: '' };
    const task = await here.begin(priya, { contextId, messageId: 'm' });
    expect(await there.admit(priya, { messageId: 'm' })).toMatchObject({ taskId: task.id });
    const moves = await Promise.allSettled(
      [here, there].map((scene) => scene.move(task, 'completed')),
    );
    expect(moves.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect((await here.hub.caseView(priya, contextId)).conflicts).toEqual([]);
  });
});

describe.each(stores)('a hub that adopts contexts (%s)', (_name, open) => {
  it('takes an unknown id for its sender alone and echoes it unchanged', async () => {
    const scene = await Scene.open(open, { contextPolicy: 'adopt' });
    const mine = await scene.task(priya, { contextId: 'ticket 4711' });
    const theirs = await scene.task(bob, { contextId: 'ticket 4711' });
    const rival = await scene.task(
      mallory,
      { contextId: 'ticket 4711' },
      { agent: { ...desk, tenant: 'rival' } },
    );
    expect([mine.contextId, theirs.contextId, rival.contextId]).toEqual(
      Array.from({ length: 3 }, () => 'ticket 4711'),
    );
    const list = async (principal: typeof priya) =>
      (await scene.hub.listTasks({ principal }, { contextId: 'ticket 4711' })).tasks.map(
        ({ id }) => id,
      );
    expect(await list(priya)).toEqual([mine.id]);
    expect(await list(bob)).toEqual([theirs.id]);
    expect(await list(mallory)).toEqual([rival.id]);
    expect(await scene.admit(priya, { contextId: 'ticket 4711' })).toEqual({
      kind: 'new',
      contextId: 'ticket 4711',
      issued: false,
    });
  });

  it('gives a grantee a handle of ours in its place', async () => {
    const scene = await Scene.open(open, { contextPolicy: 'adopt' });
    const mine = await scene.task(priya, { contextId: 'ticket 4711' });
    const { contextId } = await scene.hub.grant(priya, 'ticket 4711', {
      grantee: 'bob',
      operations: ['send', 'get', 'list'],
    });
    expect(contextId).toMatch(/^ctx_/);
    const made = await scene.task(bob, { contextId, agent: checker });
    expect(made.contextId).toBe(contextId);
    expect((await scene.hub.loadTask({ principal: bob }, mine.id))?.contextId).toBe(contextId);
    expect((await scene.hub.loadTask({ principal: priya }, made.id))?.contextId).toBe(
      'ticket 4711',
    );
    expect((await scene.hub.loadTask({ principal: checker }, made.id))?.contextId).toBe(contextId);
    expect((await scene.hub.caseView(bob, contextId)).summary.contextId).toBe(contextId);
    expect((await scene.hub.caseView(priya, 'ticket 4711')).summary).toMatchObject({
      contextId: 'ticket 4711',
      counts: { dialogs: 1, tasks: 2 },
    });
    const read = async (by: Principal, id: string): Promise<string> =>
      JSON.stringify([await scene.hub.caseView(by, id), await scene.hub.timeline(by, id)]);
    expect(await read(bob, contextId)).not.toContain('ticket 4711');
    expect(await read(bob, contextId)).toContain(contextId);
    expect(await read(priya, 'ticket 4711')).toContain('"localId":"ticket 4711"');
  });

  it('never adopts what looks like an id of ours', async () => {
    const scene = await Scene.open(open, { contextPolicy: 'adopt' });
    const { contextId } = await scene.admit(priya);
    expect(await refusal(scene.admit(bob, { contextId }))).toBe('context-refused');
    const unknown = 'ctx_00000000000000000000000000';
    expect(await refusal(scene.admit(bob, { contextId: unknown }))).toBe('context-refused');
  });
});

/** Notes what works ask of the store. */
function asking(store: Scene['store'], calls: string[]): Scene['store'] {
  return {
    read: (work) => store.read(work),
    onCommit: (listener) => store.onCommit(listener),
    close: () => store.close(),
    write: (work) =>
      store.write((writer) =>
        work(
          new Proxy(writer, {
            get(target, name) {
              const value: unknown = Reflect.get(target, name, target);
              calls.push(String(name));
              const bound: unknown = typeof value === 'function' ? value.bind(target) : value;
              return bound;
            },
          }),
        ),
      ),
  };
}
