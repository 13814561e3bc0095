import { mayBeStuck, type Graph } from '../graph/index.ts';
import type { Dialog, Task } from '../model/index.ts';
import type { StoredObject, StoreReader } from '../store/store.ts';
import { decodeObject } from './graph-codec.ts';

/** Objects that are looked at to find out that nothing waits; where there are more, something may. */
const looked = 256;

/** Whether something in a case may be stuck, by Activity: `false` says so of what changed alone. */
export type Waiting = ReadonlyMap<string, boolean>;

/**
 * Marks which cases to look at when somebody asks for those that are stuck. It never misses one, and may
 * name one that is not: whether a Task waits for work that goes on is found out by whoever reads.
 */
export async function waitingAmong(
  reader: StoreReader,
  graph: Graph,
  changed: Iterable<string>,
): Promise<Waiting> {
  const waiting = new Map<string, boolean>();
  for (const id of changed) {
    const [task, dialog] = [graph.task(id), graph.dialog(id)];
    const activity = (task ?? dialog)?.activity;
    if (activity === undefined || waiting.get(activity) === true) continue;
    const mayBe =
      task === undefined
        ? dialog !== undefined && (await waitsIn(reader, dialog))
        : mayBeStuck(task, graph.dialog(task.dialog)?.state);
    waiting.set(activity, mayBe);
  }
  return waiting;
}

/** Of a whole case, for when what was stuck in it has changed. */
export async function waitsInCase(reader: StoreReader, activity: string): Promise<boolean> {
  const limit = looked + 1;
  const [tasks, dialogs] = await Promise.all([
    reader.objectsOf({ activity, kind: 'task', limit }),
    reader.objectsOf({ activity, kind: 'dialog', limit }),
  ]);
  if (Math.max(tasks.length, dialogs.length) > looked) return true;
  const states = new Map(dialogs.flatMap(dialogsOf).map(({ id, state }) => [id, state]));
  return tasks.flatMap(tasksOf).some((task) => mayBeStuck(task, states.get(task.dialog)));
}

/** A Dialog that ended, or could not be begun, may leave Tasks behind. */
async function waitsIn(reader: StoreReader, { id, state }: Dialog): Promise<boolean> {
  if (state !== 'terminated' && state !== 'interrupted') return false;
  const tasks = await reader.objectsOf({ parent: id, kind: 'task', limit: looked + 1 });
  return tasks.length > looked || tasks.flatMap(tasksOf).some((task) => mayBeStuck(task, state));
}

const tasksOf = (stored: StoredObject): Task[] => {
  const { object } = decodeObject(stored, undefined);
  return object.kind === 'task' ? [object.value] : [];
};

const dialogsOf = (stored: StoredObject): Dialog[] => {
  const { object } = decodeObject(stored, undefined);
  return object.kind === 'dialog' ? [object.value] : [];
};
