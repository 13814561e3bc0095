/** The running example of the context and correlation model: a video, a transcript, a barge-in. */
import { beforeEach, describe, expect, it } from 'vitest';
import { named, outcome, Story } from './conformance.ts';
import { explain } from './explain.ts';
import { impact } from './impact.ts';
import { ancestors, descendants } from './lineage.ts';
import { rolesOf } from './roles.ts';
import { stuckTasks } from './stuck.ts';

const p = (name: string) => named('participant', name);
const d = (n: number) => named('dialog', `D${n}`);
const t = (name: string) => named('task', name);
const r = (name: string) => named('resource', name);
const act = named('activity', 'analyze V1');

let story: Story;

beforeEach(() => {
  story = new Story();
  story.participant('user', 'user');
  for (const name of ['A', 'B', 'C', 'E', 'F']) story.participant(name);
  for (const name of ['X', 'Y']) story.participant(name, 'tool');
  story.activity('analyze V1', p('user'));
  const dialogs: [number, string, string][] = [
    [1, 'user', 'A'],
    [2, 'A', 'B'],
    [3, 'A', 'X'],
    [4, 'A', 'B'],
    [5, 'B', 'C'],
    [6, 'B', 'E'],
    [7, 'C', 'E'],
    [8, 'B', 'F'],
  ];
  for (const [n, from, to] of dialogs) story.dialog(`D${n}`, act, [p(from), p(to)]);
  const tasks: [string, number][] = [
    ['TA1', 1],
    ['TB1', 2],
    ['TB2', 2],
    ['TX1', 3],
    ['TC1', 5],
    ['TE1', 6],
    ['TE2', 7],
    ['TF1', 8],
  ];
  for (const [name, n] of tasks) story.task(name, d(n));
  for (const name of ['V1', 'T1', 'RQ1', 'AX1']) story.resource(name, act);
  const delegated = 'delegated-from';
  const relationships: [string, string, string][] = [
    [delegated, d(2), d(1)],
    [delegated, d(3), d(1)],
    ['clarifies', d(4), t('TB1')],
    [delegated, d(5), d(2)],
    [delegated, d(6), d(2)],
    [delegated, d(7), d(5)],
    ['aggregated-from', d(8), d(5)],
    ['aggregated-from', d(8), d(6)],
    [delegated, t('TB1'), t('TA1')],
    [delegated, t('TB2'), t('TA1')],
    [delegated, t('TX1'), t('TA1')],
    [delegated, t('TC1'), t('TB1')],
    [delegated, t('TE1'), t('TB2')],
    [delegated, t('TE2'), t('TC1')],
    ['aggregated-from', t('TF1'), t('TC1')],
    ['aggregated-from', t('TF1'), t('TE1')],
    ['input-to', r('V1'), t('TB1')],
    ['input-to', r('V1'), t('TX1')],
    ['derived-from', r('T1'), r('V1')],
    ['output-of', r('T1'), t('TX1')],
    ['input-to', r('T1'), t('TB1')],
    ['input-to', r('RQ1'), t('TB1')],
  ];
  for (const [type, from, to] of relationships) {
    expect(outcome(story.relate(type, from, to))).toBe('applied');
  }
});

const roles = (name: string) => rolesOf(story.graph, p(name)).map(({ role }) => role);
const move = (name: string, state: 'in-progress' | 'interrupted' | 'completed') =>
  story.say(t(name), { says: 'task.state', state });
const wait = (name: string, awaiting: 'input' | 'authorization' | 'result') =>
  story.say(t(name), { says: 'task.state', state: 'awaiting', awaiting });
const idsOf = (reached: readonly { id: string }[]) => reached.map(({ id }) => id).toSorted();

describe('the video example', () => {
  it('has the roles that the invocations gave', () => {
    expect(roles('user')).toEqual(['AIE']);
    expect(roles('A')).toEqual(['FNE']);
    for (const name of ['B', 'C', 'E', 'F']) expect(roles(name)).toEqual(['AA']);
    expect(roles('X')).toEqual(['AT']);
    expect(roles('Y')).toEqual([]);
  });

  it('makes a tool that the user invokes directly the FNE of another Activity', () => {
    const before = story.activity('transcribe', p('user'));
    story.dialog('D0', before, [p('user'), p('X')]);
    expect(rolesOf(story.graph, p('X'))).toEqual([
      { activity: act, role: 'AT' },
      { activity: before, role: 'FNE' },
    ]);
  });

  it('gives no role to one who joins a Dialog, and keeps it for one whose invoker left', () => {
    story.say(d(1), { says: 'dialog.joined', participant: p('Y') });
    story.say(d(2), { says: 'dialog.left', participant: p('A') });
    expect(rolesOf(story.graph, p('Y'))).toEqual([]);
    expect(rolesOf(story.graph, p('B'))).toEqual([{ activity: act, role: 'AA' }]);
  });

  it('knows where the transcript comes from and where the video went', () => {
    expect(idsOf(ancestors(story.graph, r('T1')))).toEqual(
      [r('V1'), t('TX1'), t('TA1')].toSorted(),
    );
    expect(idsOf(descendants(story.graph, r('V1')))).toEqual([r('T1')]);
    expect(ancestors(story.graph, d(7), { types: ['delegated-from'] })).toEqual([
      { id: d(5), depth: 1 },
      { id: d(2), depth: 2 },
      { id: d(1), depth: 3 },
    ]);
    expect(idsOf(ancestors(story.graph, d(7), { depth: 1 }))).toEqual([d(5)]);
    expect(ancestors(story.graph, d(7), { limit: 2 })).toHaveLength(2);
    expect(idsOf(descendants(story.graph, d(2)))).toEqual([d(5), d(6), d(7), d(8)].toSorted());
  });

  it('says that a change of the video concerns whoever used it or what was made from it', () => {
    const affected = impact(story.graph, r('V1'));
    expect(affected).toContainEqual({
      id: t('TX1'),
      kind: 'task',
      because: r('V1'),
      relation: 'input-to',
      depth: 1,
    });
    expect(affected.map(({ id }) => id)).toEqual(expect.arrayContaining([r('T1'), t('TB1'), d(3)]));
    expect(affected.map(({ id }) => id)).not.toContain(t('TB2'));
  });
});

describe('a barge-in', () => {
  beforeEach(() => {
    story.relate('modifies', r('AX1'), r('RQ1'), { note: 'only the last 50%' });
    story.relate('modifies', r('AX1'), t('TB1'));
    story.relate('input-to', r('AX1'), t('TB1'));
  });

  it('concerns the Task it narrows, what was delegated from that and what puts it together', () => {
    const affected = impact(story.graph, r('AX1'));
    const of = (kind: string) => idsOf(affected.filter((each) => each.kind === kind));
    expect(of('task')).toEqual(['TB1', 'TC1', 'TE2', 'TF1'].map(t).toSorted());
    expect(of('dialog')).toEqual([d(2), d(5), d(7), d(8)].toSorted());
  });

  it('leaves alone the branch that another Task caused, and the transcription', () => {
    const affected = impact(story.graph, r('AX1')).map(({ id }) => id);
    for (const id of [d(6), t('TE1'), t('TB2'), d(3), t('TX1')]) expect(affected).not.toContain(id);
  });

  it('reaches Dialogs whose Tasks say nothing, as long as nothing else caused them', () => {
    const quiet = story.dialog('D9', act, [p('C'), p('F')]);
    story.relate('delegated-from', quiet, d(5));
    const work = story.task('TQ', quiet);
    expect(impact(story.graph, r('AX1'))).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: quiet, relation: 'delegated-from' }),
        expect.objectContaining({ id: work, because: quiet }),
      ]),
    );
  });

  it('moves four Dialogs by assertions of their own, and nothing that nobody moved', () => {
    for (const n of [5, 6, 7, 8]) story.say(d(n), { says: 'dialog.state', state: 'active' });
    const before = [d(6), t('TE1'), t('TC1'), t('TE2')].map((id) => story.graph.object(id));
    story.say(d(5), { says: 'dialog.state', state: 'interrupted' });
    story.say(d(7), { says: 'dialog.state', state: 'suspended' });
    story.say(d(8), { says: 'dialog.state', state: 'terminated', reason: 'replaced' });
    story.say(t('TF1'), { says: 'task.state', state: 'cancelled' });
    expect([5, 7, 8].map((n) => story.graph.dialog(d(n))?.state)).toEqual([
      'interrupted',
      'suspended',
      'terminated',
    ]);
    const after = [d(6), t('TE1'), t('TC1'), t('TE2')].map((id) => story.graph.object(id));
    expect(after).toEqual(before);
  });
});

describe('explaining', () => {
  it('why something is here goes up its lineage to its Activity', () => {
    const { to, steps, labels } = explain(story.graph, r('T1'));
    expect(steps.map(({ relation, to: next }) => [relation, next])).toEqual([
      ['output-of', t('TX1')],
      ['delegated-from', t('TA1')],
      ['in', d(1)],
      ['in', act],
    ]);
    expect(to).toBe(act);
    expect(labels).toEqual({
      [r('T1')]: 'T1',
      [t('TX1')]: 'TX1',
      [t('TA1')]: 'TA1',
      [d(1)]: 'D1',
      [act]: 'analyze V1',
    });
  });

  it('what joins two things finds the shortest way and says which steps run backwards', () => {
    const { steps } = explain(story.graph, t('TE2'), r('V1'));
    expect(steps.map(({ from, relation, to, inverse }) => [from, relation, to, inverse])).toEqual([
      [t('TE2'), 'delegated-from', t('TC1'), false],
      [t('TC1'), 'delegated-from', t('TB1'), false],
      [t('TB1'), 'input-to', r('V1'), true],
    ]);
  });

  it('tells role and note of a step', () => {
    story.relate('input-to', r('T1'), t('TF1'), { role: 'transcript', note: 'second half' });
    expect(explain(story.graph, r('T1'), t('TF1')).steps).toEqual([
      {
        from: r('T1'),
        relation: 'input-to',
        to: t('TF1'),
        inverse: false,
        role: 'transcript',
        note: 'second half',
      },
    ]);
  });

  it('goes through the Activity only when nothing else joins them', () => {
    expect(explain(story.graph, d(3), d(7)).steps.map(({ to }) => to)).toEqual([
      d(1),
      d(2),
      d(5),
      d(7),
    ]);
    const alone = story.resource('alone', act);
    expect(
      explain(story.graph, alone, d(3)).steps.map(({ relation, to }) => [relation, to]),
    ).toEqual([
      ['in', act],
      ['in', d(3)],
    ]);
  });

  it('does not take two Dialogs as joined by a participant, but joins a participant to its Dialogs', () => {
    const other = story.activity('other', p('user'));
    const elsewhere = story.dialog('D0', other, [p('user'), p('A')]);
    expect(explain(story.graph, d(2), elsewhere).steps).toEqual([]);
    expect(explain(story.graph, p('X'), d(3)).steps).toEqual([
      { from: p('X'), relation: 'participant', to: d(3), inverse: true },
    ]);
    expect(explain(story.graph, d(3), p('X')).steps).toHaveLength(1);
  });

  it('of what is not there is not found', () => {
    expect(() => explain(story.graph, named('task', 'no'))).toThrow(
      expect.objectContaining({ code: 'not-found' }),
    );
    expect(() => explain(story.graph, d(1), named('task', 'no'))).toThrow(/not here/);
  });

  it('names things in words, also where nobody gave them any', () => {
    const id = named('dialog', 'plain');
    const participants = [p('A'), p('B')];
    story.say(id, { says: 'dialog.opened', activity: act, participants, managed: 'none' });
    expect(explain(story.graph, id).labels[id]).toBe('dialog of A, B');
  });
});

describe('stuck Tasks', () => {
  it('are those that nobody works on, with the reason', () => {
    move('TA1', 'in-progress');
    wait('TB1', 'input');
    wait('TB2', 'authorization');
    move('TX1', 'interrupted');
    move('TC1', 'completed');
    story.say(t('TC1'), { says: 'task.unresolved' });
    story.say(d(8), { says: 'dialog.state', state: 'terminated', reason: 'failed' });
    expect(stuckTasks(story.graph)).toMatchObject([
      { task: t('TB1'), why: 'awaiting-input' },
      { task: t('TB2'), why: 'awaiting-authorization' },
      { task: t('TX1'), why: 'interrupted' },
      { task: t('TC1'), why: 'outcome-unknown' },
      { task: t('TF1'), why: 'dialog-ended' },
    ]);
  });

  it('await a result only while something works on it', () => {
    wait('TC1', 'result');
    expect(stuckTasks(story.graph)).toEqual([]);
    move('TE2', 'completed');
    expect(stuckTasks(story.graph)).toMatchObject([{ task: t('TC1'), why: 'nothing-awaited' }]);
  });
});
