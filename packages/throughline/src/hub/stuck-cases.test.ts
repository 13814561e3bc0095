import { beforeEach, describe, expect, it } from 'vitest';
import type { CaseSummary, DraftInput } from '../model/index.ts';
import { bob, boss, desk, priya, rivalBoss, Scene, stores } from './conformance.ts';

const day = 86_400_000;
const says = (about: string, statement: DraftInput['statement']): DraftInput => ({
  about,
  statement,
});

describe.each(stores)('cases in which something is stuck (%s)', (_name, open) => {
  let scene: Scene;

  beforeEach(async () => {
    scene = await Scene.open(open, { contextTtlMs: day });
  });

  const stuckFor = async (by: typeof priya): Promise<readonly CaseSummary[]> =>
    (await scene.hub.cases(by, { stuck: true, pageSize: 2 })).cases;
  const idsFor = async (by: typeof priya) => (await stuckFor(by)).map((each) => each.contextId);
  /** How many cases would be looked into. */
  const marked = async (): Promise<number> => {
    const { cases } = await scene.hub.cases(boss);
    const keys = cases.map(({ activity }) => activity);
    return scene.store.read(async (reader) => {
      const found = await Promise.all(keys.map((key) => reader.record({ kind: 'case', key })));
      return found.filter((each) => each?.index['waits'] !== undefined).length;
    });
  };

  it('are found behind all later ones by one question, with whose step it is', async () => {
    const task = await scene.task(priya);
    await scene.move(task, 'awaiting', { awaiting: 'input' });
    for (let i = 0; i < 5; i++) await scene.task(priya);
    for (const by of [priya, boss]) {
      expect(await stuckFor(by)).toMatchObject([
        { contextId: task.contextId, stuck: 1, whose: [{ participant: expect.any(String) }] },
      ]);
    }
    for (const by of [bob, rivalBoss, desk]) expect(await stuckFor(by)).toEqual([]);
    const [found] = await stuckFor(priya);
    expect(found).toEqual((await scene.hub.caseView(priya, task.contextId)).summary);
    expect((await scene.hub.cases(priya)).cases).toHaveLength(6);
  });

  it('are named by who is to go on: the one that was asked, where work was left', async () => {
    const task = await scene.task(priya);
    await scene.move(task, 'interrupted');
    expect(await stuckFor(priya)).toMatchObject([{ whose: [{ name: 'the desk' }] }]);
  });

  it('are told apart from those in which work failed, until another attempt takes its place', async () => {
    const task = await scene.task(priya);
    const failed = await scene.move(task, 'failed');
    const summary = async () => (await scene.hub.cases(priya)).cases[0];
    expect(await summary()).toMatchObject({ contextId: task.contextId, stuck: 0, failed: 1 });
    const other = await scene.task(priya, { contextId: task.contextId });
    const master = scene.hub.master(desk);
    const [from, to] = [await master.locate(other.id), await master.locate(failed.id)];
    const again = { says: 'relationship.asserted', type: 'replaces' } as const;
    await master.assert([
      says(master.newId('relationship'), { ...again, from: from.task, to: to.task }),
    ]);
    expect(await summary()).not.toHaveProperty('failed');
  });

  it('are no longer found once all goes on, and stay as long as one thing is stuck', async () => {
    const task = await scene.task(priya);
    const waiting = await scene.move(task, 'awaiting', { awaiting: 'input' });
    const { contextId } = task;
    const other = await scene.task(priya, { contextId }, { state: 'interrupted' });
    await scene.move(waiting, 'completed');
    expect(await stuckFor(priya)).toMatchObject([{ contextId, stuck: 1 }]);
    expect(await marked()).toBe(1);
    await scene.move(other, 'in-progress');
    expect(await stuckFor(priya)).toEqual([]);
    expect(await marked()).toBe(0);
  });

  it('are found by the end of a Dialog that left a task behind', async () => {
    const task = await scene.task(priya);
    const master = scene.hub.master(desk);
    const { dialog } = await master.locate(task.id);
    const left = master.newId('task');
    await master.assert([{ about: left, statement: { says: 'task.defined', dialog } }]);
    await scene.move(task, 'completed');
    expect(await marked()).toBe(0);
    scene.pass(2 * day);
    await scene.hub.sweep();
    expect(await stuckFor(boss)).toMatchObject([{ stuck: 1 }]);
  });

  it('leave out what waits for work that goes on, though that is looked into', async () => {
    const task = await scene.task(priya);
    await scene.move(task, 'awaiting', { awaiting: 'result' });
    expect(await idsFor(priya)).toEqual([task.contextId]);
    const master = scene.hub.master(desk);
    const place = await master.locate(task.id);
    const [dialog, below] = [master.newId('dialog'), master.newId('task')];
    const self = await master.participant({ kind: 'agent', principal: desk.id });
    const other = await master.participant({ kind: 'agent', url: 'https://other.example/' });
    const { activity } = place;
    await master.assert([
      says(dialog, {
        says: 'dialog.opened',
        activity,
        participants: [self, other],
        managed: 'none',
      }),
      says(below, { says: 'task.defined', dialog }),
      says(master.newId('relationship'), {
        says: 'relationship.asserted',
        type: 'delegated-from',
        from: below,
        to: place.task,
      }),
    ]);
    expect(await stuckFor(priya)).toEqual([]);
    expect(await marked()).toBe(1);
    await master.assert([says(dialog, { says: 'dialog.state', state: 'interrupted' })]);
    expect(await stuckFor(priya)).toMatchObject([
      { stuck: 1, whose: [{ participant: other, name: 'https://other.example/' }] },
    ]);
  });

  it('are shown to a grantee as far as the grant goes', async () => {
    const task = await scene.task(priya);
    await scene.move(task, 'awaiting', { awaiting: 'input' });
    const fromSequence = (await scene.hub.health()).seq + 1;
    const request = { grantee: 'bob', operations: ['get' as const] };
    const { id } = await scene.hub.grant(priya, task.contextId, { ...request, fromSequence });
    expect(await stuckFor(bob)).toEqual([]);
    await scene.hub.revokeGrant(priya, id);
    await scene.hub.grant(priya, task.contextId, request);
    expect(await stuckFor(bob)).toHaveLength(1);
  });

  it('are found among those of a label, of words and of a participant', async () => {
    const task = await scene.task(priya, {}, { text: 'cash back' });
    const calm = await scene.task(priya, {}, { text: 'cash back' });
    await scene.move(task, 'awaiting', { awaiting: 'input' });
    for (const { contextId } of [task, calm]) {
      await scene.hub.labelCase(priya, contextId, { label: { name: 'ticket', value: '1' } });
    }
    for (const query of [{ label: 'ticket=1' }, { text: 'cash' }, { participant: 'desk' }]) {
      const { cases } = await scene.hub.cases(priya, { ...query, stuck: true });
      expect(cases.map(({ contextId }) => contextId)).toEqual([task.contextId]);
    }
    expect((await scene.hub.cases(priya, { stuck: false })).cases).toHaveLength(2);
  });
});
