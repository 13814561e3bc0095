import { ThroughlineError, type Explanation, type Relationship } from '../model/index.ts';
import { holderOf, type Graph } from './graph.ts';

type Step = Explanation['steps'][number];

/** What says best why something is there, first. */
const reasons = [
  'output-of',
  'derived-from',
  'part-of',
  'delegated-from',
  'continuation-of',
  'replaces',
  'aggregated-from',
  'input-to',
  'used-in',
  'modifies',
  'clarifies',
];

/** The word for membership: a Task in its Dialog, a Dialog or Resource in its Activity. */
const member = 'in';

/**
 * Why an object is here. With one id: from it up its lineage to its Activity. With two: a shortest way
 * between them, by active relationships and membership; being in one Activity counts only when nothing
 * else joins them. No steps when nothing does. Throws `not-found` for an id that is not in the graph.
 */
export function explain(graph: Graph, a: string, b?: string): Explanation {
  for (const id of b === undefined ? [a] : [a, b]) {
    if (graph.object(id) === undefined) {
      throw new ThroughlineError('not-found', `${id} is not here, or not yours to see`);
    }
  }
  const steps =
    b === undefined ? wayUp(graph, a) : (way(graph, a, b, false) ?? way(graph, a, b, true) ?? []);
  const to = b ?? steps.at(-1)?.to ?? a;
  const ids = new Set([a, to, ...steps.flatMap((step) => [step.from, step.to])]);
  const labels = Object.fromEntries([...ids].map((id) => [id, label(graph, id)]));
  return { from: a, to, steps, labels };
}

function wayUp(graph: Graph, start: string): Step[] {
  const steps: Step[] = [];
  const seen = new Set([start]);
  let at: string | undefined = start;
  while (at !== undefined) {
    const step: Step | undefined = upFrom(graph, at).find(({ to }) => !seen.has(to));
    if (step !== undefined) {
      steps.push(step);
      seen.add(step.to);
    }
    at = step?.to;
  }
  return steps;
}

function upFrom(graph: Graph, id: string): Step[] {
  const up = graph.out(id, reasons).toSorted((a, b) => rank(a) - rank(b));
  return [...up.map((edge) => along(edge)), ...membership(graph, id)];
}

function rank(edge: Relationship): number {
  return reasons.indexOf(edge.type);
}

/** Breadth first; of several shortest ways the one that relationships tell wins over membership. */
function way(
  graph: Graph,
  start: string,
  goal: string,
  throughActivity: boolean,
): Step[] | undefined {
  const cameBy = new Map<string, Step | undefined>([[start, undefined]]);
  for (const id of cameBy.keys()) {
    if (id === goal) return trace(cameBy, goal);
    const object = graph.object(id);
    const isHub = object?.kind === 'activity' || object?.kind === 'participant';
    if (isHub && id !== start && !(throughActivity && object.kind === 'activity')) continue;
    for (const step of around(graph, id)) {
      if (!cameBy.has(step.to)) cameBy.set(step.to, step);
    }
  }
  return undefined;
}

function trace(cameBy: ReadonlyMap<string, Step | undefined>, goal: string): Step[] {
  const steps: Step[] = [];
  for (let step = cameBy.get(goal); step !== undefined; step = cameBy.get(step.from)) {
    steps.unshift(step);
  }
  return steps;
}

function around(graph: Graph, id: string): Step[] {
  const participants = graph.dialog(id)?.participants ?? [];
  const dialogs =
    graph.participant(id) === undefined
      ? []
      : graph.dialogs().filter((dialog) => dialog.participants.includes(id));
  return [
    ...graph.out(id).map((edge) => along(edge)),
    ...graph.in(id).map((edge) => against(along(edge))),
    ...membership(graph, id),
    ...graph
      .members(id)
      .map((each) => against({ from: each, relation: member, to: id, inverse: false })),
    ...participants.map((to) => ({ from: id, relation: 'participant', to, inverse: false })),
    ...dialogs.map((dialog) => ({
      from: id,
      relation: 'participant',
      to: dialog.id,
      inverse: true,
    })),
  ];
}

function membership(graph: Graph, id: string): Step[] {
  const object = graph.object(id);
  const holder = object === undefined ? undefined : holderOf(object);
  if (holder === undefined || graph.object(holder) === undefined) return [];
  return [{ from: id, relation: member, to: holder, inverse: false }];
}

function along({ from, type, to, role, note }: Relationship): Step {
  return {
    from,
    relation: type,
    to,
    inverse: false,
    ...(role === undefined ? {} : { role }),
    ...(note === undefined ? {} : { note }),
  };
}

function against(step: Step): Step {
  return { ...step, from: step.to, to: step.from, inverse: true };
}

/** An object in words for people; its kind where nobody named it. */
export function label(graph: Graph, id: string): string {
  const object = graph.object(id);
  if (object === undefined) return id;
  switch (object.kind) {
    case 'participant':
      return object.value.name ?? object.value.url ?? object.value.kind;
    case 'activity':
      return object.value.objective ?? 'case';
    case 'dialog': {
      const { objective, participants } = object.value;
      return objective ?? `dialog of ${participants.map((each) => label(graph, each)).join(', ')}`;
    }
    case 'task':
      return object.value.objective ?? 'task';
    case 'resource':
      return object.value.name ?? object.value.mediaType ?? 'resource';
    default:
      return object satisfies never;
  }
}
