import { Graph, kindOf } from '../graph/index.ts';
import { ruleOf, type Draft } from '../model/index.ts';
import type { StoredEdge, StoredObject, StoreReader } from '../store/store.ts';
import { CaseBoxes } from './case-boxes.ts';
import { decodeEdge, decodeObject, scopeOf } from './graph-codec.ts';
import type { KeyBox, Vault } from './vault.ts';

/** Objects (and as many relationships) of one case that are looked at together; more is cut, and said. */
export const caseObjects = 5_000;

/** Ids of objects that a statement names. */
export function namedIn({ about, statement }: Draft): string[] {
  const ids = [about];
  if ('activity' in statement) ids.push(statement.activity);
  if ('dialog' in statement) ids.push(statement.dialog);
  if ('participants' in statement) ids.push(...statement.participants);
  if ('participant' in statement) ids.push(statement.participant);
  if ('initiator' in statement && statement.initiator !== undefined) ids.push(statement.initiator);
  if ('from' in statement) ids.push(statement.from, statement.to);
  return ids;
}

/** The part of the stored graph that one call needs, loaded piece by piece, each piece once. */
export class Workspace {
  readonly graph = new Graph();
  readonly reader: StoreReader;
  readonly boxes: CaseBoxes;
  /** Number of the assertion that an object or relationship began with. */
  readonly born = new Map<string, number>();
  readonly #opens: boolean;
  /** Objects, and other questions by words that are no id. */
  readonly #asked = new Set<string>();

  /** With `shapes` nothing is unsealed: enough for counting and for states. */
  constructor(vault: Vault, reader: StoreReader, load: 'all' | 'shapes' = 'all') {
    this.reader = reader;
    this.boxes = new CaseBoxes(vault, reader);
    this.#opens = load === 'all';
  }

  /** Loads these objects with what holds them and who takes part in them. */
  async need(ids: readonly string[]): Promise<void> {
    let missing = this.#fresh(ids);
    while (missing.length > 0) {
      const found = await this.reader.objects(missing);
      await this.#take(found);
      missing = this.#fresh(found.flatMap(({ id }) => this.#holders(id)));
    }
  }

  /** These objects by themselves; asks for no more in this workspace by `need` then. */
  async needAlone(ids: readonly string[]): Promise<void> {
    await this.#take(await this.reader.objects(this.#fresh(ids)));
  }

  /** Everything that the fold looks at for these statements, but for what the ones before them change. */
  async prepare(...drafts: readonly Draft[]): Promise<void> {
    await this.need(drafts.flatMap(namedIn).filter((id) => kindOf(id) !== undefined));
    const edges = drafts.filter(({ statement }) => statement.says.startsWith('relationship.'));
    const ends = edges.flatMap(({ statement }) =>
      'from' in statement ? [statement.from, statement.to] : [],
    );
    // Of what is not stored yet nothing is stored either.
    await this.#needOut(ends.filter((id) => this.born.has(id)));
    for (const { about, statement } of edges) {
      await this.needEdge(about);
      if (!('from' in statement)) continue;
      const { type, from, to } = statement;
      if (ruleOf(type).acyclic && !(await this.#needDescent(from, type))) {
        await this.needLineage([to], type);
      }
    }
  }

  /**
   * Whatever comes from it by this type, through which alone a circle can run: as a rule far less than
   * all that something comes from. False where it is not told by relationships alone.
   */
  async #needDescent(id: string, type: string): Promise<boolean> {
    const { graph, born } = this;
    const seen = new Set([id]);
    let level = [id];
    while (level.length > 0) {
      const known = level.filter((each) => born.has(each));
      if (known.some((each) => !['task', 'resource'].includes(kindOf(each) ?? ''))) return false;
      const fresh = known.filter((each) => this.#fresh([`${type} to ${each}`]).length > 0);
      if (fresh.length > 0) {
        const edges = await this.reader.edges(fresh, { direction: 'in', types: [type] });
        await this.#link(edges);
        await this.need(edges.map(({ from }) => from));
      }
      const below = level.flatMap((each) => [
        ...graph.in(each, [type]).map(({ from }) => from),
        ...graph.members(each),
      ]);
      level = [...new Set(below)].filter((each) => !seen.has(each));
      for (const each of level) seen.add(each);
    }
    return true;
  }

  /** Resources of an Activity, by which the same bytes are known again; gives their ids. */
  async needResources(activity: string): Promise<string[]> {
    const query = { activity, kind: 'resource', limit: caseObjects };
    const found = await this.reader.objectsOf(query);
    const ids = found.map(({ id }) => id);
    const fresh = new Set(this.#fresh(ids));
    await this.#take(found.filter(({ id }) => fresh.has(id)));
    return ids;
  }

  /** Active relationships out of these, and out of all that those lead up to; of one type where given. */
  async needLineage(ids: readonly string[], type?: string): Promise<void> {
    const seen = new Set(ids);
    let level = [...seen];
    while (level.length > 0) {
      await this.#needOut(level, type);
      const types = type === undefined ? undefined : [type];
      const above = level.flatMap((id) => [
        ...this.graph.out(id, types).map(({ to }) => to),
        ...[this.graph.task(id)?.dialog].flatMap((dialog) => dialog ?? []),
      ]);
      level = [...new Set(above)].filter((id) => !seen.has(id));
      for (const id of level) seen.add(id);
    }
  }

  /** Active relationships out of these, with both ends. */
  async #needOut(ids: readonly string[], type = ''): Promise<void> {
    const some = [...new Set(ids)].filter((id) => !this.#asked.has(` from ${id}`));
    const level = some.filter((id) => this.#fresh([`${type} from ${id}`]).length > 0);
    if (level.length === 0) return;
    const types = type === '' ? {} : { types: [type] };
    const edges = await this.reader.edges(level, { direction: 'out', ...types });
    await this.#link(edges);
    await this.need([...level, ...edges.map(({ to }) => to)]);
  }

  /** The whole of one Activity, with the Participants in it; false when it was too much. */
  async needCase(activity: string): Promise<boolean> {
    const query = { activity, limit: caseObjects + 1 };
    const [found, edges] = await Promise.all([
      this.reader.objectsOf(query),
      this.reader.edgesOf(activity, caseObjects + 1),
    ]);
    const taken = found.slice(0, caseObjects);
    const fresh = new Set(this.#fresh(taken.map(({ id }) => id)));
    await this.#take(taken.filter(({ id }) => fresh.has(id)));
    await this.need(taken.flatMap(({ id }) => this.#holders(id)));
    await this.#link(edges.slice(0, caseObjects));
    return found.length <= caseObjects && edges.length <= caseObjects;
  }

  #fresh(ids: readonly string[]): string[] {
    const fresh = [...new Set(ids)].filter((id) => !this.#asked.has(id));
    for (const id of fresh) this.#asked.add(id);
    return fresh;
  }

  #holders(id: string): string[] {
    const object = this.graph.object(id);
    if (object === undefined || object.kind === 'participant') return [];
    if (object.kind === 'activity') return [object.value.initiator].flatMap((each) => each ?? []);
    const { activity } = object.value;
    if (object.kind === 'resource') return [activity];
    if (object.kind === 'task') return [activity, object.value.dialog];
    const { participants, invoker } = object.value;
    return [activity, ...participants, ...(invoker === undefined ? [] : [invoker])];
  }

  async #take(stored: readonly StoredObject[]): Promise<void> {
    const keys = await this.#keys(stored);
    for (const [i, each] of stored.entries()) {
      const { object, born } = decodeObject(each, keys[i]);
      this.born.set(each.id, born);
      this.graph.load({ objects: [object] });
    }
  }

  async #keys(
    stored: readonly (StoredObject | StoredEdge)[],
  ): Promise<readonly (KeyBox | undefined)[]> {
    if (!this.#opens) return [];
    return Promise.all(stored.map(({ id, activity }) => this.boxes.of(scopeOf(id, activity))));
  }

  /** One relationship with both its ends. */
  async needEdge(id: string): Promise<void> {
    if (this.graph.relationship(id) !== undefined || this.#fresh([`edge ${id}`]).length === 0)
      return;
    const edge = await this.reader.edge(id);
    if (edge === undefined) return;
    await this.#link([edge]);
    await this.need([edge.from, edge.to]);
  }

  async #link(stored: readonly StoredEdge[]): Promise<void> {
    const fresh = stored.filter(({ id }) => this.graph.relationship(id) === undefined);
    const keys = await this.#keys(fresh);
    for (const [i, each] of fresh.entries()) {
      const { relationship, born } = decodeEdge(each, keys[i]);
      this.born.set(each.id, born);
      this.graph.load({ relationships: [relationship] });
    }
  }
}
