import { Graph, kindOf, type GraphObject } from '../graph/index.ts';
import { mergedInto, type Activity, type Principal, type Relationship } from '../model/index.ts';
import type { StoreReader } from '../store/store.ts';
import type { CaseAccess, OpenCase } from './case-access.ts';
import type { Deps } from './deps.ts';
import { maskDialog } from './mask.ts';
import { Workspace } from './workspace.ts';

/** Cases merged into one that are shown with it, and how many steps away. */
const mostMerged = 64;
const deepestMerge = 8;

/** A case as one viewer may see it, with those that were merged into it. */
export interface SeenCase {
  readonly graph: Graph;
  readonly workspace: Workspace;
  /** The case first, then those merged into it. */
  readonly cases: readonly OpenCase[];
  readonly isWhole: boolean;
}

export async function seeCase(
  { vault }: Deps,
  reader: StoreReader,
  by: { access: CaseAccess; principal: Principal },
  open: OpenCase,
): Promise<SeenCase> {
  const { access, principal } = by;
  const merged = await reader.reach([open.activity], {
    direction: 'in',
    types: [mergedInto],
    depth: deepestMerge,
    limit: mostMerged,
  });
  const cases = [open];
  for (const { id } of merged) {
    const found = await access.find(reader, principal, id);
    if (found !== undefined) cases.push(found);
  }
  const workspace = new Workspace(vault, reader);
  let isWhole = true;
  for (const { activity } of cases) isWhole = (await workspace.needCase(activity)) && isWhole;
  const graph = new Graph();
  for (const each of cases) {
    const part = visible(workspace, each);
    graph.load({ objects: part.objects(), relationships: part.relationships() });
  }
  await addNeighbours(reader, by, { workspace, graph, open });
  return { graph, workspace, cases, isWhole };
}

/** Other cases that this one is related to, by themselves, where the viewer may see them. */
async function addNeighbours(
  reader: StoreReader,
  { access, principal }: { access: CaseAccess; principal: Principal },
  { workspace, graph, open }: { workspace: Workspace; graph: Graph; open: OpenCase },
): Promise<void> {
  for (const direction of ['in', 'out'] as const) {
    for (const { id, from, to } of await reader.edges([open.activity], { direction })) {
      const other = direction === 'in' ? from : to;
      if (kindOf(other) !== 'activity' || graph.relationship(id) !== undefined) continue;
      const neighbour = await access.find(reader, principal, other);
      if (neighbour === undefined) continue;
      await workspace.needEdge(id);
      const [value, edge] = [rootOf(workspace, neighbour), workspace.graph.relationship(id)];
      if (value !== undefined) graph.load({ objects: [{ kind: 'activity', value }] });
      if (edge !== undefined) graph.load({ relationships: [edge] });
    }
  }
}

const withoutWords = <T extends { readonly objective?: string | undefined }>({
  objective: _before,
  ...rest
}: T): Omit<T, 'objective'> => rest;

/** The root of a case as its viewer may see it: its objective is words of the message that began it. */
export function rootOf(
  { graph, born }: Workspace,
  { activity, from }: Pick<OpenCase, 'activity' | 'from'>,
): Activity | undefined {
  const found = graph.activity(activity);
  if (found === undefined || (born.get(activity) ?? 0) >= from) return found;
  return withoutWords(found);
}

/** One case of a workspace, as far as a grant shows it: its root and what began in its time. */
export function visible(workspace: Workspace, open: OpenCase): Graph {
  const { graph, born } = workspace;
  const { activity, from, mask } = open;
  const initial = graph.activity(activity)?.initialDialog;
  const isShown = (id: string): boolean =>
    id === activity || id === initial || (born.get(id) ?? 0) >= from;
  const asShown = (object: GraphObject): GraphObject => {
    const { kind, value } = object;
    const isShort = (born.get(value.id) ?? 0) < from;
    if (kind === 'activity') return isShort ? { kind, value: withoutWords(value) } : object;
    if (kind !== 'dialog') return object;
    const dialog = maskDialog(mask, value);
    return { kind, value: isShort ? withoutWords(dialog) : dialog };
  };
  const inside = [...graph.objects()]
    .filter(
      ({ kind, value }) =>
        kind !== 'participant' && graph.activityOf(value.id) === activity && isShown(value.id),
    )
    .map(asShown);
  const shown = new Set(inside.map(({ value }) => value.id));
  for (const object of inside) {
    if (object.kind === 'dialog') for (const id of object.value.participants) shown.add(id);
    if (object.kind === 'activity' && object.value.initiator !== undefined) {
      shown.add(object.value.initiator);
    }
  }
  const participants = [...graph.objects()].filter(
    ({ kind, value }) => kind === 'participant' && shown.has(value.id),
  );
  const relationships = [...graph.relationships()].filter(
    ({ id, from: a, to: b, activity: of }) =>
      of === activity && isShown(id) && shown.has(a) && shown.has(b),
  );
  return new Graph({ objects: [...inside, ...participants], relationships });
}

/** Everything that is seen, in the order in which it began. */
export function inOrder({ graph, workspace: { born } }: SeenCase): {
  objects: readonly GraphObject[];
  relationships: readonly Relationship[];
} {
  const at = (id: string): number => born.get(id) ?? 0;
  const { objects, relationships } = graph.snapshot();
  return {
    objects: objects.toSorted((a, b) => at(a.value.id) - at(b.value.id)),
    relationships: relationships.toSorted((a, b) => at(a.id) - at(b.id)),
  };
}
