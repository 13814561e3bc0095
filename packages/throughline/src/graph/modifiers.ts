import type { TaskModifier } from '../model/index.ts';
import type { Graph } from './graph.ts';

/** What an incoming relationship makes of a Task; one that is taken up again was retried, too. */
const modifierOf: Readonly<Record<string, readonly TaskModifier['modifier'][]>> = {
  replaces: ['superseded', 'retried'],
  'continuation-of': ['retried'],
  'delegated-from': ['delegated'],
  modifies: ['modified'],
};
const types = Object.keys(modifierOf);

/** The facts beside a Task's one state: its own two, then those that are read off the graph. */
export function modifiersOf(graph: Graph, task: string): TaskModifier[] {
  const value = graph.task(task);
  if (value === undefined) return [];
  return [
    ...(value.cancelRequested === true ? [{ task, modifier: 'cancel-requested' as const }] : []),
    ...(value.unresolved === true ? [{ task, modifier: 'unresolved' as const }] : []),
    ...graph
      .in(task, types)
      .flatMap(({ type, from: by }) =>
        (modifierOf[type] ?? []).map((modifier) => ({ task, modifier, by })),
      ),
  ];
}
