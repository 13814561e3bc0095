import { beforeEach, describe, expect, it } from 'vitest';
import type { DraftInput } from '../model/index.ts';
import { bob, boss, checker, desk, priya, refusal, Scene, stores } from './conformance.ts';

describe.each(stores)('a Master (%s)', (_name, open) => {
  let scene: Scene;
  let place: { activity: string; dialog: string; task: string };
  let own: string;
  let peer: string;
  let contextId: string;

  const master = () => scene.hub.master(desk);

  beforeEach(async () => {
    scene = await Scene.open(open);
    const task = await scene.task(priya);
    ({ contextId } = task);
    place = await master().locate(task.id);
    own = await master().participant({ kind: 'agent', principal: 'desk' });
    peer = await master().participant({ kind: 'agent', principal: 'checker', name: 'accounts' });
  });

  /** A Dialog with the checker and an attempt in it, as drafts. */
  function delegation(): { dialog: string; task: string; drafts: DraftInput[] } {
    const dialog = master().newId('dialog');
    const task = master().newId('task');
    const relate = (type: string, from: string, to: string): DraftInput => ({
      about: master().newId('relationship'),
      statement: { says: 'relationship.asserted', type, from, to },
    });
    const { activity } = place;
    const drafts: DraftInput[] = [
      {
        about: dialog,
        statement: { says: 'dialog.opened', activity, participants: [own, peer], managed: 'ours' },
      },
      relate('delegated-from', dialog, place.dialog),
      { about: task, statement: { says: 'task.defined', dialog, objective: 'recompute' } },
      relate('delegated-from', task, place.task),
    ];
    return { dialog, task, drafts };
  }

  const view = () => scene.hub.caseView(priya, contextId);

  it('finds its own tasks and nobody else’s', async () => {
    const other = await scene.task(bob, { agent: checker });
    expect(await refusal(master().locate(other.id))).toBe('not-found');
    expect(await scene.hub.master(bob).locate(other.id)).toMatchObject({
      task: expect.any(String),
    });
    expect(await refusal(master().locate('task-99'))).toBe('not-found');
  });

  it('asks twice for a party and gets one Participant', async () => {
    expect(await master().participant({ kind: 'agent', principal: 'desk' })).toBe(own);
    const outsider = { kind: 'agent', url: 'https://far.example/' } as const;
    const id = await master().participant(outsider);
    expect(await master().participant(outsider)).toBe(id);
    const rival = scene.hub.master({ ...desk, tenant: 'rival' });
    expect(await rival.participant(outsider)).not.toBe(id);
    expect(await refusal(master().participant({ kind: 'agent' }))).toBe('invalid');
  });

  it('is not believed about other principals, neither first nor later', async () => {
    const stranger = scene.hub.master(bob);
    const names = ['writer', 'alice'];
    const poisoned = await Promise.all(
      names.map((principal) =>
        stranger.participant({
          kind: 'tool',
          principal,
          name: 'PWNED',
          url: 'https://evil.example',
        }),
      ),
    );
    const alice = { ...priya, id: 'alice' };
    const writer = { ...desk, id: 'writer' };
    const made = await scene.task(alice, { agent: writer }, { agent: writer });
    const seen = await scene.hub.caseView(alice, made.contextId);
    const about = async (i: number) =>
      (await scene.hub.caseView(boss, made.contextId)).participants.find(
        ({ id }) => id === poisoned[i],
      );
    expect(seen.participants.map(({ id }) => id).toSorted()).toEqual(poisoned.toSorted());
    expect(await about(0)).toEqual({
      id: poisoned[0],
      kind: 'agent',
      name: 'the writer',
    });
    await scene.hub.closeCase(alice, made.contextId);
    expect(await about(1)).toEqual({ id: poisoned[1], kind: 'user', name: 'alice' });
    for (const principal of names) {
      await stranger.participant({ kind: 'tool', principal, name: 'PWNED' });
    }
    expect(JSON.stringify(await scene.hub.caseView(boss, made.contextId))).not.toContain('PWNED');
    expect(await about(1)).toMatchObject({ kind: 'user', name: 'alice' });
  });

  it('puts statements into the case, under its own name, all or none', async () => {
    const { dialog, task, drafts } = delegation();
    await master().assert(drafts);
    const { dialogs, tasks, relationships, summary } = await view();
    expect(dialogs.map(({ id }) => id)).toContain(dialog);
    expect(tasks.find(({ id }) => id === task)).toMatchObject({
      objective: 'recompute',
      state: 'defined',
    });
    expect(relationships.every(({ assertedBy }) => assertedBy === own)).toBe(true);
    expect(summary.counts).toEqual({
      activities: 1,
      dialogs: 2,
      tasks: 2,
      resources: 0,
      relationships: 2,
    });
    const before = await scene.state();
    const foreign: DraftInput = {
      about: master().newId('task'),
      statement: { says: 'task.defined', dialog: master().newId('dialog') },
    };
    const more = delegation().drafts;
    expect(await refusal(master().assert([...more, foreign]))).toBe('not-found');
    expect(await scene.state()).toEqual(before);
  });

  it('says the same again without effect, and not otherwise', async () => {
    const { dialog, drafts } = delegation();
    await master().assert(drafts);
    const before = await scene.hub.health();
    await master().assert(drafts);
    expect(await scene.hub.health()).toEqual(before);
    const other: DraftInput = {
      about: dialog,
      statement: {
        says: 'dialog.opened',
        activity: place.activity,
        participants: [own, peer],
        managed: 'none',
      },
    };
    expect(await refusal(master().assert([other]))).toBe('conflict');
  });

  it('may speak only of Activities that it takes part in', async () => {
    const { dialog, task, drafts } = delegation();
    await master().assert(drafts);
    const stranger = scene.hub.master(bob);
    const self = await stranger.participant({ kind: 'user', principal: 'bob' });
    const before = await scene.state();
    const attempts: DraftInput[] = [
      { about: task, statement: { says: 'task.state', state: 'completed' } },
      { about: dialog, statement: { says: 'dialog.joined', participant: self } },
      { about: place.activity, statement: { says: 'activity.closed' } },
      {
        about: stranger.newId('dialog'),
        statement: {
          says: 'dialog.opened',
          activity: place.activity,
          participants: [self, own],
          managed: 'ours',
        },
      },
      {
        about: stranger.newId('resource'),
        statement: { says: 'resource.known', activity: place.activity, name: 'x' },
      },
    ];
    for (const draft of [...attempts, ...drafts]) {
      expect(await refusal(stranger.assert([draft]))).toBe('not-found');
    }
    expect(await scene.state()).toEqual(before);
  });

  it('may not speak in another’s name or with ids of another kind or tenant', async () => {
    const elsewhere = await scene.hub
      .master({ ...desk, tenant: 'rival' })
      .participant({ kind: 'agent', principal: 'desk' });
    const before = await scene.state();
    const say = (about: string, statement: DraftInput['statement']) =>
      refusal(master().assert([{ about, statement }]));
    const { activity } = place;
    const opening = { says: 'dialog.opened', activity, managed: 'ours' } as const;
    const dialog = master().newId('dialog');
    expect(await say(dialog, { ...opening, participants: [peer] })).toBe('invalid');
    expect(await say(dialog, { ...opening, participants: [own, elsewhere] })).toBe('not-found');
    expect(await say(master().newId('task'), { ...opening, participants: [own] })).toBe('invalid');
    const named = { says: 'activity.opened', initiator: peer } as const;
    expect(
      await say(
        place.activity.replace(/.$/, (end) => (end === '0' ? '1' : '0')),
        named,
      ),
    ).toBe('invalid');
    expect(await say(own, { says: 'participant.known', kind: 'tool' })).toBe('invalid');
    expect(await scene.state()).toEqual(before);
  });

  it('may revoke what it asserted itself, and nothing of others', async () => {
    const { drafts } = delegation();
    await master().assert(drafts);
    const about = drafts[1]?.about ?? '';
    const revoking: DraftInput = { about, statement: { says: 'relationship.revoked' } };
    await scene.task(bob, { agent: checker });
    expect(await refusal(scene.hub.master(checker).assert([revoking]))).toBe('not-found');
    await master().assert([revoking]);
    const { relationships } = await view();
    expect(relationships.find(({ id }) => id === about)?.status).toBe('revoked');
  });

  it('can not give one protocol-local id to two Tasks of a Dialog', async () => {
    const { dialog, task, drafts } = delegation();
    const second = master().newId('task');
    const define: DraftInput = { about: second, statement: { says: 'task.defined', dialog } };
    await master().assert([...drafts, define, bind(task)]);
    await master().assert([bind(second)]);
    const { conflicts, tasks } = await view();
    expect(conflicts).toMatchObject([{ rule: 'duplicate', about: second }]);
    expect(tasks.find(({ id }) => id === second)).not.toHaveProperty('localId');
    expect((await master().locate('T')).task).toBe(task);
  });

  it('sees what breaks a rule kept as a conflict and not applied', async () => {
    const { task, drafts } = delegation();
    await master().assert(drafts);
    const about = master().newId('relationship');
    const circle = {
      says: 'relationship.asserted',
      type: 'delegated-from',
      from: place.task,
      to: task,
    } as const;
    await master().assert([{ about, statement: circle }]);
    const { conflicts, relationships } = await view();
    expect(conflicts).toMatchObject([{ rule: 'cycle', about }]);
    expect(relationships.map(({ id }) => id)).not.toContain(about);
  });

  it('sees a circle through what another call said and what was said just now', async () => {
    const { activity } = place;
    const [a, b, c] = [1, 2, 3].map(() => master().newId('resource'));
    const known = (about = ''): DraftInput => ({
      about,
      statement: { says: 'resource.known', activity },
    });
    const derived = (from = '', to = ''): DraftInput => ({
      about: master().newId('relationship'),
      statement: { says: 'relationship.asserted', type: 'derived-from', from, to },
    });
    await master().assert([known(a), known(b), derived(b, a)]);
    const [stored, mixed, last] = [derived(a, b), derived(c, b), derived(c, a)];
    await master().assert([stored, known(c), derived(a, c), mixed, last]);
    const { conflicts } = await view();
    expect(conflicts.map(({ about, rule }) => [about, rule])).toEqual([
      [stored.about, 'cycle'],
      [mixed.about, 'cycle'],
      [last.about, 'cycle'],
    ]);
  });

  it('sends an envelope, and the agent’s side binds to the Dialog and Task it names', async () => {
    const { dialog, task, drafts } = delegation();
    await master().assert(drafts);
    const envelope = { v: 1, dialog, task, activity: place.activity } as const;
    const made = await scene.task(desk, { agent: checker }, { envelope, state: 'completed' });
    const { dialogs, tasks, summary } = await view();
    expect(summary.counts).toMatchObject({ activities: 1, dialogs: 2, tasks: 2 });
    expect(dialogs.find(({ id }) => id === dialog)).toMatchObject({
      state: 'active',
      local: [{ protocol: 'a2a', localId: made.contextId }],
    });
    expect(tasks.find(({ id }) => id === task)).toMatchObject({
      localId: made.id,
      state: 'completed',
      stateBasis: 'reported',
    });
    // The context is the Master's own, and not the case's owner's.
    expect(await scene.hub.loadTask({ principal: priya }, made.id)).toBeUndefined();
    expect(await scene.hub.explain(priya, task, place.task)).toMatchObject({
      steps: [{ relation: 'delegated-from' }],
    });
  });

  it('is told the same by its own client’s side without anything doubled', async () => {
    const { dialog, task, drafts } = delegation();
    await master().assert(drafts);
    const envelope = { v: 1, dialog, task } as const;
    const made = await scene.task(desk, { agent: checker }, { envelope, state: 'completed' });
    const { seq } = await scene.hub.health();
    const seen = scene
      .seen(desk, made, { agent: checker, envelope })
      .map((each) => ({ ...each, side: 'client' as const }));
    await scene.hub.observe({ principal: desk }, seen);
    expect((await scene.hub.health()).seq).toBe(seq);
  });

  it('is the only one whose client’s side counts as its own, whatever credential is presented', async () => {
    const { dialog, task, drafts } = delegation();
    await master().assert(drafts);
    const made = await scene.task(desk, { agent: checker }, { envelope: { v: 1, dialog, task } });
    const [message, state] = scene.seen(desk, made, { agent: checker });
    if (message === undefined || state?.kind !== 'task') throw new Error('nothing seen');
    const claimed = { ...state, side: 'client' as const, state: 'failed' as const };
    await scene.hub.observe({ principal: desk, via: checker }, [claimed]);
    expect((await view()).tasks.find(({ id }) => id === task)).not.toHaveProperty('contested');
  });

  it('binds what an outsider answers to the Dialog and Task that its call was for', async () => {
    const far = await master().participant({ kind: 'agent', url: 'https://far.example/' });
    const { dialog, task, drafts } = delegation();
    const opened = drafts.map((draft) =>
      draft.statement.says === 'dialog.opened'
        ? {
            ...draft,
            statement: { ...draft.statement, participants: [own, far], managed: 'none' as const },
          }
        : draft,
    );
    await master().assert(opened);
    const record = {
      id: 'far-task',
      contextId: 'far-context',
      agent: 'far',
      version: 0,
      state: 'completed',
      statusAt: scene.now.toISOString(),
      body: {},
    } as const;
    const seen = scene.seen(desk, record, { envelope: { v: 1, dialog, task } }).map((each) => ({
      ...each,
      side: 'client' as const,
      endpoint: 'https://far.example/',
      server: { kind: 'agent' as const, url: 'https://far.example/' },
    }));
    await scene.hub.observe({ principal: desk }, seen);
    const { tasks, dialogs } = await view();
    expect(tasks.find(({ id }) => id === task)).toMatchObject({
      localId: 'far-task',
      state: 'completed',
      stateBasis: 'observed',
    });
    expect(dialogs.find(({ id }) => id === dialog)?.local).toMatchObject([
      { localId: 'far-context' },
    ]);
    expect(await master().locate('far-task')).toEqual({ activity: place.activity, dialog, task });
    expect(await refusal(scene.hub.master(bob).locate('far-task'))).toBe('not-found');
    // Without an envelope the same context goes on meaning that Dialog, for this observer alone.
    const later = seen.map(({ envelope: _none, ...each }) => each);
    await scene.hub.observe({ principal: desk }, later);
    expect((await view()).summary.counts.dialogs).toBe(2);
    await scene.hub.observe({ principal: bob }, later);
    expect((await view()).summary.counts.dialogs).toBe(2);
    expect((await scene.hub.cases(bob)).cases).toHaveLength(1);
  });

  it('can not be spoken for by an envelope of somebody else', async () => {
    const { dialog, task, drafts } = delegation();
    await master().assert(drafts);
    for (const envelope of [
      { v: 1, dialog, task },
      { v: 1, dialog: master().newId('dialog') },
      { v: 1, dialog: 'junk' },
    ] as const) {
      const made = await scene.task(bob, { agent: checker }, { envelope });
      const { summary } = await scene.hub.caseView(bob, made.contextId);
      expect(summary.activity).not.toBe(place.activity);
    }
    const wrong = { v: 1, dialog, task: place.task } as const;
    const made = await scene.task(desk, { agent: checker }, { envelope: wrong });
    expect((await scene.hub.caseView(desk, made.contextId)).summary.activity).not.toBe(
      place.activity,
    );
    expect((await view()).summary.counts).toMatchObject({ dialogs: 2, tasks: 2 });
  });

  it('opens no right to the case to whoever goes on from it in a context of its own', async () => {
    const { dialog, task, drafts } = delegation();
    await master().assert(drafts);
    const bound = { id: 'b', about: dialog, says: 'dialog.bound', basis: 'reported' as const };
    const envelope = { v: 1 as const, dialog, task, assertions: [bound] };
    const grafted = await scene.task(checker, { agent: desk }, { envelope });
    const request = { grantee: 'bob', operations: ['get' as const, 'list' as const] };
    await scene.hub.grant(checker, grafted.contextId, request);
    expect((await view()).dialogs.find(({ id }) => id === dialog)?.local[0]?.localId).toBe(
      grafted.contextId,
    );
    for (const by of [checker, bob]) {
      for (const id of [grafted.contextId, place.activity, dialog]) {
        expect(await refusal(scene.hub.caseView(by, id))).toBe('not-found');
      }
      expect((await scene.hub.cases(by)).cases).toEqual([]);
      expect(await scene.hub.loadTask({ principal: by }, grafted.id)).toMatchObject({
        id: grafted.id,
      });
    }
  });

  it('keeps a case that it stated itself from the contexts of those it asks', async () => {
    const app = { ...desk, id: 'app' };
    const stating = scene.hub.master(app);
    const self = await stating.participant({ kind: 'agent', principal: 'app' });
    const [first, second] = [stating.newId('dialog'), stating.newId('dialog')];
    const activity = place.activity.replace(/.{4}$/, '0000');
    const opening = { says: 'dialog.opened', activity, managed: 'none' } as const;
    await stating.assert([
      { about: activity, statement: { says: 'activity.opened', initiator: self } },
      { about: first, statement: { ...opening, participants: [self, peer] } },
      { about: second, statement: { ...opening, participants: [self, peer] } },
    ]);
    for (const dialog of [first, second]) {
      const envelope = { v: 1, dialog } as const;
      const grafted = await scene.task(checker, { agent: desk }, { envelope });
      const request = { grantee: 'bob', operations: ['get' as const] };
      await scene.hub.grant(checker, grafted.contextId, request);
      for (const by of [checker, bob]) {
        expect(await refusal(scene.hub.caseView(by, activity))).toBe('not-found');
        const { summary } = await scene.hub.caseView(by, grafted.contextId);
        expect(summary.activity).not.toBe(activity);
      }
    }
    const begun = await scene.task(app, { agent: checker }, { envelope: { v: 1, dialog: first } });
    expect((await scene.hub.caseView(app, activity)).summary.contextId).toBe(begun.contextId);
  });
});

const bind = (about: string): DraftInput => ({
  about,
  statement: { says: 'task.bound', localId: 'T' },
});
