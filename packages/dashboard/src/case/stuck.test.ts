import { taskStates } from 'throughline/model';
import { describe, expect, it } from 'vitest';
import { MadeCase } from '../../test/made-case.ts';
import { CaseIndex } from './case-index.ts';
import { troubles } from './stuck.ts';

function one(state: (typeof taskStates)[number], more = {}, dialog = {}): string[] {
  const made = new MadeCase();
  const desk = made.participant('Desk');
  made.task(made.dialog([desk], dialog), state, more);
  return troubles(new CaseIndex(made.view())).map(({ kind, why }) => `${kind}: ${why}`);
}

describe('what needs attention', () => {
  it.each([
    ['awaiting', { awaiting: 'input' }, {}, ['stuck: waits for input']],
    ['awaiting', { awaiting: 'authorization' }, {}, ['stuck: waits for an authorization']],
    ['awaiting', { awaiting: 'result' }, {}, ['stuck: waits for a result that nobody works on']],
    ['interrupted', {}, {}, ['stuck: interrupted, and not resumed']],
    ['in-progress', {}, { state: 'terminated' }, ['stuck: its dialog is over']],
    ['failed', {}, {}, ['error: failed']],
    ['timed-out', {}, {}, ['error: timed out']],
    ['rejected', {}, {}, ['error: was rejected']],
    ['completed', { outcome: 'error' }, {}, ['error: completed with an error']],
    ['completed', {}, { state: 'terminated' }, []],
    ['in-progress', {}, {}, []],
    ['defined', {}, {}, []],
    ['cancelled', {}, {}, []],
  ] as const)('a task %s %j in a dialog %j is %j', (state, more, dialog, expected) => {
    expect(one(state, more, dialog)).toEqual(expected);
  });

  it('names a task whose outcome nobody knows, whatever its state', () => {
    for (const state of taskStates) {
      expect(one(state, { unresolved: true })).toContain('stuck: nobody knows how it ended');
    }
  });

  it('does not call a failure an error once another attempt took its place', () => {
    const made = new MadeCase();
    const dialog = made.dialog([made.participant('Desk')]);
    const failed = made.task(dialog, 'failed');
    made.edge('replaces', made.task(dialog, 'completed'), failed);
    expect(troubles(new CaseIndex(made.view()))).toEqual([]);
    const revoked = new MadeCase();
    const other = revoked.dialog([revoked.participant('Desk')]);
    const bad = revoked.task(other, 'failed');
    revoked.edge('replaces', revoked.task(other, 'completed'), bad, { status: 'revoked' });
    expect(troubles(new CaseIndex(revoked.view()))).toHaveLength(1);
  });

  it('does not call one stuck that awaits work still going on, and puts stuck before errors', () => {
    const made = new MadeCase();
    const dialog = made.dialog([made.participant('Desk')]);
    made.task(dialog, 'failed');
    const waiting = made.task(dialog, 'awaiting', { awaiting: 'result' });
    const work = made.task(dialog, 'in-progress');
    made.edge('delegated-from', work, waiting);
    made.task(dialog, 'interrupted');
    const found = troubles(new CaseIndex(made.view()));
    expect(found.map(({ kind }) => kind)).toEqual(['stuck', 'error']);
  });
});
