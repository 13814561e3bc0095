import { beforeEach, describe, expect, it } from 'vitest';
import { openMemoryStore } from '../store/index.ts';
import {
  bob,
  boss,
  checker,
  desk,
  mallory,
  priya,
  refusal,
  rivalBoss,
  Scene,
  stores,
  through,
} from './conformance.ts';

describe.each(stores)('a case (%s)', (_name, open) => {
  let scene: Scene;

  beforeEach(async () => {
    scene = await Scene.open(open);
  });

  it('is found by any name of it or of something in it', async () => {
    const task = await scene.task(priya, {}, { text: 'my cash back' });
    const { summary, dialogs, tasks } = await scene.hub.caseView(priya, task.contextId);
    expect(summary).toEqual({
      activity: expect.stringMatching(/^act_/),
      contextId: task.contextId,
      objective: 'my cash back',
      owner: 'priya',
      openedAt: scene.now.toISOString(),
      updatedAt: scene.now.toISOString(),
      closed: false,
      counts: { activities: 1, dialogs: 1, tasks: 1, resources: 0, relationships: 0 },
      stuck: 0,
    });
    for (const id of [summary.activity, dialogs[0]?.id, tasks[0]?.id, task.id]) {
      expect((await scene.hub.caseView(priya, id ?? '')).summary).toEqual(summary);
    }
  });

  it('is open to its owner and to operators, to nobody else', async () => {
    const { contextId, id } = await scene.task(priya);
    const { summary, dialogs } = await scene.hub.caseView(boss, contextId);
    const ids = [contextId, id, summary.activity, dialogs[0]?.id ?? ''];
    for (const principal of [bob, mallory, rivalBoss, desk, checker]) {
      for (const each of ids) {
        expect(await refusal(scene.hub.caseView(principal, each))).toBe('not-found');
        expect(await refusal(scene.hub.timeline(principal, each))).toBe('not-found');
        expect(await refusal(scene.hub.explain(principal, each))).toBe('not-found');
      }
    }
  });

  it('tells its tasks that are stuck, in the list too', async () => {
    const task = await scene.task(priya);
    await scene.move(task, 'awaiting', { awaiting: 'input' });
    const { cases } = await scene.hub.cases(priya);
    expect(cases).toMatchObject([{ contextId: task.contextId, stuck: 1, counts: { tasks: 1 } }]);
    expect(cases[0]).toEqual((await scene.hub.caseView(priya, task.contextId)).summary);
  });

  it('is one of a list, latest change first, in pages', async () => {
    const made: string[] = [];
    for (let i = 0; i < 5; i++) made.push((await scene.task(priya)).contextId);
    await scene.task(bob);
    const seen: (string | undefined)[] = [];
    let cursor: string | undefined;
    do {
      const page = await scene.hub.cases(priya, {
        pageSize: 2,
        ...(cursor === undefined ? {} : { cursor }),
      });
      seen.push(...page.cases.map(({ contextId }) => contextId));
      if (page.cursor !== undefined) {
        expect(await refusal(scene.hub.cases(bob, { cursor: page.cursor }))).toBe('invalid');
      }
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(seen).toEqual(made.toReversed());
    expect((await scene.hub.cases(boss)).cases).toHaveLength(6);
    expect((await scene.hub.cases(rivalBoss)).cases).toEqual([]);
    expect(await refusal(scene.hub.cases(priya, { pageSize: 101 }))).toBe('invalid');
  });

  it('is in the list of a grantee who may read it', async () => {
    const { contextId } = await scene.task(priya);
    await scene.hub.grant(priya, contextId, { grantee: 'bob', operations: ['get'] });
    expect((await scene.hub.cases(bob)).cases).toMatchObject([{ contextId, owner: 'priya' }]);
    const other = await scene.task(priya);
    await scene.hub.grant(priya, other.contextId, { grantee: 'bob', operations: ['send'] });
    expect((await scene.hub.cases(bob)).cases).toHaveLength(1);
  });

  it('has a timeline in the order of its numbers, in pages without a gap', async () => {
    const task = await scene.task(priya);
    await scene.task(bob);
    await scene.move(task, 'completed');
    const whole = await scene.hub.timeline(priya, task.contextId);
    const paged: number[] = [];
    let after = 0;
    for (let next: number | undefined = 0; next !== undefined;) {
      const page = await scene.hub.timeline(priya, task.contextId, { after, limit: 3 });
      paged.push(...page.assertions.map(({ seq }) => seq));
      next = page.next;
      after = page.next ?? after;
    }
    expect(paged).toEqual(whole.assertions.map(({ seq }) => seq));
    expect(whole.next).toBeUndefined();
    expect(
      whole.assertions.every(({ activity }) => activity === whole.assertions[0]?.activity),
    ).toBe(true);
    expect(whole.assertions[0]?.statement).toMatchObject({ says: 'activity.opened' });
  });

  it('lists everything in the order in which it began', async () => {
    const { contextId } = await scene.task(priya);
    const made = [];
    for (let i = 0; i < 6; i++) made.push((await scene.task(priya, { contextId })).id);
    const view = await scene.hub.caseView(priya, contextId);
    expect(view.tasks.slice(1).map(({ localId }) => localId)).toEqual(made);
    expect(view.participants.map(({ kind }) => kind)).toEqual(['user', 'agent']);
  });

  it('says why something is in it, for ids of ours and of the protocol', async () => {
    const task = await scene.task(priya, {}, { text: 'cash back' });
    const { summary } = await scene.hub.caseView(priya, task.contextId);
    const why = await scene.hub.explain(priya, task.id);
    expect(why.to).toBe(summary.activity);
    expect(why.steps.map(({ relation }) => relation)).toEqual(['in', 'in']);
    expect(Object.values(why.labels)).toContain('cash back');
    const { assertions } = await scene.hub.timeline(priya, task.id);
    const said = why.steps.map(({ assertion }) => assertions.find(({ id }) => id === assertion));
    expect(said.map((each) => each?.statement.says)).toEqual(['task.defined', 'dialog.opened']);
    expect(await scene.hub.explain(priya, task.id, task.contextId)).toMatchObject({
      steps: [{ relation: 'in' }],
    });
    const other = await scene.task(bob);
    expect(await refusal(scene.hub.explain(priya, task.id, other.id))).toBe('not-found');
  });

  it('refers to tasks that its message named', async () => {
    const first = await scene.task(priya);
    const { contextId } = first;
    const second = await scene.task(
      priya,
      { contextId, references: [first.id] },
      { references: [first.id] },
    );
    const { relationships, tasks } = await scene.hub.caseView(priya, contextId);
    const idOf = (local: string) => tasks.find(({ localId }) => localId === local)?.id;
    const why = await scene.hub.explain(priya, second.id, first.id);
    const { assertions } = await scene.hub.timeline(priya, contextId);
    expect(assertions.find(({ id }) => id === why.steps[0]?.assertion)).toMatchObject({
      about: relationships[0]?.id,
    });
    expect(relationships).toMatchObject([
      { type: 'related-to', from: idOf(second.id), to: idOf(first.id) },
    ]);
  });
});

describe('a case of more than is looked at together', () => {
  it('is cut, and says so', async () => {
    const scene = await Scene.open(() => openMemoryStore());
    const { contextId } = await scene.task(priya);
    const { summary, ...small } = await scene.hub.caseView(priya, contextId);
    expect(small).not.toHaveProperty('truncated');
    const { activity } = summary;
    const { seq } = await scene.hub.health();
    await scene.store.write(async (writer) => {
      for (let i = 0; i < 5_000; i++) {
        const id = scene.hub.master(desk).newId('resource');
        const shape = { born: seq, value: { id, activity } };
        await writer.putObject({ id, kind: 'resource', activity, shape, seq });
      }
    });
    const view = await scene.hub.caseView(priya, contextId);
    expect(view.truncated).toBe(true);
    expect(view.resources.length + view.tasks.length + view.dialogs.length).toBeLessThan(5_001);
  });
});

describe.each(stores)('what people wrote (%s)', (_name, open) => {
  it('reaches the store sealed', async () => {
    const written: string[] = [];
    const base = await open();
    const scene = await Scene.open(open, {
      store: through(base, (_write, given) => {
        written.push(textOf(given));
      }),
    });
    const sender = { ...priya, id: 'canary-sender' };
    const messageId = 'canary-message';
    const task = await scene.task(
      sender,
      { messageId },
      { text: 'canary-words', body: ['canary-body'] },
    );
    const { activity } = await scene.hub.master(desk).locate(task.id);
    const resource = scene.hub.master(desk).newId('resource');
    const bytes = Buffer.from('canary-content');
    await scene.hub.master(desk).putContent({ activity, resource, mediaType: 'text/plain', bytes });
    await scene.hub.grant(sender, task.contextId, {
      grantee: 'canary-grantee',
      operations: ['get'],
    });
    const state = { note: 'canary-run' };
    await scene.hub
      .master(desk)
      .saveRun({ id: 'canary-run', activity, done: false, state, expected: 0 });
    expect(written.length).toBeGreaterThan(20);
    expect(written.join('\n')).not.toContain('canary');
    expect(written.join('\n')).not.toContain(task.id);
    expect((await scene.hub.caseView(sender, task.contextId)).tasks[0]?.objective).toBe(
      'canary-words',
    );
  });
});

const textOf = (given: unknown): string =>
  JSON.stringify(given, (_, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
  );
