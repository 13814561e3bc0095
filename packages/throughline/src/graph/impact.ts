import type { Graph } from './graph.ts';

/** Something that depends on the start, and the step that says so. */
export interface Affected {
  readonly id: string;
  readonly kind: 'dialog' | 'task' | 'resource';
  /** What it directly depends on, itself affected or the start. */
  readonly because: string;
  /** Relationship type, or `in` for the Dialog that an affected Task is in. */
  readonly relation: string;
  readonly depth: number;
}

type Step = readonly [id: string, relation: string];

/** Work and content that take up where another left off or put several together. */
const takesUp = ['delegated-from', 'continuation-of', 'aggregated-from'];
const madeFrom = ['derived-from', 'part-of', 'aggregated-from'];
const usedBy = ['input-to', 'used-in', 'modifies'];

/**
 * What may have to change when this Resource, Task or Dialog changes, nearest first: users of a
 * Resource and of what was made from it, outputs of a Task, work delegated, continued or aggregated
 * from it. It says what depends, never what happens: no state follows from it.
 *
 * From a Task the effect goes on to Dialogs opened out of its Dialog, unless their own Tasks say that
 * they come from another Task.
 */
export function impact(graph: Graph, start: string): Affected[] {
  const found = new Map<string, Affected>();
  const queue = new Map([[start, 0]]);
  for (const [id, depth] of queue) {
    for (const [next, relation] of stepsFrom(graph, id)) {
      const kind = graph.object(next)?.kind;
      if (next === start || (kind !== 'dialog' && kind !== 'task' && kind !== 'resource')) continue;
      if (!found.has(next)) {
        found.set(next, { id: next, kind, because: id, relation, depth: depth + 1 });
      }
      // A Dialog named because of a Task in it: what comes from it was looked at with the Task.
      const named = kind === 'dialog' && relation === 'in';
      if (!named && !queue.has(next)) queue.set(next, depth + 1);
    }
  }
  const home = graph.task(start)?.dialog;
  return [...found.values()].filter(({ id, relation }) => id !== home || relation !== 'in');
}

function stepsFrom(graph: Graph, id: string): Step[] {
  const object = graph.object(id);
  if (object === undefined) return [];
  switch (object.kind) {
    case 'resource':
      return [
        ...graph.out(id, usedBy).map((edge): Step => [edge.to, edge.type]),
        ...graph.in(id, madeFrom).map((edge): Step => [edge.from, edge.type]),
      ];
    case 'task':
      return [
        ...graph.in(id, [...takesUp, 'output-of']).map((edge): Step => [edge.from, edge.type]),
        ...openedOutOf(graph, object.value.dialog, id),
        [object.value.dialog, 'in'],
      ];
    case 'dialog':
      return [
        ...graph.in(id, [...takesUp, 'output-of']).map((edge): Step => [edge.from, edge.type]),
        ...graph.tasksOf(id).map((task): Step => [task.id, 'in']),
      ];
    case 'activity':
    case 'participant':
      return [];
    default:
      return object satisfies never;
  }
}

/** Dialogs that came out of this Dialog, as far as nothing says that it was because of another Task. */
function openedOutOf(graph: Graph, dialog: string, task: string): Step[] {
  return graph
    .in(dialog, takesUp)
    .filter((edge) => {
      const origins = graph
        .tasksOf(edge.from)
        .flatMap((each) => graph.out(each.id, takesUp).map((out) => out.to));
      const siblings = origins.filter((origin) => graph.task(origin)?.dialog === dialog);
      return siblings.length === 0 || siblings.includes(task);
    })
    .map((edge): Step => [edge.from, edge.type]);
}
