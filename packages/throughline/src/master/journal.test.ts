import { describe, expect, it } from 'vitest';
import { ThroughlineError } from '../errors.ts';
import { Journal } from './journal.ts';
import { asRunState, type RunState } from './run-state.ts';

const id = (prefix: string): string => `${prefix}_00000000000000000000000000`;
const state = asRunState({
  v: 1,
  id: 'run',
  requestTask: 'task',
  activity: id('act'),
  dialog: id('dlg'),
  task: id('tsk'),
  query: 'Is it right?',
  workflow: {
    name: 'Case',
    subtasks: [{ id: 'a', name: 'A', agent: 'a', todo: [{ id: 'one', description: 'One' }] }],
  },
  taskContext: {
    TaskID: id('tsk'),
    UserQuery: '',
    TaskName: '',
    TaskDescription: '',
    GoalStatus: [],
    OverallStatus: '',
    Optional: [],
  },
  items: [],
  subtasks: { a: { status: 'waiting', attempts: [] } },
});

function journal(failAt = 0) {
  const saved: RunState[] = [];
  const gate = Promise.withResolvers<void>();
  let version = 0;
  const made = new Journal(
    {
      loadRun: () => Promise.resolve(undefined),
      saveRun: async (run) => {
        await gate.promise;
        version += 1;
        if (version === failAt) throw new ThroughlineError('conflict', 'taken over');
        saved.push(asRunState(run.state));
        return { version };
      },
    },
    'here',
    state,
    0,
  );
  return { made, saved, open: () => gate.resolve() };
}

const add = (to: string) => (draft: RunState) => {
  draft.query += to;
};

describe('the journal of a run', () => {
  it('writes what is decided meanwhile together, in order, each on top of the one before', async () => {
    const { made, saved, open } = journal();
    const all = ['1', '2', '3', '4'].map((each) => made.decide(add(each)));
    expect(made.state.query).toBe('Is it right?');
    open();
    await Promise.all(all);
    expect(saved.map(({ query }) => query)).toEqual(['Is it right?1', 'Is it right?1234']);
    expect(made.state.query).toBe('Is it right?1234');
  });

  it('leaves out a change that throws, and only that', async () => {
    const { made, open } = journal();
    const first = made.decide(add('1'));
    const bad = made.decide((draft) => {
      add('bad')(draft);
      throw new ThroughlineError('terminal', 'it is over');
    });
    const last = made.decide(add('2'));
    open();
    await expect(bad).rejects.toMatchObject({ code: 'terminal' });
    await Promise.all([first, last]);
    expect(made.state.query).toBe('Is it right?12');
  });

  it('counts nothing that could not be written', async () => {
    const { made, open } = journal(2);
    const first = made.decide(add('1'));
    const lost = [made.decide(add('2')), made.decide(add('3'))];
    open();
    await first;
    for (const each of lost) await expect(each).rejects.toMatchObject({ code: 'conflict' });
    expect(made.state.query).toBe('Is it right?1');
  });
});
