import { beforeEach, describe, expect, it } from 'vitest';
import type { Principal, TaskQuery, TaskRecord } from '../model/index.ts';
import { bob, boss, checker, desk, mallory, priya, refusal, Scene, stores } from './conformance.ts';
import { compareTimes } from './list-tasks.ts';

describe.each(stores)('a list of tasks (%s)', (_name, open) => {
  let scene: Scene;

  beforeEach(async () => {
    scene = await Scene.open(open);
  });

  const list = async (principal: Principal, query: TaskQuery = {}) =>
    (await scene.hub.listTasks({ principal }, query)).tasks.map(({ id }) => id);

  /** Walks all pages; `between` happens after each. */
  async function walk(principal: Principal, query: TaskQuery, between: () => Promise<void>) {
    const ids: string[] = [];
    const totals: number[] = [];
    let cursor: string | undefined;
    for (let pages = 0; pages < 100; pages++) {
      const page = await scene.hub.listTasks(
        { principal },
        { ...query, ...(cursor === undefined ? {} : { cursor }) },
      );
      ids.push(...page.tasks.map(({ id }) => id));
      totals.push(page.total);
      if (page.cursor === undefined) return { ids, totals };
      cursor = page.cursor;
      await between();
    }
    throw new Error('did not end');
  }

  async function some(count: number, by = priya): Promise<TaskRecord[]> {
    const made: TaskRecord[] = [];
    for (let i = 0; i < count; i++) {
      made.push(await scene.task(by));
      scene.pass(1_000);
    }
    return made;
  }

  /** What one of many writers does at a time. */
  async function moveAndMake(mine: TaskRecord): Promise<TaskRecord> {
    const next = await scene.move(mine, 'in-progress', {
      statusAt: scene.now.toISOString(),
      body: { history: [scene.next('turn')] },
    });
    await scene.task(priya);
    scene.pass(1);
    return next;
  }

  it('holds what the caller may see and nothing else', async () => {
    const [mine] = await some(1);
    const [theirs] = await some(1, bob);
    expect(await list(priya)).toEqual([mine?.id]);
    expect(await list(bob)).toEqual([theirs?.id]);
    expect(await list(boss)).toEqual([theirs?.id, mine?.id]);
    expect(await list(mallory)).toEqual([]);
    expect(await list({ ...boss, tenant: 'rival' })).toEqual([]);
    expect(await list(bob, { contextId: mine?.contextId ?? '' })).toEqual([]);
    expect(await list(bob, { contextId: 'ctx_00000000000000000000000000' })).toEqual([]);
    expect(await list(checker, { agent: 'desk' })).toEqual([]);
  });

  it('gives each unchanged task exactly once while 16 writers make and move others', async () => {
    const still = (await some(24)).map(({ id }) => id);
    let moved = await Promise.all(Array.from({ length: 16 }, () => scene.task(priya)));
    // Each writes once a page, so that a slow machine has no more to do than a quick one.
    let writing = Promise.all(moved.map(moveAndMake));
    const { ids } = await walk(priya, { pageSize: 8 }, async () => {
      moved = await writing;
      writing = Promise.all(moved.map(moveAndMake));
    });
    moved = await writing;
    const times = new Map<string, number>();
    for (const id of ids) times.set(id, (times.get(id) ?? 0) + 1);
    expect(still.map((id) => times.get(id))).toEqual(still.map(() => 1));
    for (const { id } of moved) expect(times.get(id)).toBeGreaterThan(0);
  }, 120_000);

  it('tells an agent what a restart left open', async () => {
    const [first, second] = await some(2);
    if (first === undefined || second === undefined) throw new Error('none');
    await scene.move(first, 'completed');
    expect(await list(desk, { agent: 'desk', unfinished: true })).toEqual([second.id]);
    expect(await list(desk, { agent: 'desk' })).toEqual([first.id, second.id]);
    expect(await list(desk)).toEqual([]);
  });

  it('shows a case whole to its owner, to a grantee what the grant covers and its own', async () => {
    const early = await scene.task(priya);
    const { contextId } = early;
    const { seq } = await scene.hub.health();
    const late = await scene.task(priya, { contextId });
    await scene.hub.grant(priya, contextId, {
      grantee: 'bob',
      operations: ['list', 'get', 'send'],
      fromSequence: seq + 1,
    });
    const bobs = await scene.task(bob, { contextId, agent: checker });
    const elsewhere = await scene.task(bob);
    expect((await list(priya, { contextId })).toSorted()).toEqual(
      [early.id, late.id, bobs.id].toSorted(),
    );
    expect((await list(priya)).toSorted()).toEqual([early.id, late.id, bobs.id].toSorted());
    expect((await list(bob, { contextId })).toSorted()).toEqual([late.id, bobs.id].toSorted());
    const all = await scene.hub.listTasks({ principal: bob }, {});
    expect(all.tasks.map(({ id }) => id).toSorted()).toEqual(
      [late.id, bobs.id, elsewhere.id].toSorted(),
    );
    expect(all.total).toBe(3);
    expect(await scene.hub.loadTask({ principal: bob }, early.id)).toBeUndefined();
    expect(await scene.hub.loadTask({ principal: bob }, late.id)).toMatchObject({ id: late.id });
  });

  it('does not show a case to one who may send but not list', async () => {
    const task = await scene.task(priya);
    const { contextId } = task;
    await scene.hub.grant(priya, contextId, { grantee: 'bob', operations: ['send'] });
    expect(await list(bob, { contextId })).toEqual([]);
    const own = await scene.task(bob, { contextId });
    expect(await list(bob, { contextId })).toEqual([own.id]);
    expect(await list(bob)).toEqual([own.id]);
  });

  it('comes in more pages where tasks are large, each whole, also those that moved meanwhile', async () => {
    const made = await some(5);
    const body = { text: 'x'.repeat(1_500_000) };
    const large: TaskRecord[] = [];
    for (const task of made) large.push(await scene.move(task, 'in-progress', { body }));
    const sizes: number[] = [];
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const query = cursor === undefined ? {} : { cursor };
      const page = await scene.hub.listTasks({ principal: priya }, query);
      for (const task of page.tasks) expect(task.body).toEqual(body);
      expect(page.total).toBe(5);
      sizes.push(page.tasks.length);
      seen.push(...page.tasks.map(({ id }) => id));
      cursor = page.cursor;
      if (sizes.length === 1) {
        // Those that no page has shown yet get ahead of the reader.
        scene.pass(1_000);
        const left = large.filter(({ id }) => !seen.includes(id));
        for (const task of left) await scene.move(task, 'in-progress', { body: task.body });
      }
    } while (cursor !== undefined);
    expect(sizes).toEqual([2, 0, 2, 1]);
    expect(seen.toSorted()).toEqual(large.map(({ id }) => id).toSorted());
  });

  it('shows a task that is larger than a page alone, and goes on behind it', async () => {
    const [first, second] = await some(2);
    if (first === undefined || second === undefined) throw new Error('none');
    await scene.move(second, 'in-progress', { body: { text: 'x'.repeat(4_000_000) } });
    const page = await scene.hub.listTasks({ principal: priya }, {});
    expect(page.tasks.map(({ id }) => id)).toEqual([second.id]);
    const { cursor = '' } = page;
    expect(await list(priya, { cursor })).toEqual([first.id]);
  });

  it('comes in pages, latest status first, each task once, with the total before paging', async () => {
    const made = await some(7);
    const { ids, totals } = await walk(priya, { pageSize: 3 }, () => Promise.resolve());
    expect(ids).toEqual(made.map(({ id }) => id).toReversed());
    expect(totals).toEqual([7, 7, 7]);
  });

  it('loses none of several with the same time', async () => {
    const made: string[] = [];
    for (let i = 0; i < 5; i++) made.push((await scene.task(priya)).id);
    const { ids } = await walk(priya, { pageSize: 2 }, () => Promise.resolve());
    expect(ids.toSorted()).toEqual(made.toSorted());
  });

  it('gives every unchanged task exactly once and every changed one at least once', async () => {
    const made = await some(9);
    const changing = [made[2], made[0], made[8]].flatMap((task) => task ?? []);
    const changed = new Set(changing.map(({ id }) => id));
    const added: string[] = [];
    const { ids } = await walk(priya, { pageSize: 2 }, async () => {
      scene.pass(1_000);
      const task = changing.shift();
      if (task !== undefined) await scene.move(task, 'completed');
      if (added.length < 3) added.push((await scene.task(priya)).id);
    });
    for (const { id } of made) {
      const times = ids.filter((each) => each === id).length;
      if (changed.has(id)) expect(times).toBeGreaterThanOrEqual(1);
      else expect(times).toBe(1);
    }
    expect(ids.filter((id) => added.includes(id))).toEqual([]);
  });

  it('filters by state, what is awaited and time, compared as numbers', async () => {
    const [first, second, third] = await some(3);
    if (!first || !second || !third) throw new Error('none');
    await scene.move(first, 'awaiting', { awaiting: 'input' });
    await scene.move(second, 'completed');
    expect(await list(priya, { state: 'completed' })).toEqual([second.id]);
    expect(await list(priya, { state: 'awaiting', awaiting: 'input' })).toEqual([first.id]);
    expect(await list(priya, { state: 'awaiting', awaiting: 'authorization' })).toEqual([]);
    const from = third.statusAt.replace('Z', '+00:00');
    const page = await scene.hub.listTasks({ principal: priya }, { statusFrom: from });
    expect(page.tasks.map(({ id }) => id).toSorted()).toEqual(
      [first.id, second.id, third.id].toSorted(),
    );
    const after = third.statusAt.replace('.000Z', '.000000001Z');
    const later = await scene.hub.listTasks({ principal: priya }, { statusFrom: after });
    expect(later.tasks.map(({ id }) => id)).not.toContain(third.id);
    expect(later.total).toBe(2);
  });

  it('refuses a cursor of another caller, another filter, or none at all', async () => {
    await some(3);
    await some(3, bob);
    const { cursor = '' } = await scene.hub.listTasks({ principal: priya }, { pageSize: 1 });
    const ask = (principal: Principal, query: TaskQuery) =>
      refusal(scene.hub.listTasks({ principal }, query));
    expect(await ask(bob, { cursor, pageSize: 1 })).toBe('invalid');
    expect(await ask(mallory, { cursor, pageSize: 1 })).toBe('invalid');
    expect(await ask(priya, { cursor, state: 'completed' })).toBe('invalid');
    expect(await ask(priya, { cursor: `${cursor.slice(0, -2)}AA` })).toBe('invalid');
    expect(await ask(priya, { cursor: 'x' })).toBe('invalid');
    expect(await ask(priya, { pageSize: 0 })).toBe('invalid');
    expect(await ask(priya, { pageSize: 101 })).toBe('invalid');
    expect(cursor).not.toContain('task');
  });
});

describe('two times', () => {
  it.each([
    ['2031-01-01T00:00:00.123Z', '2031-01-01T00:00:00.123000001Z', -1],
    ['2031-01-01T00:00:00.1Z', '2031-01-01T00:00:00.100Z', 0],
    ['2031-01-01T02:00:00+02:00', '2031-01-01T00:00:00Z', 0],
    ['2031-01-01T00:00:01Z', '2031-01-01T00:00:00.999999999Z', 1],
  ])('%s and %s are told apart to the nanosecond', (a, b, sign) => {
    expect(Math.sign(compareTimes(a, b))).toBe(sign);
    expect(Math.sign(compareTimes(b, a))).toBe(sign === 0 ? 0 : -sign);
  });
});
