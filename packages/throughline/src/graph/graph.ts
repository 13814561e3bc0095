import {
  idPrefixes,
  type Activity,
  type Conflict,
  type Dialog,
  type ObjectKind,
  type Participant,
  type Relationship,
  type Resource,
  type Task,
} from '../model/index.ts';

interface ObjectTypes {
  participant: Participant;
  activity: Activity;
  dialog: Dialog;
  task: Task;
  resource: Resource;
}

/** An object with its kind; `value` is never changed in place, a new one takes its stead. */
export type GraphObject = {
  [K in ObjectKind]: { readonly kind: K; readonly value: ObjectTypes[K] };
}[ObjectKind];

const kinds: ReadonlyMap<string, ObjectKind> = new Map(
  (['participant', 'activity', 'dialog', 'task', 'resource'] as const).map((kind) => [
    idPrefixes[kind],
    kind,
  ]),
);

/** The kind that an object's id names, by its prefix alone. */
export function kindOf(id: string): ObjectKind | undefined {
  return id.charAt(3) === '_' ? kinds.get(id.slice(0, 3)) : undefined;
}

export interface GraphParts {
  readonly objects?: Iterable<GraphObject>;
  readonly relationships?: Iterable<Relationship>;
  readonly conflicts?: Iterable<Conflict>;
}

/** Everything in a fixed order, for comparing and for showing. */
export interface GraphSnapshot {
  readonly objects: readonly GraphObject[];
  readonly relationships: readonly Relationship[];
  readonly conflicts: readonly Conflict[];
}

/**
 * Objects, relationships and conflicts in memory: a slice of a domain's graph, or all of it.
 * Lookups take time in proportion to what they give back, not to the size of the graph.
 */
export class Graph {
  readonly #objects = new Map<string, GraphObject>();
  readonly #relationships = new Map<string, Relationship>();
  readonly #out = new Map<string, Set<string>>();
  readonly #in = new Map<string, Set<string>>();
  readonly #members = new Map<string, Set<string>>();
  readonly #changedObjects = new Set<string>();
  readonly #changedRelationships = new Set<string>();
  readonly conflicts: Conflict[] = [];

  constructor(parts: GraphParts = {}) {
    this.load(parts);
  }

  /** Takes in what is stored already: it does not count as changed. */
  load(parts: GraphParts): void {
    for (const object of parts.objects ?? []) this.#place(object);
    for (const relationship of parts.relationships ?? []) this.#link(relationship);
    this.conflicts.push(...(parts.conflicts ?? []));
  }

  /** Ids of what was put since the graph was made or `settle` was called. */
  get changes(): {
    readonly objects: ReadonlySet<string>;
    readonly relationships: ReadonlySet<string>;
  } {
    return { objects: this.#changedObjects, relationships: this.#changedRelationships };
  }

  /** Forgets what changed: it has been written. */
  settle(): void {
    this.#changedObjects.clear();
    this.#changedRelationships.clear();
  }

  object(id: string): GraphObject | undefined {
    return this.#objects.get(id);
  }

  participant(id: string): Participant | undefined {
    const object = this.#objects.get(id);
    return object?.kind === 'participant' ? object.value : undefined;
  }

  activity(id: string): Activity | undefined {
    const object = this.#objects.get(id);
    return object?.kind === 'activity' ? object.value : undefined;
  }

  dialog(id: string): Dialog | undefined {
    const object = this.#objects.get(id);
    return object?.kind === 'dialog' ? object.value : undefined;
  }

  task(id: string): Task | undefined {
    const object = this.#objects.get(id);
    return object?.kind === 'task' ? object.value : undefined;
  }

  resource(id: string): Resource | undefined {
    const object = this.#objects.get(id);
    return object?.kind === 'resource' ? object.value : undefined;
  }

  relationship(id: string): Relationship | undefined {
    return this.#relationships.get(id);
  }

  objects(): Iterable<GraphObject> {
    return this.#objects.values();
  }

  relationships(): Iterable<Relationship> {
    return this.#relationships.values();
  }

  tasks(): Task[] {
    return [...this.#objects.values()].flatMap((o) => (o.kind === 'task' ? [o.value] : []));
  }

  dialogs(): Dialog[] {
    return [...this.#objects.values()].flatMap((o) => (o.kind === 'dialog' ? [o.value] : []));
  }

  /** Active relationships that start here, of these types where given. */
  out(id: string, types?: readonly string[]): Relationship[] {
    return this.#edges(this.#out.get(id), types);
  }

  /** Active relationships that end here, of these types where given. */
  in(id: string, types?: readonly string[]): Relationship[] {
    return this.#edges(this.#in.get(id), types);
  }

  /** What an Activity (Dialogs, Resources) or a Dialog (Tasks) holds. */
  members(id: string): readonly string[] {
    return [...(this.#members.get(id) ?? [])];
  }

  /** Tasks of a Dialog. */
  tasksOf(dialog: string): Task[] {
    return this.members(dialog).flatMap((id) => this.task(id) ?? []);
  }

  /** The Activity that an object is in: itself for an Activity, none for a Participant. */
  activityOf(id: string): string | undefined {
    const object = this.#objects.get(id);
    if (object === undefined || object.kind === 'participant') return undefined;
    return object.kind === 'activity' ? object.value.id : object.value.activity;
  }

  put(object: GraphObject): void {
    this.#place(object);
    this.#changedObjects.add(object.value.id);
  }

  putRelationship(relationship: Relationship): void {
    this.#link(relationship);
    this.#changedRelationships.add(relationship.id);
  }

  snapshot(): GraphSnapshot {
    return {
      objects: [...this.#objects.values()].toSorted((a, b) => byText(a.value.id, b.value.id)),
      relationships: [...this.#relationships.values()].toSorted((a, b) => byText(a.id, b.id)),
      conflicts: this.conflicts.toSorted((a, b) => a.seq - b.seq),
    };
  }

  #edges(ids: ReadonlySet<string> | undefined, types?: readonly string[]): Relationship[] {
    const found: Relationship[] = [];
    for (const id of ids ?? []) {
      const edge = this.#relationships.get(id);
      if (edge?.status !== 'active') continue;
      if (types === undefined || types.includes(edge.type)) found.push(edge);
    }
    return found;
  }

  #place(object: GraphObject): void {
    this.#objects.set(object.value.id, object);
    const holder = holderOf(object);
    if (holder !== undefined) add(this.#members, holder, object.value.id);
  }

  #link(relationship: Relationship): void {
    this.#relationships.set(relationship.id, relationship);
    add(this.#out, relationship.from, relationship.id);
    add(this.#in, relationship.to, relationship.id);
  }
}

/** What an object is a member of: a Task of its Dialog, a Dialog or Resource of its Activity. */
export function holderOf(object: GraphObject): string | undefined {
  if (object.kind === 'task') return object.value.dialog;
  if (object.kind === 'dialog' || object.kind === 'resource') return object.value.activity;
  return undefined;
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function add(map: Map<string, Set<string>>, key: string, value: string): void {
  const set = map.get(key);
  if (set === undefined) map.set(key, new Set([value]));
  else set.add(value);
}
