import { describe, expect, it } from 'vitest';
import { doubledIn, openIn, redoneIn, repeatedIn } from './faults.ts';
import { atWork, type Note } from './notes.ts';
import { differences } from './outcome.ts';

const none = { repeated: [], doubled: [], open: [], different: [] };
const begins = (at: number, resumed: boolean, taskId = 'one'): Note => ({
  kind: 'begins',
  agent: 'finder',
  taskId,
  at,
  resumed,
});
const made = (...outcomes: ('answered' | 'failed')[]) => [
  { id: 'find', attempts: outcomes.map((outcome) => ({ outcome, task: '' })) },
];
const task = (id: string, dialog: string) => ({ id, dialog, state: 'completed' as const });

describe('what the kills must not lead to is seen when it is there', () => {
  it('an attempt after one that was answered, not one after a failure', () => {
    expect(repeatedIn(made('failed', 'answered'))).toEqual([]);
    expect(repeatedIn(made('answered', 'answered'))).toHaveLength(1);
    expect(repeatedIn(made('answered', 'failed'))).toHaveLength(1);
  });

  it('work begun after its end, or from nothing where a process had begun it', () => {
    expect(redoneIn([begins(1, false), begins(2, true)], () => 3)).toEqual([]);
    expect(redoneIn([begins(1, false), begins(4, true)], () => 3)).toHaveLength(1);
    expect(redoneIn([begins(1, false), begins(2, false)], () => 3)).toHaveLength(1);
    expect(redoneIn([begins(1, false), begins(2, false, 'two')], () => undefined)).toEqual([]);
  });

  it('a task that no attempt knows, but for those of agents that know nothing of the hub', () => {
    const run = {
      task: 'request',
      subtasks: [{ id: 'find', attempts: [{ outcome: 'answered' as const, task: 'one' }] }],
    };
    const dialogs = [
      { id: 'ours', managed: 'ours' as const },
      { id: 'theirs', managed: 'none' as const },
    ];
    const known = [task('request', 'ours'), task('one', 'ours')];
    expect(doubledIn(run, { tasks: known, dialogs })).toEqual({ doubled: [], anew: 0 });
    const more = [...known, task('two', 'ours'), task('three', 'theirs')];
    expect(doubledIn(run, { tasks: more, dialogs })).toMatchObject({
      doubled: [expect.stringContaining('two')],
      anew: 1,
    });
  });

  it('a task, a dialog or a run that has not come to its end', () => {
    const done = { runId: 'run', done: true, status: 'completed' as const };
    const over = { id: 'one', state: 'completed' as const };
    const dialog = { id: 'two', state: 'active' as const };
    expect(openIn(done, { tasks: [over], dialogs: [dialog] })).toEqual([]);
    expect(openIn({ ...done, done: false }, { tasks: [], dialogs: [] })).toHaveLength(1);
    const open = [
      { ...over, state: 'in-progress' as const },
      { ...over, unresolved: true },
    ];
    const interrupted = [{ ...dialog, state: 'interrupted' as const }];
    expect(openIn(done, { tasks: open, dialogs: interrupted })).toHaveLength(3);
  });

  it('anything that came out otherwise than in a run that nobody disturbed', () => {
    const outcome = { same: { tasks: 5, texts: { answer: 'yes' } }, faults: none, anew: 0 };
    const other = { ...outcome, same: { tasks: 5, texts: { answer: 'no' } } };
    expect(differences(outcome, outcome)).toEqual([]);
    expect(differences(outcome, other)).toEqual([expect.stringContaining('texts')]);
  });

  it('who is at work: begun, and not ended', () => {
    const ends = { kind: 'ends', agent: 'finder', taskId: 'one' } as const;
    expect(atWork([begins(1, false)])).toEqual(['finder']);
    expect(atWork([begins(1, false), ends])).toEqual([]);
    expect(atWork([begins(1, false), ends, begins(2, false, 'two')])).toEqual(['finder']);
  });
});
