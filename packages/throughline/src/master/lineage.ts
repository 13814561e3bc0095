import { Graph, impact, type GraphObject } from '../graph/index.ts';
import type { Relationship } from '../model/relationship.ts';
import { inputEdge } from './plan-attempt.ts';
import type { RunState } from './run-state.ts';

/**
 * What this run has said or is about to say in the graph, built from its own decisions: enough to tell what
 * depends on what without asking anybody.
 */
function graphOf(state: RunState): Graph {
  const { activity, dialog, task, items, subtasks } = state;
  const objects: GraphObject[] = [
    dialogOf(dialog, activity),
    taskOf(task, dialog, activity),
    ...items.map(({ ref, name }): GraphObject => ({
      kind: 'resource',
      value: { id: ref.resource, activity, name },
    })),
  ];
  const relationships: Relationship[] = [];
  const relate = (id: string | undefined, type: string, from: string, to: string): void => {
    const said = { activity, type, from, to, assertedBy: 'hub', status: 'active' } as const;
    relationships.push({ id: id ?? `${type} ${from} ${to}`, ...said });
  };
  for (const { attempts } of Object.values(subtasks)) {
    for (const attempt of attempts) {
      const { edges } = attempt;
      objects.push(
        dialogOf(attempt.dialog, activity),
        taskOf(attempt.task, attempt.dialog, activity),
      );
      relate(edges['dialog'], 'delegated-from', attempt.dialog, dialog);
      relate(edges['task'], 'delegated-from', attempt.task, task);
      for (const name of attempt.items) {
        const item = items.find((each) => each.name === name);
        if (item !== undefined) {
          relate(edges[inputEdge(name)], 'input-to', item.ref.resource, attempt.task);
        }
      }
      for (const { ref } of attempt.outputs) {
        relate(undefined, 'output-of', ref.resource, attempt.task);
      }
    }
  }
  return new Graph({ objects, relationships });
}

const dialogOf = (id: string, activity: string): GraphObject => ({
  kind: 'dialog',
  value: { id, activity, participants: [], managed: 'ours', state: 'active', local: [] },
});

const taskOf = (id: string, dialog: string, activity: string): GraphObject => ({
  kind: 'task',
  value: { id, dialog, activity, state: 'defined' },
});

/**
 * Subtasks that depend on something (a Resource, or the run's Task): those whose latest attempt the graph
 * leads to, and those not begun yet that need what it or they put out. In the plan's order.
 */
export function affectedBy(state: RunState, start: string): string[] {
  const reached = new Set(impact(graphOf(state), start).map(({ id }) => id));
  const isWhole = start === state.task;
  const names = new Set(
    state.items
      .filter(({ ref }) => ref.resource === start || reached.has(ref.resource))
      .map(({ name }) => name),
  );
  const affected = new Set<string>();
  for (let grew = true; grew;) {
    grew = false;
    for (const { id, needs, produces } of state.workflow.subtasks) {
      const last = state.subtasks[id]?.attempts.at(-1);
      const isReached = last !== undefined && reached.has(last.task);
      const isNeeding = needs.some(({ item }) => names.has(item));
      if (affected.has(id) || !(isWhole || isReached || isNeeding)) continue;
      affected.add(id);
      grew = true;
      for (const { name } of produces) names.add(name);
    }
  }
  return state.workflow.subtasks.flatMap(({ id }) => (affected.has(id) ? [id] : []));
}
