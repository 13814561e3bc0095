import { beforeEach, describe, expect, it } from 'vitest';
import type { TaskRecord } from '../model/index.ts';
import { Hub } from './hub.ts';
import { boss, checker, desk, priya, refusal, Scene, stores } from './conformance.ts';

const leaseMs = 15_000;
const patienceMs = 120_000;

describe.each(stores)('tasks whose process is gone (%s)', (_name, open) => {
  let scene: Scene;
  let task: TaskRecord;

  const beat = (worker: string, seat?: string) =>
    scene.hub.workers.beat(desk, { worker, ...(seat === undefined ? {} : { seat }) });
  const takeUp = async (worker: string, taking = scene.next('taking')) =>
    (await scene.hub.workers.takeUp(desk, { worker, taking })).map(({ id }) => id);
  const save = async (record: TaskRecord, worker: string, state = record.state) => {
    const next = { ...record, state, worker };
    const seen = scene.seen(priya, next).filter(({ kind }) => kind === 'task');
    const { version } = await scene.hub.saveTask({ principal: desk }, next, seen);
    return { ...next, version };
  };
  const view = () => scene.hub.caseView(priya, task.contextId);
  const load = async () => {
    const record = await scene.hub.loadTask({ principal: desk }, task.id);
    if (record === undefined) throw new Error('the task is not there');
    return record;
  };

  beforeEach(async () => {
    scene = await Scene.open(open, { workers: { leaseMs, patienceMs } });
    await beat('first');
    task = await save(await scene.task(priya), 'first');
  });

  it('and were not begun yet begin at another one as soon as their message comes again', async () => {
    const kindAt = async (worker: string) =>
      (await scene.admit(priya, { messageId: 'fresh', worker })).kind;
    await beat('second');
    expect(await kindAt('first')).toBe('new');
    expect(await kindAt('second')).toBe('replay');
    await scene.hub.workers.leave(desk, { worker: 'first' });
    expect(await kindAt('second')).toBe('new');
    expect(await kindAt('third')).toBe('replay');
  });

  it('are nobody’s to take as long as it says that it is alive', async () => {
    scene.pass(leaseMs - 1);
    expect(await beat('second')).toEqual({ seconds: leaseMs / 1_000, due: false });
    expect(await takeUp('second')).toEqual([]);
    await beat('first');
    scene.pass(leaseMs - 1);
    expect(await beat('second')).toMatchObject({ due: false });
  });

  // More than one taking holds, written one by one on a busy machine.
  it('are taken up by another one, each once', { timeout: 120_000 }, async () => {
    const more = [task.id];
    for (let i = 0; i < 26; i++) more.push((await save(await scene.task(priya), 'first')).id);
    scene.pass(leaseMs + 1);
    expect(await beat('second')).toMatchObject({ due: true });
    const [one, other] = await Promise.all([takeUp('second'), takeUp('third')]);
    const rest = await takeUp('second');
    const taken = [...one, ...other, ...rest];
    expect(taken.toSorted()).toEqual(more.toSorted());
    expect(await takeUp('third')).toEqual([]);
    expect(await beat('second')).toMatchObject({ due: false });
  });

  it('are given again to one whose answer was lost', async () => {
    scene.pass(leaseMs + 1);
    expect(await takeUp('second', 'same')).toEqual([task.id]);
    expect(await takeUp('second', 'same')).toEqual([task.id]);
    expect(await takeUp('second', 'other')).toEqual([]);
  });

  it('are not written any more by the one that was thought to be gone', async () => {
    scene.pass(leaseMs + 1);
    await takeUp('second');
    const late = { ...task, version: (await load()).version };
    expect(await refusal(save(late, 'first', 'completed'))).toBe('conflict');
    const done = await save(late, 'second', 'completed');
    expect(done.version).toBeGreaterThan(late.version);
  });

  it('are free again for it once they wait for their asker', async () => {
    scene.pass(leaseMs + 1);
    await takeUp('second');
    const taken = { ...task, version: (await load()).version };
    const waiting = await save({ ...taken, awaiting: 'input' }, 'second', 'awaiting');
    const { awaiting: _over, ...goesOn } = waiting;
    await save(goesOn, 'first', 'in-progress');
    expect(await takeUp('third')).toEqual([]);
  });

  it('wait for nobody where another process took its seat, or it left in order', async () => {
    await beat('here', 'host:1');
    task = await save(task, 'here');
    await beat('there', 'host:2');
    expect(await takeUp('there')).toEqual([]);
    await beat('anew', 'host:1');
    expect(await takeUp('anew')).toEqual([task.id]);
    await scene.hub.workers.leave(desk, { worker: 'anew' });
    expect(await takeUp('there')).toEqual([task.id]);
  });

  it('that wait for input are nobody’s to work on', async () => {
    await save({ ...task, awaiting: 'input' }, 'first', 'awaiting');
    scene.pass(leaseMs + 1);
    expect(await takeUp('second')).toEqual([]);
    expect(await beat('second')).toMatchObject({ due: false });
  });

  it('are no matter of another agent', async () => {
    scene.pass(leaseMs + 1);
    const given = { worker: 'second', taking: 't' };
    expect(await scene.hub.workers.takeUp(checker, given)).toEqual([]);
    expect(await scene.hub.workers.takeUp(boss, given)).toEqual([]);
  });

  it('of which no process ever said that it works on them are anybody’s', async () => {
    const old = await scene.task(priya);
    expect(await takeUp('second')).toEqual([old.id]);
  });

  it('that nobody takes up are unresolved, and its agent’s step, until it speaks again', async () => {
    scene.pass(leaseMs + 1);
    await scene.hub.sweep();
    expect((await view()).tasks[0]).not.toHaveProperty('unresolved');
    scene.pass(patienceMs);
    await scene.hub.sweep();
    await scene.hub.sweep();
    const doubted = await view();
    expect(doubted.tasks[0]).toMatchObject({ state: 'in-progress', unresolved: true });
    const executor = doubted.participants.find(({ name }) => name === 'the desk')?.id;
    expect(doubted.stuck).toEqual([
      { task: doubted.tasks[0]?.id, why: 'outcome-unknown', whose: [executor] },
    ]);
    const { assertions } = await scene.hub.timeline(priya, task.contextId);
    const doubts = assertions.filter(({ statement }) => statement.says === 'task.unresolved');
    expect(doubts).toMatchObject([{ source: 'hub', basis: 'observed' }]);
    expect(await takeUp('second')).toEqual([task.id]);
    const resolved = await view();
    expect(resolved.tasks[0]).not.toHaveProperty('unresolved');
    expect(resolved.stuck).toEqual([]);
    await save(await load(), 'second', 'completed');
    expect((await view()).tasks[0]?.state).toBe('completed');
  });

  it('and that it finishes after all are resolved by its word', async () => {
    scene.pass(leaseMs + patienceMs + 2);
    await scene.hub.sweep();
    expect((await view()).tasks[0]).toMatchObject({ unresolved: true });
    await save(await load(), 'first', 'completed');
    expect((await view()).tasks[0]).toMatchObject({ state: 'completed' });
    expect((await view()).tasks[0]).not.toHaveProperty('unresolved');
  });

  it('are nobody’s to take for a while after the hub itself was away', async () => {
    let at = scene.now.getTime() + 10 * leaseMs;
    const hub = await Hub.open({
      store: scene.store,
      domainKey: new Uint8Array(32).fill(7),
      origin: 'https://hub.example',
      clock: () => new Date(at),
      workers: { leaseMs, patienceMs },
    });
    const taking = { worker: 'second', taking: 't' };
    expect(await hub.workers.takeUp(desk, taking)).toEqual([]);
    at += leaseMs + 1;
    expect(await hub.workers.takeUp(desk, taking)).toHaveLength(1);
  });

  it('leave no process behind that left nothing', async () => {
    await save(task, 'first', 'completed');
    scene.pass(leaseMs + 1);
    await scene.hub.sweep();
    const until = scene.now.getTime() + 10 * patienceMs;
    const later = await scene.store.read((reader) => reader.expired({ until, limit: 100 }));
    const left = later.filter(({ kind }) => kind === 'worker');
    expect(left).toEqual([]);
  });
});

describe('processes of one agent', () => {
  it('that are alive are at most 256', async () => {
    const [, memory] = stores[0] ?? [];
    if (memory === undefined) throw new Error('there is a store in memory');
    const scene = await Scene.open(memory);
    for (let i = 0; i < 256; i++) await scene.hub.workers.beat(desk, { worker: `w-${i}` });
    const one = (worker: string) => scene.hub.workers.beat(desk, { worker });
    expect(await refusal(one('more'))).toBe('quota');
    await one('w-0');
  });
});
