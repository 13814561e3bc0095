import { describe, expect, it } from 'vitest';
import type { CaseView } from '../../model/case-view.ts';
import type { Dialog } from '../../model/dialog.ts';
import { idPrefixes, type IdKind } from '../../model/ids.ts';
import type { Relationship } from '../../model/relationship.ts';
import type { Task } from '../../model/task.ts';
import { terminal } from '../terminal.ts';
import { truncatedPart } from './case-parts.ts';
import { caseTree } from './case-tree.ts';
import { Words } from './words.ts';

const id = (kind: IdKind, n: number): string =>
  `${idPrefixes[kind]}_${String(n).padStart(26, '0')}`;
const activity = id('activity', 1);
const [priya, desk, reader] = [id('participant', 1), id('participant', 2), id('participant', 3)];

const dialog = (n: number, ...participants: string[]): Dialog => ({
  id: id('dialog', n),
  activity,
  participants,
  managed: 'ours',
  state: 'active',
  local: [],
});
const task = (n: number, inDialog: number, more: Partial<Task> = {}): Task => ({
  id: id('task', n),
  dialog: id('dialog', inDialog),
  activity,
  objective: `work ${n}`,
  state: 'completed',
  ...more,
});
let edges = 0;
const edge = (type: string, from: string, to: string): Relationship => ({
  id: id('relationship', ++edges),
  activity,
  type,
  from,
  to,
  assertedBy: desk,
  status: 'active',
});

function viewOf(parts: Pick<CaseView, 'dialogs' | 'tasks' | 'relationships'>): CaseView {
  const at = '2030-01-01T00:00:00Z';
  const counts = { activities: 1, dialogs: 0, tasks: 0, resources: 0, relationships: 0 };
  return {
    summary: { activity, openedAt: at, updatedAt: at, closed: false, counts, stuck: 0 },
    activities: [{ id: activity, closed: false }],
    participants: [
      { id: priya, kind: 'user', name: 'priya' },
      { id: desk, kind: 'agent', name: 'desk' },
      { id: reader, kind: 'agent', name: 'reader' },
    ],
    resources: [],
    conflicts: [],
    handovers: [],
    ...parts,
  };
}

const pipe = terminal({ isTTY: false, columns: undefined, env: {} });
const drawn = (view: CaseView): string[] => {
  const lines = caseTree(new Words(view, pipe));
  // Ids shortened to kind and number: `tsk3`.
  return lines.map((line) => line.replaceAll(/\b([a-z]{3})_0*(\d+)/g, '$1$2'));
};

describe('the tree of a case', () => {
  it('hangs a delegated dialog below the task that it came from', () => {
    const view = viewOf({
      dialogs: [dialog(1, priya, desk), dialog(2, desk, reader)],
      tasks: [task(1, 1), task(2, 2)],
      relationships: [
        edge('delegated-from', id('dialog', 2), id('dialog', 1)),
        edge('delegated-from', id('task', 2), id('task', 1)),
      ],
    });
    expect(drawn(view)).toEqual([
      'Activity act1 open',
      '└─ Dialog dlg1 active  priya → desk',
      '   │ not bound yet',
      '   └─ Task tsk1 completed  work 1',
      '      └─ Dialog dlg2 active  desk → reader',
      '         │ not bound yet',
      '         └─ Task tsk2 completed  work 2',
    ]);
  });

  it('hangs it below the dialog where no task is told', () => {
    const view = viewOf({
      dialogs: [dialog(1, priya, desk), dialog(2, desk, reader)],
      tasks: [],
      relationships: [edge('delegated-from', id('dialog', 2), id('dialog', 1))],
    });
    expect(drawn(view)[3]).toBe('   └─ Dialog dlg2 active  desk → reader');
  });

  it('tells what a reader must not miss beside the state', () => {
    const view = viewOf({
      dialogs: [dialog(1, priya, desk, reader)],
      tasks: [
        task(1, 1, { state: 'failed', unresolved: true, cancelRequested: true }),
        task(2, 1, {
          outcome: 'error',
          contested: [{ source: reader, basis: 'observed', state: 'failed', seq: 1 }],
        }),
      ],
      relationships: [edge('replaces', id('task', 2), id('task', 1))],
    });
    const lines = drawn(view);
    expect(lines[1]).toBe('└─ Dialog dlg1 active  priya → desk + reader');
    expect(lines.slice(3)).toEqual([
      '   ├─ Task tsk1 failed  work 1',
      '   │    !         cancel requested',
      '   │    !         outcome unknown',
      '   │    !         superseded by tsk2',
      '   └─ Task tsk2 completed with an error  work 2',
      '        !         contested: reader says failed',
      '        is        replaces tsk1',
    ]);
  });

  it('loses no dialog where tasks of two were delegated both ways', () => {
    const view = viewOf({
      dialogs: [dialog(1, priya, desk), dialog(2, desk, reader)],
      tasks: [task(1, 1), task(2, 2), task(3, 2), task(4, 1)],
      relationships: [
        edge('delegated-from', id('task', 1), id('task', 2)),
        edge('delegated-from', id('task', 3), id('task', 4)),
      ],
    });
    const text = drawn(view).join('\n');
    for (const n of ['dlg1', 'dlg2', 'tsk1', 'tsk2', 'tsk3', 'tsk4']) {
      expect(text.split(n)).toHaveLength(2);
    }
  });

  it('says when there is more than it shows', () => {
    const view = viewOf({ dialogs: [dialog(1, priya, desk)], tasks: [], relationships: [] });
    expect(truncatedPart(new Words(view, pipe))).toEqual([]);
    const lines = truncatedPart(new Words({ ...view, truncated: true }, pipe));
    expect(lines.join('')).toContain('--timeline has the rest');
  });

  it('loses no dialog whose parent may not be seen', () => {
    const view = viewOf({
      dialogs: [dialog(2, desk, reader)],
      tasks: [task(2, 2)],
      relationships: [edge('delegated-from', id('dialog', 2), id('dialog', 1))],
    });
    expect(drawn(view)[1]).toBe('└─ Dialog dlg2 active  desk → reader');
  });
});
