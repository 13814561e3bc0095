import type { Dialog, StuckTask, Task } from '../model/index.ts';
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
  const why = whyAlone(task, graph.dialog(task.dialog)?.state);
  return why === 'nothing-awaited' && hasWorkBelow(graph, task.id) ? undefined : why;
}

/** Whether it may be stuck, as far as it and its Dialog tell by themselves; false: it is not. */
export const mayBeStuck = (task: Task, dialog: Dialog['state'] | undefined): boolean =>
  whyAlone(task, dialog) !== undefined;

/** Without a look at the work that it may wait for. */
function whyAlone(task: Task, dialog: Dialog['state'] | undefined): Why | undefined {
  if (task.unresolved === true) return 'outcome-unknown';
  if (isFinal(task.state)) return undefined;
  if (dialog === 'terminated') return 'dialog-ended';
  if (dialog === 'interrupted' && task.state === 'defined') return 'not-reached';
  if (task.state === 'interrupted') return 'interrupted';
  if (task.state !== 'awaiting') return undefined;
  if (task.awaiting === 'authorization') return 'awaiting-authorization';
  if (task.awaiting === 'input') return 'awaiting-input';
  return 'nothing-awaited';
}

/** Tasks that ended badly, with an error too, and that no other attempt replaced or went on from. */
export const failedTasks = (graph: Graph): Task[] =>
  graph
    .tasks()
    .filter(
      ({ id, state, outcome }) =>
        (badEnds.has(state) || outcome === 'error') &&
        graph.in(id, ['replaces', 'continuation-of']).length === 0,
    );

const badEnds: ReadonlySet<Task['state']> = new Set(['failed', 'rejected', 'timed-out']);

function hasWorkBelow(graph: Graph, id: string): boolean {
  return graph.in(id, ['delegated-from']).some(({ from }) => {
    const task = graph.task(from);
    return task !== undefined && !isFinal(task.state);
  });
}
