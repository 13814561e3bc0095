import { idPrefixes, ruleOf, type Assertion, type Relationship } from '../model/index.ts';
import { refuseTool } from './fold-dialog.ts';
import { kindOf, type Graph, type GraphObject } from './graph.ts';
import { compact, refuse, unknown, type Refusal, type Said } from './refusal.ts';
import { isInside } from './standing.ts';

/** The types that say where something comes from: those that may not run in a circle. */
export const lineageTypes = [
  'delegated-from',
  'continuation-of',
  'replaces',
  'aggregated-from',
  'derived-from',
  'part-of',
] as const;

interface Ends {
  readonly from: GraphObject;
  readonly to: GraphObject;
}

export function relate(
  graph: Graph,
  { assertion, statement }: Said<'relationship.asserted'>,
): Refusal | undefined {
  if (graph.relationship(assertion.about) !== undefined) {
    return refuse('duplicate', `${assertion.about} is known already; make a new id`);
  }
  if (!assertion.about.startsWith(`${idPrefixes.relationship}_`)) {
    return refuse('unknown-object', `${assertion.about} is not the id of a relationship`);
  }
  const claim = refuseClaim(graph, assertion, statement);
  if (claim !== undefined) return claim;
  const from = graph.object(statement.from);
  const to = graph.object(statement.to);
  if (from === undefined) return unknown(kindOf(statement.from) ?? 'object', statement.from);
  if (to === undefined) return unknown(kindOf(statement.to) ?? 'object', statement.to);
  const activity =
    graph.activityOf(statement.from) ?? graph.activityOf(statement.to) ?? assertion.activity;
  if (activity === undefined) {
    return refuse('endpoints', 'one end of a relationship must be in an activity');
  }
  const value = compact<Relationship>({
    id: assertion.about,
    activity,
    type: statement.type,
    from: statement.from,
    to: statement.to,
    role: statement.role,
    note: statement.note,
    selector: statement.selector,
    assertedBy: assertion.source,
    status: 'active',
  });
  for (const check of checks) {
    const refusal = check(graph, value, { from, to });
    if (refusal !== undefined) return refusal;
  }
  graph.putRelationship(value);
  return undefined;
}

/** Revoking stops new propagation; the relationship stays in the graph as history. */
export function revoke(
  graph: Graph,
  { assertion }: Said<'relationship.revoked'>,
): Refusal | undefined {
  const edge = graph.relationship(assertion.about);
  if (edge === undefined) return unknown('relationship', assertion.about);
  if (edge.status === 'active') graph.putRelationship({ ...edge, status: 'revoked' });
  return undefined;
}

type Check = (graph: Graph, edge: Relationship, ends: Ends) => Refusal | undefined;

const checks: readonly Check[] = [
  (_graph, { type, from, to }, ends) => {
    const allowed = ruleOf(type).endpoints?.some(
      ([a, b]) => a === ends.from.kind && b === ends.to.kind,
    );
    if (allowed === false) {
      return refuse(
        'endpoints',
        `${type} does not go from a ${ends.from.kind} to a ${ends.to.kind}`,
      );
    }
    return from === to && !ruleOf(type).acyclic
      ? refuse('endpoints', `${type} needs two different ends`)
      : undefined;
  },
  (_graph, { type, selector }) =>
    ruleOf(type).needsSelector === true && selector === undefined
      ? refuse('needs-selector', `${type} needs a selector that says which part it is`)
      : undefined,
  (graph, edge) => {
    if (mayCross(graph, edge)) return undefined;
    const [a, b] = [graph.activityOf(edge.from), graph.activityOf(edge.to)];
    return a === b
      ? undefined
      : refuse('other-activity', `${edge.type} does not join ${a} and ${b}`);
  },
  (graph, edge) =>
    graph.out(edge.from, [edge.type]).some((other) => sameRelationship(other, edge))
      ? refuse('duplicate', `that ${edge.type} is known already`)
      : undefined,
  (graph, { type, from }) => {
    const [other] = ruleOf(type).single ? graph.out(from, [type]) : [];
    if (other === undefined) return undefined;
    const rule = type === 'output-of' ? 'second-producer' : 'second-parent';
    return refuse(
      rule,
      `${from} already has one ${type}, to ${other.to}; revoke ${other.id} first`,
    );
  },
  (graph, { type, from, to }) =>
    ruleOf(type).acyclic && reaches(graph, to, from, type)
      ? refuse('cycle', `${to} already comes from ${from}, so ${type} would run in a circle`)
      : undefined,
  (graph, { type }, { from }) =>
    type === 'delegated-from' && from.kind === 'dialog'
      ? refuseTool(graph, from.value.invoker)
      : undefined,
];

/** Only these join Activities; everything else stays within one. */
function mayCross(graph: Graph, { type, from, to }: Relationship): boolean {
  if (ruleOf(type).endpoints === undefined) return true;
  const both = [from, to].every((id) => graph.activity(id) !== undefined);
  return type === 'continuation-of' && both;
}

function sameRelationship(a: Relationship, b: Relationship): boolean {
  return (
    a.to === b.to &&
    a.role === b.role &&
    a.note === b.note &&
    a.selector?.conformsTo === b.selector?.conformsTo &&
    a.selector?.value === b.selector?.value
  );
}

/** A Task stands on its Dialog, so a Dialog delegated from a Task also comes after that Dialog. */
function reaches(graph: Graph, start: string, goal: string, type: string): boolean {
  // Most relationships start at something new, that nothing comes from yet.
  const leaf = graph.in(goal, [type]).length === 0 && graph.members(goal).length === 0;
  if (leaf) return start === goal;
  const seen = new Set([start]);
  for (const id of seen) {
    if (id === goal) return true;
    for (const edge of graph.out(id, [type])) seen.add(edge.to);
    const task = graph.task(id);
    if (task !== undefined) seen.add(task.dialog);
  }
  return false;
}

/**
 * Lineage between Tasks of two Dialogs counts only from one who can see both: from others it is a claim.
 * Looked at first, so that what is refused tells nothing of the Task that was named.
 */
function refuseClaim(
  graph: Graph,
  { source, basis }: Assertion,
  { type, from, to }: Said<'relationship.asserted'>['statement'],
): Refusal | undefined {
  if (!ruleOf(type).acyclic || [from, to].some((id) => kindOf(id) !== 'task')) return undefined;
  if (source === 'hub' || basis === 'supervised') return undefined;
  const [a, b] = [from, to].map((id) => graph.dialog(graph.task(id)?.dialog ?? ''));
  if (a !== undefined && a === b) return undefined;
  if (isInside(a, source) && isInside(b, source)) return undefined;
  return refuse(
    'unverified',
    `${source} says that ${from} is ${type} ${to}, and is not in both dialogs`,
  );
}
