import { Graph, modifiersOf, stuckTasks } from '../../graph/index.ts';
import type { CaseView } from '../../model/case-view.ts';
import type { Dialog } from '../../model/dialog.ts';
import type { Relationship } from '../../model/relationship.ts';
import type { StuckTask, Task, TaskModifier } from '../../model/task.ts';
import type { Handover, Usage } from '../../model/usage.ts';
import { clean, type Style, type Terminal } from '../terminal.ts';

/** How a state looks: good, at work, waiting, bad; all others at rest. */
const styles: Readonly<Record<string, Style>> = {
  completed: 'green',
  active: 'cyan',
  'in-progress': 'cyan',
  initiating: 'cyan',
  awaiting: 'yellow',
  interrupted: 'yellow',
  suspended: 'yellow',
  failed: 'red',
  rejected: 'red',
  'timed-out': 'red',
};

/** A modifier in words; what the tree shows by itself is not said again. */
const modifierWords: Partial<Record<TaskModifier['modifier'], string>> = {
  'cancel-requested': 'cancel requested',
  unresolved: 'outcome unknown',
  superseded: 'superseded by',
  modified: 'modified by',
};

/** Relationships that the tree, or a line of its own, shows. */
const drawn: ReadonlySet<string> = new Set(['delegated-from', 'input-to', 'used-in', 'output-of']);

/** A case with lookups, and words for what is in it. */
export class Words {
  readonly view: CaseView;
  readonly graph: Graph;
  readonly stuck: readonly StuckTask[];
  readonly terminal: Terminal;

  constructor(view: CaseView, terminal: Terminal) {
    this.view = view;
    this.terminal = terminal;
    this.graph = graphOf(this.view);
    this.stuck = stuckTasks(this.graph);
  }

  /** Name of a participant, else its URL, else its id; `hub` stays `hub`. */
  participant(id: string): string {
    const found = this.graph.participant(id);
    return clean(found?.name ?? found?.url ?? this.terminal.id(id));
  }

  resource(id: string): string {
    const found = this.graph.resource(id);
    return found?.name === undefined ? this.terminal.id(id) : clean(found.name);
  }

  /** Who invokes whom; who joined later stands behind a plus. */
  participants({ participants: [first, second, ...more] }: Dialog): string {
    const names = [first, second].flatMap((id) => (id === undefined ? [] : this.participant(id)));
    const joined = more.map((id) => ` + ${this.participant(id)}`).join('');
    return names.join(' → ') + joined;
  }

  /** Protocol and its id of the Dialog. */
  local({ local: [latest, ...earlier], managed }: Dialog): string {
    if (latest === undefined) return managed === 'ours' ? 'not bound yet' : 'unmanaged';
    const before = earlier.length === 0 ? '' : `, ${earlier.length} before`;
    return `${latest.protocol} ${this.terminal.id(latest.localId)}${before}`;
  }

  state(state: string): string {
    return this.terminal.paint(styles[state] ?? 'dim', state);
  }

  taskState({ state, awaiting, outcome }: Task): string {
    if (outcome === 'error') return this.terminal.paint('red', `${state} with an error`);
    return awaiting === undefined
      ? this.state(state)
      : this.terminal.paint('yellow', `${state} ${awaiting}`);
  }

  /** Facts beside the state that a reader must not miss. */
  marks(task: Task): string[] {
    const { graph } = this;
    const words = modifiersOf(graph, task.id).flatMap(({ modifier, by }) => {
      const said = modifierWords[modifier];
      if (said === undefined) return [];
      return by === undefined ? said : `${said} ${this.name(by)}`;
    });
    return [
      ...words,
      ...(task.contested ?? []).map(
        ({ source, state }) => `contested: ${this.participant(source)} says ${state}`,
      ),
    ];
  }

  /** A Resource by its name, all else by its id. */
  name(id: string): string {
    return this.graph.resource(id) === undefined ? this.terminal.id(id) : this.resource(id);
  }

  /** What a Dialog, a Task or a Resource says of its ties to others, beside what the tree shows. */
  ties(id: string): { readonly type: string; readonly to: string; readonly at?: string }[] {
    return this.graph.out(id).flatMap(({ type, to, selector }) => {
      if (drawn.has(type) || (type === 'modifies' && this.graph.task(to) !== undefined)) return [];
      const at = selector === undefined ? {} : { at: clean(selector.value) };
      return { type: clean(type), to: this.name(to), ...at };
    });
  }

  handovers(task: Task): Handover[] {
    return this.view.handovers.filter((each) => each.task === task.id);
  }

  /** What models of the Master itself used for a run, which goes by its Task. */
  ownUsage(task: Task): Usage[] {
    return (this.view.runs ?? [])
      .filter(({ run }) => run === task.id)
      .flatMap((each) => each.usage);
  }

  /** What a Task, a Dialog or an Activity was given, and what it put out. */
  inputs(id: string): Relationship[] {
    return this.graph.in(id, ['input-to', 'used-in', 'modifies']);
  }

  outputs(id: string): Relationship[] {
    return this.graph.in(id, ['output-of']);
  }
}

function graphOf(view: CaseView): Graph {
  return new Graph({
    objects: [
      ...view.participants.map((value) => ({ kind: 'participant', value }) as const),
      ...view.activities.map((value) => ({ kind: 'activity', value }) as const),
      ...view.dialogs.map((value) => ({ kind: 'dialog', value }) as const),
      ...view.tasks.map((value) => ({ kind: 'task', value }) as const),
      ...view.resources.map((value) => ({ kind: 'resource', value }) as const),
    ],
    relationships: view.relationships,
    conflicts: view.conflicts,
  });
}

/** `1 task`, `12 tasks`. */
export const count = (n: number, one: string, many = `${one}s`): string =>
  `${n.toLocaleString('en')} ${n === 1 ? one : many}`;

const two = (n: number): string => String(n).padStart(2, '0');

/** Hour, minute and second in the reader's own zone. */
export function clock(timestamp: string): string {
  const date = new Date(timestamp);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
}

/** Day and minute in the reader's own zone. */
export function moment(timestamp: string): string {
  const date = new Date(timestamp);
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day} ${clock(timestamp).slice(0, 5)}`;
}
