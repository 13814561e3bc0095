import { beforeEach, describe, expect, it } from 'vitest';
import {
  relationshipRules,
  ruleOf,
  type KnownRelationshipType,
  type ObjectKind,
  type Statement,
} from '../model/index.ts';
import { named, outcome, Story } from './conformance.ts';

const kinds = ['participant', 'activity', 'dialog', 'task', 'resource'] as const;
const types = Object.keys(relationshipRules).filter(
  (type): type is KnownRelationshipType => type in relationshipRules,
);
const acyclic = types.filter((type) => relationshipRules[type].acyclic);
const single = types.filter((type) => relationshipRules[type].single);
const selector = { conformsTo: 'http://www.w3.org/TR/media-frags/', value: 't=0,10' } as const;

let story: Story;
let a: string;
let activity: string;
/** Three of each kind, in one Activity as far as they are in any; Activities excepted. */
let things: Record<ObjectKind, readonly [string, string, string]>;

beforeEach(() => {
  story = new Story();
  a = story.participant('A');
  const [b, c] = [story.participant('B'), story.participant('C')];
  activity = story.activity('act', a);
  const d1 = story.dialog('D1', activity, [a, b]);
  things = {
    participant: [a, b, c],
    activity: [activity, story.activity('act2', a), story.activity('act3', a)],
    dialog: [d1, story.dialog('D2', activity, [a, b]), story.dialog('D3', activity, [a, b])],
    task: [story.task('T1', d1), story.task('T2', d1), story.task('T3', d1)],
    resource: [
      story.resource('R1', activity),
      story.resource('R2', activity),
      story.resource('R3', activity),
    ],
  };
});

/** The first allowed pair of a type, both ends of one kind where the type has such a pair. */
function ends(type: KnownRelationshipType): readonly [string, string, string] {
  const pairs = ruleOf(type).endpoints ?? [['task', 'task'] as const];
  const [from, to] = pairs.find(([x, y]) => x === y) ?? pairs[0] ?? ['task', 'task'];
  return from === to ? things[from] : [things[from][0], things[to][0], things[to][1]];
}

describe('every relationship type', () => {
  it.each(
    types.flatMap((type) => kinds.flatMap((from) => kinds.map((to) => [type, from, to] as const))),
  )('%s from %s to %s is refused unless the taxonomy has it', (type, from, to) => {
    const said = story.relate(type, things[from][0], things[to][1], { selector });
    const allowed = ruleOf(type).endpoints?.some(([x, y]) => x === from && y === to) ?? true;
    const placed = from !== 'participant' || to !== 'participant';
    expect(outcome(said) === 'endpoints').toBe(!(allowed && placed));
    expect(story.graph.out(things[from][0])).toHaveLength(said.applied ? 1 : 0);
  });

  it.each(acyclic)('%s does not run in a circle, short or long', (type) => {
    const [x, y, z] = ends(type);
    expect(outcome(story.relate(type, x, x, { selector }))).toBe('cycle');
    expect(outcome(story.relate(type, x, y, { selector }))).toBe('applied');
    expect(outcome(story.relate(type, y, x, { selector }))).toBe('cycle');
    expect(outcome(story.relate(type, y, z, { selector }))).toBe('applied');
    expect(outcome(story.relate(type, z, x, { selector }))).toBe('cycle');
    expect([...story.graph.relationships()]).toHaveLength(2);
  });

  it.each(single)('%s has one target at a time', (type) => {
    const [x, y, z] = ends(type);
    story.relate(type, x, y, { selector });
    const rule = type === 'output-of' ? 'second-producer' : 'second-parent';
    expect(outcome(story.relate(type, x, z, { selector }))).toBe(rule);
    const [first] = story.graph.out(x, [type]);
    story.say(first?.id ?? '', { says: 'relationship.revoked' });
    expect(outcome(story.relate(type, x, z, { selector }))).toBe('applied');
    expect(story.graph.relationship(first?.id ?? '')?.status).toBe('revoked');
  });

  it.each(types.filter((type) => !relationshipRules[type].single))('%s has many', (type) => {
    const [x, y, z] = ends(type);
    expect(outcome(story.relate(type, x, y, { selector }))).toBe('applied');
    expect(outcome(story.relate(type, x, z, { selector }))).toBe('applied');
  });

  it.each(types.filter((type) => ruleOf(type).endpoints !== undefined))(
    '%s between Activities is refused, continued Activities excepted',
    (type) => {
      const other = things.activity[1];
      const there = story.dialog('D9', other, [...things.participant]);
      const [from, to] = ruleOf(type).endpoints?.[0] ?? ['task', 'task'];
      const far = {
        dialog: there,
        task: story.task('T9', there),
        resource: story.resource('R9', other),
      };
      const target = to === 'activity' || to === 'participant' ? other : far[to];
      expect(outcome(story.relate(type, things[from][0], target, { selector }))).toBe(
        'other-activity',
      );
    },
  );

  it.each(types)('%s needs both ends to be known', (type) => {
    const [x] = ends(type);
    const nobody = named('task', 'nobody');
    expect(outcome(story.relate(type, x, nobody, { selector }))).toBe('unknown-object');
    expect(outcome(story.relate(type, nobody, x, { selector }))).toBe('unknown-object');
  });
});

describe('a relationship', () => {
  it('that is part-of needs a selector', () => {
    const [x, y] = things.resource;
    expect(outcome(story.relate('part-of', x, y))).toBe('needs-selector');
    expect(outcome(story.relate('part-of', x, y, { selector }))).toBe('applied');
  });

  it('joins Activities when it continues one, or says correlation without cause', () => {
    const [x, y] = things.activity;
    const there = story.task('T9', story.dialog('D9', y, [...things.participant]));
    expect(outcome(story.relate('continuation-of', y, x))).toBe('applied');
    expect(outcome(story.relate('related-to', things.task[0], there))).toBe('applied');
    expect(outcome(story.relate('org.example.cites', things.task[0], there))).toBe('applied');
  });

  it('of a type of somebody’s own follows related-to', () => {
    const type = 'https://example.org/rel/cites';
    const [x, y] = [things.dialog[0], things.resource[0]];
    expect(outcome(story.relate(type, x, y))).toBe('applied');
    expect(outcome(story.relate(type, y, x))).toBe('applied');
    expect(outcome(story.relate(type, x, x))).toBe('endpoints');
  });

  it('that is known is not said twice, but another use of a Resource is', () => {
    const [resource, task] = [things.resource[0], things.task[0]];
    expect(outcome(story.relate('input-to', resource, task, { role: 'terms' }))).toBe('applied');
    expect(outcome(story.relate('input-to', resource, task, { role: 'terms' }))).toBe('duplicate');
    expect(outcome(story.relate('input-to', resource, task, { role: 'example' }))).toBe('applied');
  });

  it('has an id of its own', () => {
    const [from, to] = things.task;
    const statement = { says: 'relationship.asserted', type: 'related-to', from, to } as const;
    const id = named('relationship', 'own');
    expect(outcome(story.say(things.task[2], statement))).toBe('unknown-object');
    expect(outcome(story.say(id, statement))).toBe('applied');
    expect(outcome(story.say(id, { ...statement, from: to, to: from }))).toBe('duplicate');
    expect(outcome(story.say(named('relationship', 'no'), { says: 'relationship.revoked' }))).toBe(
      'unknown-object',
    );
  });

  it('revoked frees the way for its opposite', () => {
    const [x, y] = things.dialog;
    story.relate('delegated-from', x, y);
    const [edge] = story.graph.out(x);
    story.say(edge?.id ?? '', { says: 'relationship.revoked' });
    expect(outcome(story.relate('delegated-from', y, x))).toBe('applied');
  });

  it('carries role, note, selector and who said it', () => {
    const [resource, task] = [things.resource[0], things.task[0]];
    story.relate(
      'input-to',
      resource,
      task,
      { role: 'terms', note: 'as of May', selector },
      { source: a },
    );
    expect(story.graph.out(resource)).toEqual([
      expect.objectContaining({
        role: 'terms',
        note: 'as of May',
        selector,
        assertedBy: a,
        activity,
      }),
    ]);
  });

  it.each([
    ['continuation', ['continuation-of']],
    ['replacement', ['replaces']],
    ['continuation and replacement', ['continuation-of', 'replaces']],
  ])('recovers by %s, which inherits nothing and moves nothing', (_what, recovery) => {
    const [d1, d2, d3] = things.dialog;
    const [input] = things.resource;
    story.relate('delegated-from', d2, d1);
    story.relate('delegated-from', d3, d2);
    story.relate('input-to', input, d2, { role: 'evidence', note: 'read first' });
    story.say(d2, { says: 'dialog.state', state: 'active' });
    const before = story.graph.dialog(d2);
    const again = story.dialog('D2b', activity, [...things.participant]);
    for (const type of recovery) expect(outcome(story.relate(type, again, d2))).toBe('applied');
    expect(story.graph.out(again).map(({ type, to }) => [type, to])).toEqual(
      recovery.map((type) => [type, d2]),
    );
    expect(story.graph.in(again)).toEqual([]);
    expect(story.graph.dialog(d2)).toEqual(before);
    expect(story.graph.out(d3).map(({ to }) => to)).toEqual([d2]);
    expect(story.graph.in(d2, ['input-to'])[0]).toMatchObject({ role: 'evidence' });
  });

  it('that continues and one that replaces may stand together, and history survives both', () => {
    const [d1, d2, d3] = things.dialog;
    story.relate('delegated-from', d3, d2);
    const again = story.dialog('D2b', activity, [...things.participant]);
    expect(outcome(story.relate('continuation-of', again, d2))).toBe('applied');
    expect(outcome(story.relate('replaces', again, d2))).toBe('applied');
    expect(story.graph.out(d3).map(({ to }) => to)).toEqual([d2]);
    expect(story.graph.out(again, ['delegated-from'])).toEqual([]);
    expect(outcome(story.relate('delegated-from', again, d1))).toBe('applied');
  });
});

describe('delegation', () => {
  it('from a Task comes after the Dialog of that Task too', () => {
    const [d1, d2] = things.dialog;
    expect(outcome(story.relate('delegated-from', d1, things.task[0]))).toBe('cycle');
    expect(outcome(story.relate('delegated-from', d2, things.task[0]))).toBe('applied');
    const below = story.task('T4', d2);
    expect(outcome(story.relate('delegated-from', d1, below))).toBe('cycle');
  });

  it('back into the Dialog that a Task came from is no circle', () => {
    const [d1, d2] = things.dialog;
    story.relate('delegated-from', d2, d1);
    const below = story.task('T4', d2);
    expect(outcome(story.relate('delegated-from', things.task[1], below))).toBe('applied');
  });

  it('is never done by a tool', () => {
    const tool = story.participant('X', 'tool');
    const withTool = story.dialog('D4', activity, [a, tool]);
    const opening: Statement = {
      says: 'dialog.opened',
      activity,
      participants: [tool, a],
      managed: 'ours',
    };
    expect(outcome(story.say(named('dialog', 'D5'), opening))).toBe('tool-invokes');
    // One that an earlier rule let in is not related either.
    const known = story.graph.dialog(withTool);
    if (known === undefined) throw new Error('the Dialog was not opened');
    story.graph.load({ objects: [{ kind: 'dialog', value: { ...known, invoker: tool } }] });
    expect(outcome(story.relate('delegated-from', withTool, things.dialog[0]))).toBe(
      'tool-invokes',
    );
  });

  it('between Tasks of two Dialogs counts only from one who is in both', () => {
    const [, b, c] = things.participant;
    const below = story.dialog('D5', activity, [b, c]);
    const task = story.task('T5', below);
    const by = (source: string) =>
      outcome(story.relate('delegated-from', task, things.task[0], {}, { source }));
    expect(by(c)).toBe('unverified');
    expect(by(a)).toBe('unverified');
    expect(story.graph.out(task)).toEqual([]);
    expect(by(b)).toBe('applied');
    expect(story.graph.conflicts.map(({ message }) => message)).toContain(
      `${c} says that ${task} is delegated-from ${things.task[0]}, and is not in both dialogs`,
    );
    const other = outcome(story.relate('related-to', task, things.task[1], {}, { source: c }));
    expect(other).toBe('applied');
  });
});
