import { beforeEach, describe, expect, it } from 'vitest';
import {
  bob,
  boss,
  checker,
  desk,
  mallory,
  priya,
  refusal,
  refused,
  rivalBoss,
  Scene,
  stores,
} from './conformance.ts';
import type { Principal, TaskRecord } from '../model/index.ts';

const nobody = 'asr_00000000000000000000000000';

describe.each(stores)('a case in people’s hands (%s)', (_name, open) => {
  let scene: Scene;
  let task: TaskRecord;
  let activity: string;

  beforeEach(async () => {
    scene = await Scene.open(open);
    task = await scene.task(priya, {}, { text: 'My refund is late' });
    ({ activity } = (await scene.hub.caseView(priya, task.contextId)).summary);
  });

  const summary = async (by: Principal = priya, id = activity) =>
    (await scene.hub.caseView(by, id)).summary;
  const taskId = async () => (await scene.hub.caseView(priya, activity)).tasks[0]?.id ?? '';
  const last = async () => (await scene.hub.timeline(priya, activity)).assertions.at(-1);

  it('is closed and opened again, each once, and says who did it and why', async () => {
    const closed = await scene.hub.closeCase(priya, task.contextId);
    expect(closed.assertions).toHaveLength(1);
    expect(await summary()).toMatchObject({ closed: true });
    expect(await scene.hub.closeCase(boss, activity)).toEqual({ assertions: [] });
    const cause = closed.assertions[0] ?? '';
    await scene.hub.reopenCase(boss, activity, { cause });
    expect(await summary()).toMatchObject({ closed: false });
    const said = await last();
    expect(said).toMatchObject({ basis: 'supervised', cause, about: activity });
    expect(said?.source).toMatch(/^prt_/);
    expect(said?.source).not.toBe(
      (await scene.hub.caseView(priya, activity)).activities[0]?.initiator,
    );
    expect(await scene.move(task, 'completed')).toMatchObject({ version: 2 });
  });

  it('has labels that can be changed and taken off', async () => {
    const label = (value?: string) =>
      scene.hub.labelCase(priya, activity, {
        label: { name: 'ticket', ...(value === undefined ? {} : { value }) },
      });
    await label('1234');
    await scene.hub.labelCase(boss, activity, { label: { name: 'team', value: 'cards' } });
    expect(await summary()).toMatchObject({ labels: { ticket: '1234', team: 'cards' } });
    await label('77');
    expect((await summary()).labels).toEqual({ ticket: '77', team: 'cards' });
    await label();
    expect((await summary()).labels).toEqual({ team: 'cards' });
    expect(await label()).toEqual({ assertions: [] });
  });

  it('is refused malformed labels, and more than it can hold', async () => {
    for (const name of ['', 'Ticket', 'a b', '1x', 'x'.repeat(65), '__proto__']) {
      const given = { label: { name, value: '1' } };
      expect(await refusal(scene.hub.labelCase(priya, activity, given))).toBe('invalid');
    }
    const empty = { label: { name: 'ticket', value: '' } };
    expect(await refusal(scene.hub.labelCase(priya, activity, empty))).toBe('invalid');
    for (let i = 0; i < 32; i++) {
      await scene.hub.labelCase(priya, activity, { label: { name: `n${i}`, value: 'x' } });
    }
    const more = { label: { name: 'more', value: 'x' } };
    expect(await refusal(scene.hub.labelCase(priya, activity, more))).toBe('conflict');
  });

  it('is merged: closed, and shown with the case that goes on', async () => {
    const other = await scene.task(priya, {}, { text: 'My refund again' });
    const { assertions } = await scene.hub.mergeCase(priya, other.contextId, {
      into: task.contextId,
    });
    expect(assertions).toHaveLength(2);
    const view = await scene.hub.caseView(priya, task.contextId);
    expect(view.activities.map(({ closed }) => closed)).toEqual([false, true]);
    expect(view.tasks.map(({ localId }) => localId)).toEqual([task.id, other.id]);
    expect(view.summary).toMatchObject({ activity, counts: { activities: 2, tasks: 2 } });
    const ended = await scene.hub.caseView(priya, other.contextId);
    expect(ended.tasks.map(({ localId }) => localId)).toEqual([other.id]);
    expect(ended.relationships).toMatchObject([{ type: 'dev.throughline.merged-into' }]);
    expect(
      await refusal(scene.hub.mergeCase(priya, task.contextId, { into: other.contextId })),
    ).toBe('invalid');
    expect(await refusal(scene.hub.mergeCase(priya, activity, { into: activity }))).toBe('invalid');
    const third = await scene.task(priya);
    expect(
      await refusal(scene.hub.mergeCase(priya, other.contextId, { into: third.contextId })),
    ).toBe('conflict');
    await scene.hub.undoInCase(priya, other.contextId, { assertion: assertions[0] ?? '' });
    const again = await scene.hub.caseView(priya, task.contextId);
    expect(again.summary.counts).toMatchObject({ activities: 1, tasks: 1 });
    expect((await summary(priya, other.contextId)).closed).toBe(false);
  });

  it('shows of what was merged into it only what the viewer may see', async () => {
    const other = await scene.task(bob, {}, { text: 'a secret of Bob' });
    await scene.hub.mergeCase(boss, other.contextId, { into: activity });
    expect(JSON.stringify(await scene.hub.caseView(priya, activity))).not.toContain('secret');
    expect(JSON.stringify(await scene.hub.caseView(boss, activity))).toContain('secret');
    expect(await refusal(scene.hub.mergeCase(priya, activity, { into: other.contextId }))).toBe(
      'not-found',
    );
  });

  it('is split: a case of its own that goes on from it, under a context of its own', async () => {
    const split = await scene.hub.splitCase(priya, task.contextId, {
      objective: 'The shipping fee',
      tasks: [task.id],
    });
    expect(split.contextId).not.toBe(task.contextId);
    const view = await scene.hub.caseView(priya, split.contextId);
    expect(view.summary).toMatchObject({
      activity: split.activity,
      contextId: split.contextId,
      objective: 'The shipping fee',
      owner: 'priya',
    });
    expect(view.relationships).toContainEqual(
      expect.objectContaining({ type: 'continuation-of', from: split.activity, to: activity }),
    );
    const next = await scene.task(priya, { contextId: split.contextId });
    const after = await scene.hub.caseView(priya, split.contextId);
    expect(after.summary.counts).toMatchObject({ dialogs: 1, tasks: 1 });
    expect(after.tasks[0]?.localId).toBe(next.id);
    expect((await summary()).counts.tasks).toBe(1);
    const foreign = await scene.task(bob);
    const wrong = scene.hub.splitCase(priya, activity, { tasks: [foreign.id] });
    expect(await refusal(wrong)).toBe('not-found');
  });

  it('is corrected by hand, beside an executor’s own word and never over it', async () => {
    const id = await taskId();
    const correct = (state: 'failed' | 'completed') =>
      scene.hub.correctCase(priya, activity, {
        corrections: [{ about: id, statement: { says: 'task.state', state } }],
      });
    const { assertions } = await correct('failed');
    const contested = (await scene.hub.caseView(priya, activity)).tasks[0];
    expect(contested).toMatchObject({
      state: 'in-progress',
      contested: [{ state: 'failed', basis: 'supervised' }],
    });
    await scene.hub.undoInCase(priya, activity, { assertion: assertions[0] ?? '' });
    const undone = (await scene.hub.caseView(priya, activity)).tasks[0];
    expect(undone?.state).toBe('in-progress');
    expect(undone?.contested).toBeUndefined();
    expect(await last()).toMatchObject({ cause: assertions[0], basis: 'supervised' });
  });

  it('is corrected where nobody reported, and put back', async () => {
    const master = scene.hub.master(desk);
    const place = await master.locate(task.id);
    const own = master.newId('task');
    await master.assert([
      { about: own, statement: { says: 'task.defined', dialog: place.dialog } },
      {
        about: own,
        statement: { says: 'task.state', state: 'in-progress' },
        basis: 'observed',
      },
    ]);
    const state = async () =>
      (await scene.hub.caseView(priya, activity)).tasks.find(({ id }) => id === own)?.state;
    const { assertions } = await scene.hub.correctCase(boss, activity, {
      corrections: [{ about: own, statement: { says: 'task.state', state: 'failed' } }],
    });
    expect(await state()).toBe('failed');
    const undo = () => scene.hub.undoInCase(boss, activity, { assertion: assertions[0] ?? '' });
    await undo();
    expect(await state()).toBe('in-progress');
  });

  it('has a Dialog that goes on under another context, once that is said', async () => {
    const { dialogs } = await scene.hub.caseView(priya, activity);
    const dialog = dialogs[0]?.id ?? '';
    const request = {
      agent: desk.id,
      messageId: 'm-anew',
      referenceTaskIds: [],
      payload: `sha-256:${'0'.repeat(64)}`,
    };
    const fresh = await scene.hub.admit({ principal: priya }, request);
    const local = { protocol: 'a2a', localId: fresh.contextId } as const;
    const bind = (more: object) =>
      scene.hub.correctCase(priya, activity, {
        corrections: [{ about: dialog, statement: { says: 'dialog.bound', local, ...more } }],
      });
    const error = await refused(bind({}));
    expect([error.code, error.details]).toEqual(['conflict', { rule: 'needs-rebind' }]);
    const { assertions } = await bind({ rebind: true });
    const after = await scene.task(priya, { contextId: fresh.contextId });
    const view = await scene.hub.caseView(priya, fresh.contextId);
    expect(view.summary.activity).toBe(activity);
    expect(view.dialogs).toHaveLength(1);
    expect(view.dialogs[0]?.local.map(({ localId }) => localId)).toEqual([
      fresh.contextId,
      task.contextId,
    ]);
    expect(view.tasks.map(({ localId }) => localId)).toEqual([task.id, after.id]);
    const taken = (await scene.task(priya)).contextId;
    const theirs = { protocol: 'a2a', localId: taken } as const;
    const steal = scene.hub.correctCase(priya, activity, {
      corrections: [
        { about: dialog, statement: { says: 'dialog.bound', local: theirs, rebind: true } },
      ],
    });
    expect(await refusal(steal)).toBe('conflict');
    await scene.hub.undoInCase(priya, activity, { assertion: assertions[0] ?? '' });
    const undone = await scene.hub.caseView(priya, activity);
    expect(undone.dialogs[0]?.local[0]?.localId).toBe(task.contextId);
  });

  it('is related by hand, undone and not undone twice', async () => {
    const id = await taskId();
    const { dialogs } = await scene.hub.caseView(priya, activity);
    const { assertions } = await scene.hub.correctCase(priya, activity, {
      corrections: [
        {
          statement: {
            says: 'relationship.asserted',
            type: 'related-to',
            from: id,
            to: dialogs[0]?.id ?? '',
          },
        },
      ],
    });
    const active = async () =>
      (await scene.hub.caseView(priya, activity)).relationships.filter(
        ({ status }) => status === 'active',
      );
    expect(await active()).toHaveLength(1);
    const undo = { assertion: assertions[0] ?? '' };
    const { assertions: compensating } = await scene.hub.undoInCase(priya, activity, undo);
    expect(await active()).toEqual([]);
    expect(await refusal(scene.hub.undoInCase(priya, activity, undo))).toBe('conflict');
    await scene.hub.undoInCase(priya, activity, { assertion: compensating[0] ?? '' });
    expect(await active()).toHaveLength(1);
  });

  it('takes back labels to what they were', async () => {
    const label = (value: string) =>
      scene.hub.labelCase(priya, activity, { label: { name: 'ticket', value } });
    await label('1');
    const { assertions } = await label('2');
    await scene.hub.undoInCase(priya, activity, { assertion: assertions[0] ?? '' });
    expect((await summary()).labels).toEqual({ ticket: '1' });
    const found = await scene.hub.cases(priya, { label: 'ticket=1' });
    expect(found.cases).toHaveLength(1);
    expect((await scene.hub.cases(priya, { label: 'ticket=2' })).cases).toEqual([]);
  });

  it('takes back nothing that was not said by hand, is unknown, or is another case’s', async () => {
    const { assertions } = await scene.hub.timeline(priya, activity);
    const undo = (assertion: string) => scene.hub.undoInCase(priya, activity, { assertion });
    expect(await refusal(undo(assertions[0]?.id ?? ''))).toBe('invalid');
    expect(await refusal(undo(nobody))).toBe('not-found');
    const other = await scene.task(priya);
    const closed = await scene.hub.closeCase(priya, other.contextId);
    expect(await refusal(undo(closed.assertions[0] ?? ''))).toBe('not-found');
  });

  it('is not corrected in what others said, in other cases, or against the rules', async () => {
    const id = await taskId();
    const other = await scene.task(priya);
    const theirs = (await scene.hub.caseView(priya, other.contextId)).tasks[0]?.id ?? '';
    const before = await scene.state();
    const correct = (about: string, statement: object) =>
      // Also what no type lets through.
      scene.hub.correctCase(
        priya,
        activity,
        JSON.parse(JSON.stringify({ corrections: [{ about, statement }] })),
      );
    const failed = { says: 'task.state', state: 'failed' };
    expect(await refusal(correct(theirs, failed))).toBe('not-found');
    expect(await refusal(correct('tsk_00000000000000000000000000', failed))).toBe('not-found');
    expect(await refusal(correct(id, { says: 'task.defined', dialog: id }))).toBe('invalid');
    expect(await refusal(correct(activity, { says: 'activity.erased' }))).toBe('invalid');
    const loop = { says: 'relationship.asserted', type: 'delegated-from', from: id, to: id };
    const error = await refused(correct('', loop));
    expect([error.code, error.details]).toEqual(['conflict', { rule: 'cycle' }]);
    expect(await scene.state()).toEqual(before);
  });

  it('is in nobody else’s hands', async () => {
    const operations = ['get', 'list', 'send', 'cancel', 'subscribe', 'push'] as const;
    await scene.hub.grant(priya, task.contextId, { grantee: 'bob', operations: [...operations] });
    const other = await scene.task(bob);
    const { hub } = scene;
    const works: readonly ((by: Principal) => Promise<unknown>)[] = [
      (by) => hub.closeCase(by, activity),
      (by) => hub.reopenCase(by, activity),
      (by) => hub.labelCase(by, activity, { label: { name: 'a', value: 'b' } }),
      (by) => hub.mergeCase(by, activity, { into: other.contextId }),
      (by) => hub.mergeCase(by, other.contextId, { into: activity }),
      (by) => hub.splitCase(by, activity),
      (by) =>
        hub.correctCase(by, activity, {
          corrections: [{ about: activity, statement: { says: 'task.unresolved' } }],
        }),
      (by) => hub.undoInCase(by, activity, { assertion: nobody }),
      (by) => hub.eraseCase(by, activity),
    ];
    const before = await scene.state();
    for (const by of [bob, mallory, desk, checker, rivalBoss]) {
      for (const work of works) expect(await refusal(work(by))).toBe('not-found');
    }
    expect(await scene.state()).toEqual(before);
  });
});

const text = (words: string) => ({ text: words });

describe.each(stores)('a search for cases (%s)', (_name, open) => {
  let scene: Scene;

  beforeEach(async () => {
    scene = await Scene.open(open);
    const refund = await scene.task(priya, {}, text('Refund of order 123, überfällig'));
    await scene.task(priya, {}, text('Shipping fee of order 123'));
    await scene.task(bob, {}, text('Refund of order 9'));
    await scene.hub.labelCase(priya, refund.contextId, { label: { name: 'ticket', value: 'T-1' } });
  });

  const search = async (by: Principal, query: Parameters<Scene['hub']['cases']>[1]) =>
    (await scene.hub.cases(by, query)).cases.map(({ objective }) => objective?.split(' ')[0]);

  it('finds by words of the objective and of labels, in any case and order', async () => {
    expect(await search(priya, { text: 'ORDER refund' })).toEqual(['Refund']);
    expect(await search(priya, { text: 'ÜBERFÄLLIG' })).toEqual(['Refund']);
    expect(await search(priya, { text: 't-1' })).toEqual(['Refund']);
    expect(await search(priya, { text: 'order' })).toEqual(['Refund', 'Shipping']);
    expect(await search(priya, { text: 'nothing' })).toEqual([]);
    expect(await search(boss, { text: 'refund' })).toEqual(['Refund', 'Refund']);
    expect(await search(mallory, { text: 'refund' })).toEqual([]);
  });

  it('finds by label, with a value or any', async () => {
    expect(await search(priya, { label: 'ticket=T-1' })).toEqual(['Refund']);
    expect(await search(boss, { label: 'ticket' })).toEqual(['Refund']);
    expect(await search(priya, { label: 'ticket=T' })).toEqual([]);
    expect(await search(bob, { label: 'ticket=T-1' })).toEqual([]);
    expect(await search(rivalBoss, { label: 'ticket=T-1' })).toEqual([]);
    expect(await search(priya, { label: 'ticket=T-1', text: 'shipping' })).toEqual([]);
  });

  it('finds by participant, among what one may see', async () => {
    expect(await search(boss, { participant: 'bob' })).toEqual(['Refund']);
    expect(
      (await search(boss, { participant: 'desk' })).toSorted((a = '', b = '') =>
        a.localeCompare(b),
      ),
    ).toEqual(['Refund', 'Refund', 'Shipping']);
    expect(await search(priya, { participant: 'bob' })).toEqual([]);
    expect(await search(priya, { participant: 'nobody' })).toEqual([]);
    expect(
      (await search(priya, { participant: 'desk' })).toSorted((a = '', b = '') =>
        a.localeCompare(b),
      ),
    ).toEqual(['Refund', 'Shipping']);
  });

  it('finds for a grantee what was granted', async () => {
    const [{ contextId = '' } = {}] = (await scene.hub.cases(priya, { label: 'ticket' })).cases;
    await scene.hub.grant(priya, contextId, { grantee: 'bob', operations: ['get'] });
    expect(await search(bob, { label: 'ticket=T-1' })).toEqual(['Refund']);
    expect(await search(bob, { text: '123' })).toEqual(['Refund']);
    expect(await search(bob, { label: 'constructor' })).toEqual([]);
  });

  it('goes on in pages that are bounded', async () => {
    for (let i = 0; i < 7; i++) await scene.task(priya, {}, { text: `page ${i}` });
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await scene.hub.cases(priya, {
        text: 'page',
        pageSize: 3,
        ...(cursor === undefined ? {} : { cursor }),
      });
      expect(page.cases.length).toBeLessThanOrEqual(3);
      found.push(...page.cases.map(({ activity }) => activity));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(new Set(found).size).toBe(7);
    expect(found).toHaveLength(7);
  });
});
