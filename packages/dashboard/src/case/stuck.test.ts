import { describe, expect, it } from 'vitest';
import { MadeCase } from '../../test/made-case.ts';
import { CaseIndex } from './case-index.ts';
import { troubles, whoseStep } from './stuck.ts';

const told = (made: MadeCase): string[] =>
  troubles(new CaseIndex(made.view())).map(({ kind, why }) => `${kind}: ${why}`);

describe('what needs attention', () => {
  it.each([
    ['awaiting', 'awaiting-input', 'waits for input'],
    ['awaiting', 'awaiting-authorization', 'waits for an authorization'],
    ['awaiting', 'nothing-awaited', 'waits for a result that nobody works on'],
    ['interrupted', 'interrupted', 'interrupted, and not resumed'],
    ['in-progress', 'dialog-ended', 'its dialog is over'],
    ['completed', 'outcome-unknown', 'nobody knows how it ended'],
  ] as const)('a task %s that the hub counts as %s: %s', (state, why, words) => {
    const made = new MadeCase();
    const desk = made.participant('Desk');
    const task = made.task(made.dialog([desk]), state);
    expect(told(made)).toEqual([]);
    made.stuck(task, why, [desk]);
    expect(told(made)).toEqual([`stuck: ${words}`]);
    expect(whoseStep(new CaseIndex(made.view()), task)).toBe('Desk');
  });

  it.each([
    ['failed', {}, ['error: failed']],
    ['timed-out', {}, ['error: timed out']],
    ['rejected', {}, ['error: was rejected']],
    ['completed', { outcome: 'error' }, ['error: completed with an error']],
    ['completed', {}, []],
    ['in-progress', {}, []],
    ['cancelled', {}, []],
  ] as const)('a task %s %j is %j', (state, more, expected) => {
    const made = new MadeCase();
    made.task(made.dialog([made.participant('Desk')]), state, more);
    expect(told(made)).toEqual(expected);
  });

  it('does not call a failure an error once another attempt took its place', () => {
    const made = new MadeCase();
    const dialog = made.dialog([made.participant('Desk')]);
    const failed = made.task(dialog, 'failed');
    made.edge('replaces', made.task(dialog, 'completed'), failed);
    expect(told(made)).toEqual([]);
    const revoked = new MadeCase();
    const other = revoked.dialog([revoked.participant('Desk')]);
    const bad = revoked.task(other, 'failed');
    revoked.edge('replaces', revoked.task(other, 'completed'), bad, { status: 'revoked' });
    expect(told(revoked)).toHaveLength(1);
  });

  it('puts what is stuck before what went wrong', () => {
    const made = new MadeCase();
    const dialog = made.dialog([made.participant('Desk')]);
    made.task(dialog, 'failed');
    made.stuck(made.task(dialog, 'interrupted'), 'interrupted');
    expect(told(made)).toEqual(['stuck: interrupted, and not resumed', 'error: failed']);
  });
});
