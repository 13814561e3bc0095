import type { Task } from '../model/index.ts';
import { isFinal } from './fold-task.ts';
import type { Graph } from './graph.ts';

export interface StuckTask {
  readonly task: string;
  /** Why it does not go on. */
  readonly why:
    | 'outcome-unknown'
    | 'interrupted'
    | 'awaiting-input'
    | 'awaiting-authorization'
    | 'nothing-awaited'
    | 'dialog-ended';
}

/**
 * Tasks that nobody works on though they are not over, or whose outcome nobody knows. One that was
 * only just defined is not stuck, nor is one that awaits the result of work still going on.
 */
export function stuckTasks(graph: Graph): StuckTask[] {
  return graph.tasks().flatMap((task) => {
    const why = whyStuck(graph, task);
    return why === undefined ? [] : [{ task: task.id, why }];
  });
}

function whyStuck(graph: Graph, task: Task): StuckTask['why'] | undefined {
  if (task.unresolved === true) return 'outcome-unknown';
  if (isFinal(task.state)) return undefined;
  if (graph.dialog(task.dialog)?.state === 'terminated') return 'dialog-ended';
  if (task.state === 'interrupted') return 'interrupted';
  if (task.state !== 'awaiting') return undefined;
  if (task.awaiting === 'authorization') return 'awaiting-authorization';
  if (task.awaiting === 'input') return 'awaiting-input';
  return hasWorkBelow(graph, task.id) ? undefined : 'nothing-awaited';
}

function hasWorkBelow(graph: Graph, id: string): boolean {
  return graph.in(id, ['delegated-from']).some(({ from }) => {
    const task = graph.task(from);
    return task !== undefined && !isFinal(task.state);
  });
}
