import type { StuckTask, Task } from '../model/index.ts';
import { isFinal } from './fold-task.ts';
import type { Graph } from './graph.ts';

type Why = StuckTask['why'];

/** Who has to do something: the one that asked for the work, or whoever was to do it. */
const steps: Readonly<Record<Why, 'asker' | 'doer'>> = {
  'outcome-unknown': 'doer',
  interrupted: 'doer',
  'awaiting-input': 'asker',
  'awaiting-authorization': 'asker',
  'nothing-awaited': 'doer',
  'dialog-ended': 'asker',
  'not-reached': 'doer',
};

/**
 * Tasks that nobody works on though they are not over, or whose outcome nobody knows. One that was
 * only just defined is not stuck, nor is one that awaits the result of work still going on.
 */
export function stuckTasks(graph: Graph): StuckTask[] {
  return graph.tasks().flatMap((task) => {
    const why = whyStuck(graph, task);
    return why === undefined ? [] : [{ task: task.id, why, whose: whoseStep(graph, task, why) }];
  });
}

/** Empty where it is not known who asked. */
function whoseStep(graph: Graph, task: Task, why: Why): string[] {
  const dialog = graph.dialog(task.dialog);
  const asker = dialog?.invoker;
  if (steps[why] === 'asker') return asker === undefined ? [] : [asker];
  return (dialog?.participants ?? []).filter((id) => id !== asker);
}

function whyStuck(graph: Graph, task: Task): Why | undefined {
  if (task.unresolved === true) return 'outcome-unknown';
  if (isFinal(task.state)) return undefined;
  const dialog = graph.dialog(task.dialog)?.state;
  if (dialog === 'terminated') return 'dialog-ended';
  if (dialog === 'interrupted' && task.state === 'defined') return 'not-reached';
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
