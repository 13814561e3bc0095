import { describe, expect, it } from 'vitest';
import { named, outcome, Story } from './conformance.ts';
import { Graph, kindOf } from './graph.ts';

function pair(): { story: Story; activity: string; dialog: string; task: string } {
  const story = new Story();
  const [a, b] = [story.participant('A'), story.participant('B')];
  const activity = story.activity('act', a);
  const dialog = story.dialog('D1', activity, [a, b]);
  return { story, activity, dialog, task: story.task('T1', dialog) };
}

describe('a graph', () => {
  it('tells the kind of an object from its id, and of nothing else', () => {
    expect(kindOf(named('task', 'x'))).toBe('task');
    expect(kindOf(named('assertion', 'x'))).toBeUndefined();
    expect(kindOf('tskx')).toBeUndefined();
  });

  it('holds members and Activity of each object', () => {
    const { story, activity, dialog, task } = pair();
    const { graph } = story;
    expect(graph.members(activity)).toEqual([dialog]);
    expect(graph.members(dialog)).toEqual([task]);
    expect([activity, dialog, task].map((id) => graph.activityOf(id))).toEqual(
      Array.from({ length: 3 }, () => activity),
    );
    expect(graph.activityOf(named('participant', 'A'))).toBeUndefined();
    expect(graph.task(dialog)).toBeUndefined();
  });

  it('finds relationships from both ends, by type, and only active ones', () => {
    const { story, dialog, task } = pair();
    const other = story.task('T2', dialog);
    story.relate('related-to', task, other);
    story.relate('delegated-from', task, other);
    expect(story.graph.out(task).map((edge) => edge.type)).toEqual([
      'related-to',
      'delegated-from',
    ]);
    expect(story.graph.in(other, ['related-to'])).toHaveLength(1);
    expect(story.graph.in(task)).toEqual([]);
    const [edge] = story.graph.out(task, ['related-to']);
    expect(outcome(story.say(edge?.id ?? '', { says: 'relationship.revoked' }))).toBe('applied');
    expect(story.graph.out(task).map(({ type }) => type)).toEqual(['delegated-from']);
    expect(story.graph.relationship(edge?.id ?? '')?.status).toBe('revoked');
  });

  it('counts what was put as changed, not what was loaded, until it settles', () => {
    const { story, task } = pair();
    const slice = new Graph(story.graph.snapshot());
    expect([slice.changes.objects.size, slice.changes.relationships.size]).toEqual([0, 0]);
    expect(slice.snapshot()).toEqual(story.graph.snapshot());
    const old = slice.task(task);
    if (old === undefined) throw new Error('the slice lost its task');
    slice.put({ kind: 'task', value: { ...old, cancelRequested: true } });
    expect([...slice.changes.objects]).toEqual([task]);
    slice.settle();
    expect(slice.changes.objects.size).toBe(0);
    expect(slice.task(task)?.cancelRequested).toBe(true);
  });
});
