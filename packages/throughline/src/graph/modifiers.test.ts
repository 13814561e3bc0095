import { beforeEach, describe, expect, it } from 'vitest';
import { Story } from './conformance.ts';
import { modifiersOf } from './modifiers.ts';
import { stuckTasks } from './stuck.ts';

let story: Story;
let asker: string;
let doer: string;
let dialog: string;
let task: string;
let other: string;

beforeEach(() => {
  story = new Story();
  [asker, doer] = [story.participant('asker'), story.participant('doer')];
  const activity = story.activity('act', asker);
  dialog = story.dialog('D', activity, [asker, doer]);
  [task, other] = [story.task('T1', dialog), story.task('T2', dialog)];
});

const words = () => modifiersOf(story.graph, task).map(({ modifier, by }) => [modifier, by]);

describe('beside the one state of a Task stands', () => {
  it('nothing, as long as nothing was said', () => {
    expect(words()).toEqual([]);
  });

  it.each([
    ['replaces', ['superseded', 'retried']],
    ['continuation-of', ['retried']],
    ['delegated-from', ['delegated']],
  ] as const)('what an incoming %s says, which goes with it', (type, modifiers) => {
    story.relate(type, other, task);
    expect(words()).toEqual(modifiers.map((modifier) => [modifier, other]));
    expect(story.graph.task(task)?.state).toBe('defined');
    const [edge] = story.graph.in(task);
    story.say(edge?.id ?? '', { says: 'relationship.revoked' });
    expect(words()).toEqual([]);
  });

  it('a later requirement, and what was asked and doubted of it', () => {
    const spoken = story.resource('spoken', story.graph.task(task)?.activity ?? '');
    story.relate('modifies', spoken, task);
    story.say(task, { says: 'task.cancel-requested' });
    story.say(task, { says: 'task.unresolved' });
    expect(words()).toEqual([
      ['cancel-requested', undefined],
      ['unresolved', undefined],
      ['modified', spoken],
    ]);
  });
});

describe('whose step it is', () => {
  it('is the asker’s where input is awaited, and the doer’s where nobody knows how it ended', () => {
    story.say(task, { says: 'task.state', state: 'awaiting', awaiting: 'input' }, { source: doer });
    story.say(other, { says: 'task.unresolved' });
    expect(stuckTasks(story.graph)).toEqual([
      { task, why: 'awaiting-input', whose: [asker] },
      { task: other, why: 'outcome-unknown', whose: [doer] },
    ]);
  });
});
