import { idKind, type CaseView, type IdKind, type StuckTask } from 'throughline/model';
import { History } from './history.ts';

export type Dialog = CaseView['dialogs'][number];
export type Task = CaseView['tasks'][number];
type Activity = CaseView['activities'][number];
export type Resource = CaseView['resources'][number];
export type Participant = CaseView['participants'][number];
export type Relationship = CaseView['relationships'][number];
export type Handover = CaseView['handovers'][number];
export type Conflict = CaseView['conflicts'][number];

/** Anything of a case that has a place on the page. */
export type CaseObject =
  | { readonly kind: 'activity'; readonly value: Activity }
  | { readonly kind: 'participant'; readonly value: Participant }
  | { readonly kind: 'dialog'; readonly value: Dialog }
  | { readonly kind: 'task'; readonly value: Task }
  | { readonly kind: 'resource'; readonly value: Resource };

/** How a Resource is used somewhere: the edge carries role and note. */
const useTypes: ReadonlySet<string> = new Set(['input-to', 'used-in', 'modifies']);

/** Where something comes from, as far as relationships say it. */
export const lineageTypes: ReadonlySet<string> = new Set([
  'derived-from',
  'aggregated-from',
  'part-of',
  'continuation-of',
  'replaces',
  'delegated-from',
]);

/** A case with lookups; made once for each answer of the hub. */
export class CaseIndex {
  /** What the hub answered, in the order of the case's history. */
  readonly view: CaseView;
  readonly history: History;
  readonly objects: ReadonlyMap<string, CaseObject>;
  readonly #out: ReadonlyMap<string, readonly Relationship[]>;
  readonly #in: ReadonlyMap<string, readonly Relationship[]>;
  readonly #tasks: ReadonlyMap<string, readonly Task[]>;
  readonly #handovers: ReadonlyMap<string, Handover>;
  readonly #conflicts: ReadonlyMap<string, readonly Conflict[]>;
  readonly #stuck: ReadonlyMap<string, StuckTask>;

  constructor(given: CaseView, history: History = new History([])) {
    const view = inOrder(given, history);
    this.view = view;
    this.history = history;
    const objects: CaseObject[] = [
      ...view.activities.map((value) => ({ kind: 'activity', value }) as const),
      ...view.participants.map((value) => ({ kind: 'participant', value }) as const),
      ...view.dialogs.map((value) => ({ kind: 'dialog', value }) as const),
      ...view.tasks.map((value) => ({ kind: 'task', value }) as const),
      ...view.resources.map((value) => ({ kind: 'resource', value }) as const),
    ];
    this.objects = new Map(objects.map((object) => [object.value.id, object]));
    this.#out = Map.groupBy(view.relationships, ({ from }) => from);
    this.#in = Map.groupBy(view.relationships, ({ to }) => to);
    this.#tasks = Map.groupBy(view.tasks, ({ dialog }) => dialog);
    this.#handovers = new Map(view.handovers.map((each) => [each.task, each]));
    this.#conflicts = Map.groupBy(view.conflicts, ({ about }) => about);
    this.#stuck = new Map((view.stuck ?? []).map((each) => [each.task, each]));
  }

  dialog(id: string): Dialog | undefined {
    const found = this.objects.get(id);
    return found?.kind === 'dialog' ? found.value : undefined;
  }

  task(id: string): Task | undefined {
    const found = this.objects.get(id);
    return found?.kind === 'task' ? found.value : undefined;
  }

  resource(id: string): Resource | undefined {
    const found = this.objects.get(id);
    return found?.kind === 'resource' ? found.value : undefined;
  }

  participant(id: string): Participant | undefined {
    const found = this.objects.get(id);
    return found?.kind === 'participant' ? found.value : undefined;
  }

  tasksOf(dialog: string): readonly Task[] {
    return this.#tasks.get(dialog) ?? [];
  }

  /** What stops a Task, and whose step it is; undefined where nothing does. */
  stuck(task: string): StuckTask | undefined {
    return this.#stuck.get(task);
  }

  handover(task: string): Handover | undefined {
    return this.#handovers.get(task);
  }

  conflictsAbout(id: string): readonly Conflict[] {
    return this.#conflicts.get(id) ?? [];
  }

  /** Every relationship from here, revoked ones too. */
  out(id: string): readonly Relationship[] {
    return this.#out.get(id) ?? [];
  }

  /** Every relationship to here, revoked ones too. */
  in(id: string): readonly Relationship[] {
    return this.#in.get(id) ?? [];
  }

  /** Edges by which a Task, Dialog or Activity was given a Resource, or had a requirement changed. */
  given(id: string): readonly Relationship[] {
    return this.in(id).filter(({ type, status }) => status === 'active' && useTypes.has(type));
  }

  /** Edges by which a Task or Dialog put a Resource out. */
  produced(id: string): readonly Relationship[] {
    return this.in(id).filter(({ type, status }) => status === 'active' && type === 'output-of');
  }

  /** Another one took its place. */
  isReplaced(id: string): boolean {
    return this.in(id).some(({ type, status }) => status === 'active' && type === 'replaces');
  }

  /** A name for people; what kind it is where nobody named it. */
  label(id: string): string {
    const found = this.objects.get(id);
    switch (found?.kind) {
      case 'participant':
        return plain(found.value.name ?? found.value.url ?? `${found.value.kind} ${shortId(id)}`);
      case 'activity':
        return plain(found.value.objective ?? 'Case');
      case 'dialog':
        return this.parties(found.value);
      case 'task':
        return plain(found.value.objective ?? 'Task');
      case 'resource':
        return plain(found.value.name ?? found.value.mediaType ?? 'Resource');
      case undefined:
        return id === 'hub' ? 'the hub' : shortId(id);
      default:
        return found satisfies never;
    }
  }

  /** Who invokes whom; who joined later stands behind a plus. */
  parties({ participants: [first, second, ...joined] }: Dialog): string {
    const pair = [first, second].flatMap((id) => (id === undefined ? [] : this.label(id)));
    return pair.join(' → ') + joined.map((id) => ` + ${this.label(id)}`).join('');
  }

  /** Who works on what was asked in a Dialog: the one that was invoked. */
  worker({ participants, invoker }: Dialog): string | undefined {
    return participants.find((id) => id !== (invoker ?? participants[0]));
  }
}

const inOrder = (view: CaseView, history: History): CaseView => ({
  ...view,
  activities: history.inOrder(view.activities),
  participants: history.inOrder(view.participants),
  dialogs: history.inOrder(view.dialogs),
  tasks: history.inOrder(view.tasks),
  resources: history.inOrder(view.resources),
  relationships: history.inOrder(view.relationships),
  handovers: history
    .inOrder(view.handovers.map((handover) => ({ id: handover.task, handover })))
    .map(({ handover }) => handover),
});

const controls = /\p{Cc}+/gu;

/** Text of people as one line: control characters must not reach whoever copies it. */
export const plain = (text: string): string => text.replaceAll(controls, ' ').trim();

const shown = 6;

/** An id short enough for a list; ids are random, so their first characters tell them apart. */
export function shortId(id: string): string {
  const kind: IdKind | undefined = idKind(id);
  return kind === undefined ? id : `${id.slice(0, 4 + shown)}…`;
}
