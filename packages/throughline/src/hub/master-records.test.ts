import { beforeEach, describe, expect, it } from 'vitest';
import {
  bob,
  boss,
  checker,
  counted,
  desk,
  handoverOf,
  priya,
  refusal,
  rivalBoss,
  Scene,
  stores,
} from './conformance.ts';

describe.each(stores)('what a Master keeps at its hub (%s)', (_name, open) => {
  let scene: Scene;
  let place: { activity: string; dialog: string; task: string };
  let contextId: string;

  const master = () => scene.hub.master(desk);

  beforeEach(async () => {
    scene = await Scene.open(open);
    const task = await scene.task(priya);
    ({ contextId } = task);
    place = await master().locate(task.id);
  });

  /** A Dialog with the checker and an attempt in it. */
  async function delegate(): Promise<{ dialog: string; task: string }> {
    const [dialog, task] = [master().newId('dialog'), master().newId('task')];
    const participants = [
      await master().participant({ kind: 'agent', principal: 'desk' }),
      await master().participant({ kind: 'agent', principal: 'checker', name: 'accounts' }),
    ];
    const { activity } = place;
    await master().assert([
      {
        about: dialog,
        statement: { says: 'dialog.opened', activity, participants, managed: 'ours' },
      },
      {
        about: master().newId('relationship'),
        statement: {
          says: 'relationship.asserted',
          type: 'delegated-from',
          from: dialog,
          to: place.dialog,
        },
      },
      { about: task, statement: { says: 'task.defined', dialog, objective: 'recompute' } },
    ]);
    return { dialog, task };
  }

  it('keeps its runs to itself, version checked', async () => {
    const { activity } = place;
    const run = { id: 'run 1', activity, done: false, state: { step: 1 }, expected: 0 };
    expect(await master().saveRun(run)).toEqual({ version: 1 });
    expect(await refusal(master().saveRun(run))).toBe('conflict');
    expect(await master().saveRun({ ...run, state: { step: 2 }, expected: 1 })).toEqual({
      version: 2,
    });
    const other = await master().locate((await scene.task(bob)).id);
    const moved = { ...run, activity: other.activity, expected: 2 };
    expect(await refusal(master().saveRun(moved))).toBe('conflict');
    expect(await master().loadRun('run 1')).toEqual({ state: { step: 2 }, version: 2 });
    expect(await master().openRuns()).toEqual(['run 1']);
    for (const principal of [bob, boss, checker, { ...desk, tenant: 'rival' }]) {
      expect(await scene.hub.master(principal).loadRun('run 1')).toBeUndefined();
      expect(await scene.hub.master(principal).openRuns()).toEqual([]);
      expect(await refusal(scene.hub.master(principal).saveRun(run))).toBe('not-found');
    }
    await master().saveRun({ ...run, done: true, expected: 2 });
    expect(await master().openRuns()).toEqual([]);
  });

  it('knows which of its processes drives a run, and which runs one that is gone left', async () => {
    const { activity } = place;
    const run = { id: 'run 1', activity, done: false, state: {}, expected: 0 };
    const of = async (): Promise<unknown> => (await master().loadRun('run 1'))?.driver;
    await master().saveRun({ ...run, driver: 'first' });
    expect(await of()).toBe('first');
    await master().saveRun({ ...run, expected: 1 });
    expect(await of()).toBe('first');
    // A hub that was away itself knows of nobody's beats for a while.
    scene.pass(20_000);
    await master().beat({ worker: 'first' });
    scene.pass(10_000);
    expect(await of()).toBe('first');
    expect(await master().leftRuns()).toEqual([]);
    scene.pass(10_000);
    expect(await of()).toBeUndefined();
    expect(await master().leftRuns()).toEqual([{ id: 'run 1', driver: 'first' }]);
    for (const principal of [bob, boss, checker, { ...desk, tenant: 'rival' }]) {
      expect(await scene.hub.master(principal).leftRuns()).toEqual([]);
    }
    // What somebody else decides about it is no word of the one that is gone.
    await master().saveRun({ ...run, expected: 2 });
    expect(await master().leftRuns()).toEqual([{ id: 'run 1', driver: 'first' }]);
    await master().saveRun({ ...run, expected: 3, driver: 'second' });
    expect(await refusal(master().saveRun({ ...run, expected: 3, driver: 'third' }))).toBe(
      'conflict',
    );
    expect(await of()).toBe('second');
    expect(await master().leftRuns()).toEqual([]);
    await master().leave({ worker: 'second' });
    expect(await master().leftRuns()).toEqual([{ id: 'run 1', driver: 'second' }]);
    await scene.hub.sweep();
    expect(await master().leftRuns()).toEqual([{ id: 'run 1', driver: 'second' }]);
    await master().saveRun({ ...run, expected: 4, driver: null });
    expect(await master().leftRuns()).toEqual([]);
    await master().saveRun({ ...run, expected: 5, driver: 'third' });
    await master().saveRun({ ...run, expected: 6, done: true });
    await master().leave({ worker: 'third' });
    expect(await of()).toBeUndefined();
    expect(await master().leftRuns()).toEqual([]);
    expect(await master().openRuns()).toEqual([]);
  });

  it('keeps figures of a hand-over for the case, and its texts for itself and operators', async () => {
    const { dialog, task } = await delegate();
    const handover = handoverOf({ dialog, task });
    await master().saveHandover(handover, counted);
    await master().saveHandover({ ...handover, returned: 2 }, { ...counted, returned: 'yes' });
    const fromSequence = (await scene.hub.health()).seq + 1;
    const request = { grantee: 'bob', operations: ['get' as const] };
    const { id } = await scene.hub.grant(priya, contextId, { ...request, fromSequence });
    expect((await scene.hub.caseView(bob, contextId)).handovers).toEqual([]);
    await scene.hub.revokeGrant(priya, id);
    await scene.hub.grant(priya, contextId, request);
    for (const by of [priya, bob]) {
      const { handovers } = await scene.hub.caseView(by, contextId);
      expect(handovers).toEqual([{ ...handover, returned: 2 }]);
    }
    const read = (by: typeof desk, at = task) => scene.hub.handoverTexts(by, contextId, at);
    for (const by of [desk, boss]) {
      expect(await read(by)).toEqual({ ...counted, returned: 'yes' });
      expect(await refusal(read(by, place.task))).toBe('not-found');
    }
    for (const by of [priya, bob, checker, { ...desk, tenant: 'rival' }, rivalBoss]) {
      expect(await refusal(read(by))).toBe('not-found');
    }
  });

  it('accounts for its own hand-overs alone, once each', async () => {
    const { dialog, task } = await delegate();
    const handover = handoverOf({ dialog, task });
    await scene.hub.master(checker).participant({ kind: 'agent', principal: 'checker' });
    for (const by of [bob, checker, priya, boss]) {
      expect(await refusal(scene.hub.master(by).saveHandover(handover, counted))).toBe('not-found');
    }
    const elsewhere = { ...handover, dialog: place.dialog };
    expect(await refusal(master().saveHandover(elsewhere, counted))).toBe('not-found');
    await master().saveHandover({ ...handover, sent: 4 }, { ...counted, sent: 'before it went' });
    await master().saveHandover(handover, counted);
    await scene.task(desk, { agent: checker }, { envelope: { v: 1, dialog, task } });
    await master().saveHandover(handover, counted);
    const forged = { ...counted, fullHistory: 'nothing' };
    expect(await refusal(master().saveHandover(handover, forged))).toBe('conflict');
    expect(await refusal(master().saveHandover({ ...handover, sent: 1 }, counted))).toBe(
      'conflict',
    );
    const back = { ...counted, returned: 'yes' };
    await master().saveHandover({ ...handover, returned: 2 }, { ...back, fullHistory: 'later' });
    await master().saveHandover({ ...handover, returned: 2 }, back);
    expect(await refusal(master().saveHandover({ ...handover, returned: 3 }, back))).toBe(
      'conflict',
    );
    expect(await scene.hub.handoverTexts(desk, contextId, task)).toEqual(back);
  });
});
