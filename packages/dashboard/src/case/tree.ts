import type { CaseIndex, CaseObject, Dialog, Relationship } from './case-index.ts';

/** How a Resource stands to what it hangs under; `held`: in the case, with no use that we know of. */
type Use = 'in' | 'out' | 'held';

/** A part of the case and what hangs below it. A Resource that is used twice hangs in two places. */
export interface Branch {
  /** The place, unique in the tree. */
  readonly key: string;
  readonly object: CaseObject;
  readonly use?: Use;
  readonly edge?: Relationship;
  readonly children: readonly Branch[];
}

/** A branch as a line of the tree grid. */
export interface TreeRow extends Branch {
  /** 1 for the roots. */
  readonly level: number;
  readonly position: number;
  readonly siblings: number;
  readonly parent?: string;
  readonly isOpen: boolean;
}

/** Levels of delegation that are shown inside one another; deeper ones hang under the case again. */
const mostNested = 48;

/**
 * The case as a tree: Activities, their Dialogs nested by delegation, Tasks, and Resources in and out.
 * Every object but Participants is in it at least once, whatever the relationships say.
 */
export function buildTree(index: CaseIndex): Branch[] {
  const places = placesOf(index);
  const placed = new Set<string>();
  const place = (dialog: Dialog, depth: number): Branch[] => {
    if (placed.has(dialog.id)) return [];
    placed.add(dialog.id);
    const below = (at: string): Branch[] =>
      depth < mostNested ? (places.get(at) ?? []).flatMap((each) => place(each, depth + 1)) : [];
    const tasks = index.tasksOf(dialog.id).map((task) => ({
      key: task.id,
      object: { kind: 'task', value: task } as const,
      children: [...uses(index, task.id), ...below(task.id)],
    }));
    const children = [...uses(index, dialog.id), ...tasks, ...below(dialog.id)];
    return [{ key: dialog.id, object: { kind: 'dialog', value: dialog } as const, children }];
  };
  return index.view.activities.map((activity) => {
    const below = (places.get(activity.id) ?? []).flatMap((each) => place(each, 1));
    // Dialogs that were delegated in a circle, from what is not shown here, or too deep.
    const rest = index.view.dialogs.flatMap((each) =>
      each.activity === activity.id ? place(each, 1) : [],
    );
    return {
      key: activity.id,
      object: { kind: 'activity', value: activity },
      children: [...uses(index, activity.id), ...below, ...rest, ...unused(index, activity.id)],
    };
  });
}

/** Under the Task that its Tasks were delegated from, else the Dialog it was delegated from, else its case. */
function placesOf(index: CaseIndex): Map<string, Dialog[]> {
  const places = new Map<string, Dialog[]>();
  for (const dialog of index.view.dialogs) {
    const from = (id: string): string[] =>
      index.out(id).flatMap(({ type, to }) => (type === 'delegated-from' ? [to] : []));
    const parents = [...index.tasksOf(dialog.id).flatMap(({ id }) => from(id)), ...from(dialog.id)];
    const parent = parents.find((id) => {
      const object = index.objects.get(id);
      const within = object?.kind === 'task' ? object.value.dialog : object?.value.id;
      return within !== undefined && within !== dialog.id;
    });
    const place = parent ?? dialog.activity;
    const there = places.get(place);
    if (there === undefined) places.set(place, [dialog]);
    else there.push(dialog);
  }
  return places;
}

function uses(index: CaseIndex, id: string): Branch[] {
  const branch =
    (use: Use) =>
    (edge: Relationship): Branch[] => {
      const object = index.objects.get(edge.from);
      if (object === undefined) return [];
      return [{ key: edge.id, object, use, edge, children: [] }];
    };
  return [...index.given(id).flatMap(branch('in')), ...index.produced(id).flatMap(branch('out'))];
}

function unused(index: CaseIndex, activity: string): Branch[] {
  const isUsed = (id: string): boolean =>
    index
      .out(id)
      .some(
        ({ type, status, to }) =>
          status === 'active' &&
          index.objects.has(to) &&
          ['input-to', 'used-in', 'modifies', 'output-of'].includes(type),
      );
  return index.view.resources
    .filter((each) => each.activity === activity && !isUsed(each.id))
    .map((value) => ({
      key: value.id,
      object: { kind: 'resource', value },
      use: 'held',
      children: [],
    }));
}

/** The lines of a tree, without what hangs below closed ones. */
export function rowsOf(branches: readonly Branch[], closed: ReadonlySet<string>): TreeRow[] {
  const rows: TreeRow[] = [];
  const add = (siblings: readonly Branch[], level: number, parent?: string): void => {
    for (const [at, branch] of siblings.entries()) {
      const isOpen = branch.children.length > 0 && !closed.has(branch.key);
      rows.push({
        ...branch,
        level,
        position: at + 1,
        siblings: siblings.length,
        isOpen,
        ...(parent === undefined ? {} : { parent }),
      });
      if (isOpen) add(branch.children, level + 1, branch.key);
    }
  };
  add(branches, 1);
  return rows;
}

/** Branches that match, with what leads to them; a branch that matches keeps all below it. */
export function prune(branches: readonly Branch[], matches: (branch: Branch) => boolean): Branch[] {
  return branches.flatMap((branch) => {
    if (matches(branch)) return [branch];
    const children = prune(branch.children, matches);
    return children.length === 0 ? [] : [{ ...branch, children }];
  });
}

/** Keys of the branches that have something below them. */
export function parentsOf(branches: readonly Branch[]): string[] {
  return branches.flatMap(({ key, children }) =>
    children.length === 0 ? [] : [key, ...parentsOf(children)],
  );
}

/** Keys on the way from a root down to the first place of an object, that place included. */
export function pathTo(branches: readonly Branch[], id: string): string[] {
  for (const { key, object, children } of branches) {
    if (object.value.id === id || key === id) return [key];
    const below = pathTo(children, id);
    if (below.length > 0) return [key, ...below];
  }
  return [];
}
