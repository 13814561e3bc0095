import { useMemo, type ReactElement } from 'react';
import { Button } from 'react-aria-components';
import { Notice } from '../ui/notice.tsx';
import { Rows, type RowsProps } from '../ui/rows.tsx';
import type { CaseIndex } from './case-index.ts';
import { troubles } from './stuck.ts';
import { holds, type TabProps } from './tab-props.ts';
import { threadOf, TreeCells } from './tree-cells.tsx';
import { buildTree, parentsOf, pathTo, prune, rowsOf, type Branch, type TreeRow } from './tree.ts';
import { useBranches, type Branches } from './use-branches.ts';

const columns = ['What', 'State', 'Used as, withheld', 'Tokens, size'];
const keyOf = ({ key }: TreeRow): string => key;

/** The case from its root down. */
export function TreeTab({ index, find, selected, select }: TabProps): ReactElement {
  const tree = useMemo(() => buildTree(index), [index]);
  const path = useMemo(
    () => (selected === undefined ? [] : pathTo(tree, selected)),
    [tree, selected],
  );
  const branches = useBranches(selected, path);
  const { closed, toggle, closeOnly } = branches;
  const rows = useMemo(
    () => rowsOf(find.trim() === '' ? tree : found(index, tree, find), closed),
    [index, tree, find, closed],
  );
  const bad = useMemo(() => new Set(troubles(index).map(({ id }) => id)), [index]);
  const thread = useMemo(() => threadOf(rows, path), [rows, path]);
  if (rows.length === 0) {
    return (
      <Notice title="Nothing in the tree matches" icon="search">
        <p>No name, id, role or state in this case holds these words.</p>
      </Notice>
    );
  }
  return (
    <>
      <div className="tree-tools">
        <Button className="link" onPress={() => closeOnly([])}>
          Open all
        </Button>
        <Button className="link" onPress={() => closeOnly(deeper(tree))}>
          Close to dialogs
        </Button>
      </div>
      <Rows
        label="The case as a tree"
        look="tree"
        columns={columns}
        rows={rows}
        keyOf={keyOf}
        place={placeOf}
        isSelected={({ object }) => object.value.id === selected}
        onChoose={({ object }) => select(object.value.id)}
        onKey={keysFor(branches)}
        reveal={path.at(-1)}
        attributes={attributesOf}
        renderCells={(row) => (
          <TreeCells
            index={index}
            row={row}
            thread={thread}
            below={row.isOpen ? 0 : troublesBelow(row, bad)}
            toggle={toggle}
          />
        )}
      />
    </>
  );
}

type TreeRows = RowsProps<TreeRow>;

/** Right opens, then goes in; left closes, then goes out. */
const keysFor =
  ({ toggle }: Branches): NonNullable<TreeRows['onKey']> =>
  (key, row, moveTo) => {
    const [child] = row.children;
    if (key === 'ArrowRight' && child !== undefined) {
      if (row.isOpen) moveTo(child.key);
      else toggle(row.key, true);
    } else if (key === 'ArrowLeft' && row.isOpen) toggle(row.key, false);
    else if (key === 'ArrowLeft' && row.parent !== undefined) moveTo(row.parent);
    else return false;
    return true;
  };

const placeOf: NonNullable<TreeRows['place']> = ({ level, position, siblings, children, isOpen }) =>
  children.length === 0 ? { level, position, siblings } : { level, position, siblings, isOpen };

const attributesOf: NonNullable<TreeRows['attributes']> = ({ object, use }) => ({
  'data-kind': object.kind,
  'data-id': object.value.id,
  'data-state': 'state' in object.value ? object.value.state : undefined,
  'data-use': use,
});

/** Everything below the roots: closed, it leaves their dialogs. */
const deeper = (tree: readonly Branch[]): string[] =>
  tree.flatMap(({ children }) => parentsOf(children));

const troublesBelow = ({ children }: Branch, bad: ReadonlySet<string>): number =>
  children.reduce(
    (sum, each) => sum + (bad.has(each.object.value.id) ? 1 : 0) + troublesBelow(each, bad),
    0,
  );

const found = (index: CaseIndex, tree: readonly Branch[], find: string): Branch[] =>
  prune(tree, (branch) => holds(find.trim(), ...textsOf(index, branch)));

function textsOf(index: CaseIndex, { object, edge }: Branch): (string | undefined)[] {
  const { value } = object;
  return [
    index.label(value.id),
    value.id,
    'state' in value ? value.state : undefined,
    'objective' in value ? value.objective : undefined,
    edge?.role,
    edge?.note,
  ];
}
