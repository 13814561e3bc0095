import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MadeCase, spokenOf } from '../../test/made-case.ts';
import { CaseIndex } from './case-index.ts';
import { History } from './history.ts';
import { buildTree, parentsOf, pathTo, prune, rowsOf, type Branch } from './tree.ts';

/** A tree as indented names, for reading in a test. */
function drawn(index: CaseIndex, branches: readonly Branch[], indent = ''): string[] {
  return branches.flatMap(({ object, use, children }) => [
    `${indent}${use === undefined ? '' : `${use} `}${index.label(object.value.id)}`,
    ...drawn(index, children, `${indent}  `),
  ]);
}

function story() {
  const made = new MadeCase();
  const [priya, desk, reader] = [
    made.participant('Priya', 'user'),
    made.participant('Desk'),
    made.participant('Reader'),
  ] as const;
  const first = made.dialog([priya, desk]);
  const run = made.task(first, 'in-progress', { objective: 'run' });
  const below = made.dialog([desk, reader]);
  const read = made.task(below, 'completed', { objective: 'read' });
  const terms = made.resource('terms');
  const finding = made.resource('finding');
  made.resource('forgotten');
  made.edge('delegated-from', below, first);
  made.edge('delegated-from', read, run);
  made.edge('input-to', terms, read, { role: 'source' });
  made.edge('output-of', finding, read);
  return { made, first, run, below, read, terms, finding };
}

describe('the tree of a case', () => {
  it('nests dialogs under the task they were delegated from, with documents in and out', () => {
    const index = new CaseIndex(story().made.view());
    expect(drawn(index, buildTree(index))).toEqual([
      'My cash back looks wrong',
      '  Priya → Desk',
      '    run',
      '      Desk → Reader',
      '        read',
      '          in terms',
      '          out finding',
      '  held forgotten',
    ]);
  });

  it('follows the order in which things were first spoken of', () => {
    const made = new MadeCase();
    const desk = made.participant('Desk');
    const dialogs = ['c', 'a', 'b'].map((name) => made.dialog([desk, made.participant(name)]));
    const [c = '', a = '', b = ''] = dialogs;
    const history = new History([spokenOf(a, 1), spokenOf(b, 2), spokenOf(c, 3), spokenOf(a, 4)]);
    const index = new CaseIndex(made.view(), history);
    expect(drawn(index, buildTree(index)).slice(1)).toEqual([
      '  Desk → a',
      '  Desk → b',
      '  Desk → c',
    ]);
  });

  it('shows everything once though dialogs are delegated in a circle or without end', () => {
    const links = fc.array(fc.tuple(fc.nat(30), fc.nat(30)), { maxLength: 60 });
    fc.assert(
      fc.property(links, (pairs) => {
        const made = new MadeCase();
        const desk = made.participant('Desk');
        const dialogs = Array.from({ length: 31 }, () => made.dialog([desk]));
        for (const [from, to] of pairs) {
          made.edge('delegated-from', dialogs[from] ?? '', dialogs[to] ?? '');
        }
        const rows = rowsOf(buildTree(new CaseIndex(made.view())), new Set());
        const shown = rows.map(({ key }) => key).filter((key) => key.startsWith('dlg_'));
        expect(shown.toSorted()).toEqual(dialogs.toSorted());
      }),
    );
  });

  it('takes a chain of thousands of delegations', () => {
    const made = new MadeCase();
    const desk = made.participant('Desk');
    let above = made.dialog([desk]);
    for (let n = 0; n < 4_000; n++) {
      const next = made.dialog([desk]);
      made.edge('delegated-from', next, above);
      above = next;
    }
    const rows = rowsOf(buildTree(new CaseIndex(made.view())), new Set());
    expect(rows).toHaveLength(4_002);
  });

  it('leaves out what hangs below a closed row, and says where rows stand', () => {
    const { made, first, run } = story();
    const tree = buildTree(new CaseIndex(made.view()));
    const rows = rowsOf(tree, new Set([run]));
    expect(rows.map(({ key, level, isOpen }) => [key.slice(0, 3), level, isOpen])).toEqual([
      ['act', 1, true],
      ['dlg', 2, true],
      ['tsk', 3, false],
      ['res', 2, false],
    ]);
    expect(rows[2]).toMatchObject({ parent: first, position: 1, siblings: 1 });
    expect(parentsOf(tree)).toContain(run);
  });

  it('keeps what leads to a match, and all below one', () => {
    const { made, read, below } = story();
    const index = new CaseIndex(made.view());
    const found = prune(buildTree(index), ({ object }) => object.value.id === below);
    expect(drawn(index, found).map((line) => line.trim())).toEqual([
      'My cash back looks wrong',
      'Priya → Desk',
      'run',
      'Desk → Reader',
      'read',
      'in terms',
      'out finding',
    ]);
    expect(pathTo(found, read)).toHaveLength(5);
    expect(pathTo(found, 'nothing')).toEqual([]);
  });
});
