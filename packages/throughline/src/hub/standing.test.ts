import { beforeEach, describe, expect, it } from 'vitest';
import type { DraftInput, Principal, TaskRecord } from '../model/index.ts';
import { bob, boss, checker, desk, priya, refusal, Scene, stores } from './conformance.ts';

const writer: Principal = { tenant: 'shop', id: 'writer', role: 'agent' };
const relation = (type: string, from: string, to: string) =>
  ({ says: 'relationship.asserted', type, from, to }) as const;

describe.each(stores)('who takes part in a case (%s)', (_name, open) => {
  let scene: Scene;
  let task: TaskRecord;
  let place: { activity: string; dialog: string; task: string };
  /** Dialogs of the desk with each of its workers, and the attempt in it. */
  let own: Record<'desk' | 'checker' | 'writer' | 'priya', string>;
  let checking: { dialog: string; task: string };
  let writing: { dialog: string; task: string };

  const id = (kind: 'dialog' | 'task' | 'resource' | 'relationship') =>
    scene.hub.master(desk).newId(kind);
  const say = (by: Principal, about: string, statement: DraftInput['statement']) =>
    scene.hub.master(by).assert([{ about, statement }]);
  const self = (by: Principal) =>
    scene.hub.master(by).participant({ kind: 'agent', principal: by.id });

  async function delegate(to: string): Promise<{ dialog: string; task: string }> {
    const made = { dialog: id('dialog'), task: id('task') };
    const { activity } = place;
    const participants = [own.desk, to];
    await scene.hub.master(desk).assert([
      {
        about: made.dialog,
        statement: { says: 'dialog.opened', activity, participants, managed: 'ours' },
      },
      { about: made.task, statement: { says: 'task.defined', dialog: made.dialog } },
    ]);
    return made;
  }

  beforeEach(async () => {
    scene = await Scene.open(open);
    task = await scene.task(priya);
    place = await scene.hub.master(desk).locate(task.id);
    own = {
      desk: await self(desk),
      checker: await self(checker),
      writer: await self(writer),
      priya: await self(priya),
    };
    checking = await delegate(own.checker);
    writing = await delegate(own.writer);
  });

  it('has no say in what others do in it', async () => {
    const output = id('resource');
    await say(writer, output, { says: 'resource.known', activity: place.activity, name: 'letter' });
    await say(writer, id('relationship'), relation('output-of', output, writing.task));
    const mine = id('resource');
    await say(checker, mine, { says: 'resource.known', activity: place.activity });
    const before = await scene.state();
    const bound = { protocol: 'a2a', localId: 'mine' } as const;
    const attempts: [string, DraftInput['statement']][] = [
      [writing.task, { says: 'task.state', state: 'failed' }],
      [writing.task, { says: 'task.unresolved' }],
      [writing.task, { says: 'task.cancel-requested' }],
      [writing.task, { says: 'task.bound', localId: 'mine' }],
      [id('task'), { says: 'task.defined', dialog: writing.dialog }],
      [writing.dialog, { says: 'dialog.state', state: 'terminated', reason: 'failed' }],
      [writing.dialog, { says: 'dialog.bound', local: bound }],
      [writing.dialog, { says: 'dialog.joined', participant: own.checker }],
      [writing.dialog, { says: 'dialog.joined', participant: own.priya }],
      [writing.dialog, { says: 'dialog.left', participant: own.writer }],
      [checking.dialog, { says: 'dialog.left', participant: own.desk }],
      [output, { says: 'resource.known', activity: place.activity, name: 'renamed' }],
      [id('relationship'), relation('output-of', output, checking.task)],
      [id('relationship'), relation('input-to', output, checking.task)],
      [id('relationship'), relation('input-to', mine, writing.task)],
      [id('relationship'), relation('output-of', mine, writing.task)],
      [id('relationship'), relation('derived-from', mine, output)],
      [id('relationship'), relation('related-to', writing.task, checking.task)],
      [id('relationship'), relation('delegated-from', checking.dialog, writing.task)],
      [id('relationship'), relation('related-to', place.activity, checking.task)],
      [place.activity, { says: 'activity.closed' }],
    ];
    for (const [about, statement] of attempts) {
      expect(await refusal(say(checker, about, statement)), JSON.stringify(statement)).toBe(
        'not-found',
      );
    }
    expect(await scene.state()).toEqual(before);
  });

  it('opens Dialogs in its own name alone, as the one that invokes', async () => {
    const opening = { says: 'dialog.opened', activity: place.activity, managed: 'ours' } as const;
    const begin = (...participants: string[]) =>
      say(checker, id('dialog'), { ...opening, participants });
    expect(await refusal(begin(own.desk, own.checker))).toBe('invalid');
    expect(await refusal(begin(own.desk, own.writer))).toBe('invalid');
    await begin(own.checker, own.writer);
    const { dialogs } = await scene.hub.caseView(priya, task.contextId);
    expect(dialogs.at(-1)?.invoker).toBe(own.checker);
  });

  it('claims lineage to what it can’t see, which is kept as its claim and is none', async () => {
    const far = await scene.task(bob);
    const theirs = (await scene.hub.master(desk).locate(far.id)).task;
    const claims: string[] = [];
    for (const to of [writing.task, theirs, id('task')]) {
      claims.push(to);
      await say(checker, id('relationship'), relation('delegated-from', checking.task, to));
    }
    const { conflicts, relationships } = await scene.hub.caseView(priya, task.contextId);
    expect(relationships.filter(({ from }) => from === checking.task)).toEqual([]);
    expect(conflicts.map(({ rule, message }) => [rule, message])).toEqual(
      claims.map((to) => [
        'unverified',
        `${own.checker} says that ${checking.task} is delegated-from ${to}, and is not in both dialogs`,
      ]),
    );
    expect((await scene.hub.caseView(bob, far.contextId)).conflicts).toEqual([]);
    await say(desk, writing.dialog, { says: 'dialog.joined', participant: own.checker });
    const edge = relation('delegated-from', checking.task, writing.task);
    await say(checker, id('relationship'), edge);
    const verified = (await scene.hub.caseView(priya, task.contextId)).relationships;
    expect(verified.filter(({ from }) => from === checking.task)).toHaveLength(1);
  });

  it('speaks of its own Dialogs, and its opener lets others in and out', async () => {
    await say(checker, checking.task, { says: 'task.state', state: 'in-progress' });
    await say(checker, checking.dialog, { says: 'dialog.state', state: 'active' });
    await say(desk, checking.dialog, { says: 'dialog.joined', participant: own.writer });
    await say(writer, checking.task, { says: 'task.unresolved' });
    await say(desk, checking.dialog, { says: 'dialog.left', participant: own.writer });
    expect(await refusal(say(writer, checking.task, { says: 'task.unresolved' }))).toBe(
      'not-found',
    );
    const { tasks, conflicts } = await scene.hub.caseView(priya, task.contextId);
    expect(tasks.find((each) => each.id === checking.task)).toMatchObject({
      state: 'in-progress',
      unresolved: true,
    });
    expect(conflicts).toEqual([]);
  });

  it('adds to a Resource of others that it was handed, and changes nothing of it', async () => {
    const input = id('resource');
    const { activity } = place;
    await scene.hub.master(desk).assert([
      { about: input, statement: { says: 'resource.known', activity, name: 'terms' } },
      { about: id('relationship'), statement: relation('input-to', input, checking.task) },
    ]);
    const more = { says: 'resource.known', activity, name: 'other', mediaType: 'a/b' } as const;
    await say(checker, input, more);
    const known = async () =>
      (await scene.hub.caseView(priya, task.contextId)).resources.find(
        ({ id: is }) => is === input,
      );
    expect(await known()).toMatchObject({ name: 'terms', mediaType: 'a/b' });
    await say(desk, input, { ...more, name: 'new terms' });
    expect(await known()).toMatchObject({ name: 'new terms' });
  });

  it('does not decide over the case, not even with the word of a supervisor', async () => {
    const before = await scene.state();
    const other = await scene.hub.master(desk).locate((await scene.task(bob)).id);
    const statements: [string, DraftInput['statement']][] = [
      [place.activity, { says: 'activity.erased' }],
      [place.activity, { says: 'activity.reopened' }],
      [place.activity, { says: 'activity.labelled', label: { name: 'vip', value: 'yes' } }],
      [id('relationship'), relation('dev.throughline.merged-into', place.activity, other.activity)],
      [own.checker, { says: 'participant.known', kind: 'tool' }],
    ];
    const seen = await scene.state();
    for (const by of [desk, checker, priya, boss, bob]) {
      for (const [about, statement] of statements) {
        expect(await refusal(say(by, about, statement))).toBe('invalid');
      }
    }
    const supervised = (by: Principal) =>
      scene.hub.master(by).assert([
        {
          about: checking.task,
          statement: { says: 'task.state', state: 'failed' },
          basis: 'supervised',
        },
      ]);
    for (const by of [desk, checker, priya]) {
      expect(await refusal(supervised(by))).toBe('invalid');
    }
    expect(await scene.state()).toEqual(seen);
    expect(seen).not.toEqual(before);
  });

  it('closes an Activity that it began itself', async () => {
    await say(priya, place.activity, { says: 'activity.closed' });
    const { summary } = await scene.hub.caseView(priya, task.contextId);
    expect(summary.closed).toBe(true);
  });

  it('is told the same of what exists elsewhere and of what does not', async () => {
    const [, missing] = [own.writer, own.writer.replace(/..$/, 'zz')];
    const far = await scene.hub
      .master(bob)
      .participant({ kind: 'agent', url: 'https://far.example' });
    for (const participant of [far, missing]) {
      expect(await refusal(say(desk, participant, { says: 'task.unresolved' }))).toBe('invalid');
      const edge = relation('related-to', checking.task, participant);
      expect(await refusal(say(desk, id('relationship'), edge))).toBe('not-found');
    }
  });
});
