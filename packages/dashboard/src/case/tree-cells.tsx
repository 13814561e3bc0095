import type { ReactElement } from 'react';
import { Icon, StateMark } from '../ui/icon.tsx';
import { bytes, figure } from '../words/numbers.ts';
import { taskMarks } from '../words/states.ts';
import { plain, type CaseIndex } from './case-index.ts';
import { stateOf } from './state-of.ts';
import type { TreeRow } from './tree.ts';

/** Where the rows stand, and those on the way to what is selected, from the root down. */
export interface Thread {
  readonly places: ReadonlyMap<string, number>;
  readonly path: readonly number[];
}

export function threadOf(rows: readonly TreeRow[], path: readonly string[]): Thread {
  const places = new Map(rows.map(({ key }, at) => [key, at]));
  return { places, path: path.flatMap((key) => places.get(key) ?? []) };
}

interface CellsProps {
  readonly index: CaseIndex;
  readonly row: TreeRow;
  readonly thread: Thread;
  readonly below: number;
  readonly toggle: (key: string, open: boolean) => void;
}

/** The cells of a row of the tree. */
export function TreeCells({ index, row, thread, below, toggle }: CellsProps): ReactElement {
  const { object, children, isOpen, key } = row;
  const label = index.label(object.value.id);
  const words = stateOf(index, object);
  return (
    <>
      <span role="gridcell" className="cell cell-what">
        <Guides row={row} thread={thread} />
        <span
          className="twist"
          data-open={isOpen}
          aria-hidden="true"
          onClick={(event) => {
            if (children.length === 0) return;
            event.stopPropagation();
            toggle(key, !isOpen);
          }}
        >
          {children.length === 0 ? null : <Icon name="chevron" />}
        </span>
        <Icon name={row.use === undefined || row.use === 'held' ? object.kind : row.use} />
        <span className="said label" title={label}>
          <span className="unseen">{spoken(row)} </span>
          {label}
        </span>
      </span>
      <span role="gridcell" className="cell cell-state">
        {words === undefined ? (
          <span className="dim">{wordsOfUse[row.use ?? 'held']}</span>
        ) : (
          <StateMark words={words} />
        )}
        {object.kind === 'task'
          ? taskMarks(object.value).map((mark) => (
              <span key={mark} className="mark">
                {mark}
              </span>
            ))
          : null}
        {below === 0 ? null : <span className="mark">{figure(below)} below need attention</span>}
      </span>
      <span role="gridcell" className="cell cell-note said" title={noteOf(index, row)}>
        {noteOf(index, row)}
      </span>
      <span role="gridcell" className="cell cell-size dim">
        {sizeOf(index, row)}
      </span>
    </>
  );
}

const wordsOfUse = { in: 'given', out: 'put out', held: 'in the case' } as const;
const deepest = 12;

/** What stands before a name for those who can't see the drawing. */
const spoken = ({ object, use }: TreeRow): string =>
  use === undefined || use === 'held' ? object.kind : `${object.kind}, ${wordsOfUse[use]}:`;

/** Lines of the levels above; the way down to what is selected is drawn through. */
function Guides({ row, thread }: { readonly row: TreeRow; readonly thread: Thread }): ReactElement {
  const at = thread.places.get(row.key) ?? 0;
  return (
    <>
      {Array.from({ length: Math.min(row.level - 1, deepest) }, (_, depth) => {
        const [above = Infinity, below = -1] = thread.path.slice(depth, depth + 2);
        return (
          <span
            key={depth}
            className="guide"
            aria-hidden="true"
            data-path={above < at && at <= below}
          />
        );
      })}
    </>
  );
}

function noteOf(index: CaseIndex, { object, edge }: TreeRow): string {
  if (edge !== undefined) {
    return [edge.role, edge.note]
      .flatMap((text) => text ?? [])
      .map(plain)
      .join(' · ');
  }
  if (object.kind === 'dialog') {
    const { id, objective = '' } = object.value;
    // Mostly its one Task stands right below it and says the same.
    const isSaid = index.tasksOf(id).some((task) => task.objective === objective);
    return isSaid ? '' : plain(objective);
  }
  const withheld = object.kind === 'task' ? index.handover(object.value.id)?.withheld : undefined;
  return withheld === undefined || withheld.length === 0
    ? ''
    : `withheld: ${withheld.map(plain).join(', ')}`;
}

function sizeOf(index: CaseIndex, { object }: TreeRow): string {
  if (object.kind === 'resource')
    return object.value.size === undefined ? '' : bytes(object.value.size);
  const handover = object.kind === 'task' ? index.handover(object.value.id) : undefined;
  if (handover === undefined) return '';
  const { sent, fullHistory } = handover;
  // Of a smaller history it would not be a part.
  return sent > fullHistory ? figure(sent) : `${figure(sent)} of ${figure(fullHistory)}`;
}
