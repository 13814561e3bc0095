import { z } from 'zod';
import {
  limits,
  taskQuerySchema,
  utf8Length,
  type Principal,
  type TaskPage,
  type TaskQuery,
} from '../model/index.ts';
import type { StoreReader } from '../store/store.ts';
import type { Acting } from './acting.ts';
import { may } from './authorize.ts';
import { CaseBoxes } from './case-boxes.ts';
import { guarded, type Context, type Contexts } from './contexts.ts';
import { Cursors } from './cursor.ts';
import type { Deps } from './deps.ts';
import { grantedContexts } from './grant-records.ts';
import { parse } from './refusals.ts';
import {
  contextName,
  toTaskRecord,
  type LiveTask,
  type TaskPlace,
  type TaskStore,
} from './task-records.ts';

/** Tasks of one granted context that are looked through for what the grant covers. */
const maxInContext = 10_000;
/** Tasks that are read at once: each may be as large as a task gets. */
const step = 16;

type Query = z.output<typeof taskQuerySchema>;
type Index = Readonly<Record<string, string>>;

/** A set of tasks that one index finds, less those that `covers` leaves out. Sets do not overlap. */
interface Source {
  readonly index: Index;
  readonly covers?: (task: LiveTask) => boolean;
}

const placeSchema = z.object({
  /** Turn of the task clock that the walk began at. */
  snapshot: z.int(),
  /** Last place given; absent once the order is walked to its end. */
  after: z.object({ sort: z.int(), key: z.string() }).optional(),
  /** Second part: turn that the last one given was made at, which never changes. */
  made: z.int().optional(),
});
type Place = z.infer<typeof placeSchema>;

/**
 * Lists of tasks, latest status first. A walk begins with a snapshot: whatever stays unchanged comes
 * exactly once. What changes meanwhile may have moved past the reader, so the walk ends with those
 * that were there at its beginning and changed since.
 */
export class TaskLists {
  readonly #deps: Deps;
  readonly #contexts: Contexts;
  readonly #tasks: TaskStore;
  readonly #cursors: Cursors<Place>;

  constructor(deps: Deps, contexts: Contexts, tasks: TaskStore) {
    this.#deps = deps;
    this.#contexts = contexts;
    this.#tasks = tasks;
    this.#cursors = new Cursors(deps.vault.box('task-cursor'), placeSchema);
  }

  list({ principal }: Acting, given: TaskQuery): Promise<TaskPage> {
    const query = parse(taskQuerySchema, given, 'query');
    const { cursor, pageSize, ...filter } = query;
    const bound = [
      principal.tenant,
      principal.id,
      principal.role,
      Object.entries(filter).toSorted(([a], [b]) => (a < b ? -1 : 1)),
    ];
    const begun = cursor === undefined ? undefined : this.#cursors.open(bound, cursor);
    return this.#deps.store.read(async (reader) => {
      const sources = await this.#sources(reader, principal, query);
      const from = begun ?? { snapshot: await this.#tasks.turn(reader) };
      const { tasks, next } = await this.#walk(reader, sources, query, from);
      const page = {
        tasks: await this.#named(reader, principal, tasks.slice(0, pageSize)),
        total: await this.#total(reader, sources, query),
      };
      return next === undefined ? page : { ...page, cursor: this.#cursors.seal(bound, next) };
    });
  }

  /** What this principal may see at all, cut into sets, with the filter in each index. */
  async #sources(reader: StoreReader, principal: Principal, query: Query): Promise<Source[]> {
    const { contextId } = query;
    const { audience } = principal;
    if (audience !== undefined && query.agent !== undefined && query.agent !== audience) return [];
    // A credential made for calling one agent shows what that agent executes.
    const filter = this.#filter(
      principal,
      audience === undefined ? query : { ...query, agent: audience },
    );
    const within = (sources: Source[]) =>
      sources.map(({ index, covers }) => {
        const each = { index: { ...index, ...filter } };
        return covers === undefined ? each : { ...each, covers };
      });
    if (contextId !== undefined) {
      const context = await this.#contexts.lookup(reader, principal, contextId);
      return context === undefined ? [] : within(this.#inContext(principal, context));
    }
    if (principal.role === 'operator')
      return within([{ index: this.#tasks.ofTenant(principal.tenant) }]);
    if (query.agent === principal.id)
      return within([{ index: this.#tasks.by('agent', principal) }]);
    const { vault, now } = this.#deps;
    const granted = await grantedContexts(reader, vault, principal, now().getTime());
    const shared = [...granted].flatMap(([ref, operations]) => {
      const since = operations.get('list');
      return since === undefined ? [] : [this.#granted(principal, ref, since)];
    });
    return within([
      { index: this.#tasks.by('caseOwner', principal) },
      { index: this.#tasks.by('guest', principal) },
      ...shared,
    ]);
  }

  #inContext(principal: Principal, context: Context): Source[] {
    const { ref } = context;
    const all = { index: { context: ref } };
    if (may(principal, 'list', { ...guarded(context), granted: [] })) return [all];
    const since = context.granted.get('list');
    return [
      { index: { ...all.index, ...this.#tasks.by('owner', principal) } },
      { index: { ...all.index, ...this.#tasks.by('agent', principal) }, covers: notOwn(principal) },
      ...(since === undefined ? [] : [this.#granted(principal, ref, since)]),
    ];
  }

  #granted(principal: Principal, ref: string, since: number): Source {
    return {
      index: { context: ref },
      covers: (task) =>
        task.shape.born >= since && notOwn(principal)(task) && task.content.agent !== principal.id,
    };
  }

  #filter(principal: Principal, { state, awaiting, agent, unfinished }: Query): Index {
    const by = agent === undefined ? {} : this.#tasks.by('agent', { ...principal, id: agent });
    return {
      ...(state === undefined ? {} : { state }),
      ...(awaiting === undefined ? {} : { awaiting }),
      ...by,
      ...(unfinished === true ? { open: 'yes' } : {}),
    };
  }

  async #walk(
    reader: StoreReader,
    sources: readonly Source[],
    query: Query,
    begun: Place,
  ): Promise<{ tasks: LiveTask[]; next: Place | undefined }> {
    const { snapshot } = begun;
    if (begun.made !== undefined) return this.#changed(reader, sources, query, begun);
    let found: LiveTask[] = [];
    for (const source of sources) {
      const more = await this.#read(reader, source, query, begun);
      const all = [...found, ...more].toSorted(byPlace);
      // One more tells that there is more; what lies behind it only falls further back.
      found = all.slice(0, onePage(all, query).length + 1);
    }
    const tasks = onePage(found, query);
    const last = tasks.at(-1);
    if (found.length > tasks.length && last !== undefined) {
      return { tasks, next: { snapshot, after: { sort: last.sort, key: last.key } } };
    }
    const isLater = begun.after !== undefined && (await this.#tasks.turn(reader)) > snapshot;
    return { tasks, next: isLater ? { snapshot, made: 0 } : undefined };
  }

  /** One source's next tasks in order: enough for a page and one more. */
  async #read(
    reader: StoreReader,
    source: Source,
    query: Query,
    { snapshot, after }: Place,
  ): Promise<LiveTask[]> {
    const found: LiveTask[] = [];
    for await (const task of this.#each(reader, source, query, after)) {
      if (!fits(task, query, snapshot)) continue;
      found.push(task);
      if (found.length > onePage(found, query).length) break;
    }
    return found;
  }

  /** What a source covers, in order, from a place on. */
  async *#each(
    reader: StoreReader,
    { index, covers = () => true }: Source,
    { statusFrom, pageSize }: Query,
    after?: TaskPlace,
  ): AsyncGenerator<LiveTask, void, undefined> {
    const from = statusFrom === undefined ? undefined : Date.parse(statusFrom);
    const limit = Math.min(step, pageSize + 1);
    let place = after;
    for (let read = 0; read < maxInContext; read += limit) {
      const rows = await this.#tasks.find(reader, { index, limit, after: place, from });
      yield* rows.filter(covers);
      const last = rows.at(-1);
      if (last === undefined || rows.length < limit) return;
      place = { sort: last.sort, key: last.key };
    }
  }

  /**
   * Those that the walk may have missed since they moved while it went on. In the order in which they
   * were made, so that this part ends however often they go on moving.
   */
  async #changed(
    reader: StoreReader,
    sources: readonly Source[],
    query: Query,
    { snapshot, made = 0 }: Place,
  ): Promise<{ tasks: LiveTask[]; next: Place | undefined }> {
    const boxes = new CaseBoxes(this.#deps.vault, reader);
    const changes: { key: string; made: number; covers: Source['covers'] }[] = [];
    for (const { index, covers } of sources) {
      const found = await this.#tasks.changedSince(reader, index, snapshot);
      changes.push(...found.map((change) => ({ ...change, covers })));
    }
    const left = changes
      .filter((change) => change.made > made && change.made <= snapshot)
      .toSorted((a, b) => a.made - b.made);
    const tasks: LiveTask[] = [];
    let last: (typeof left)[number] | undefined;
    for (const change of left.slice(0, query.pageSize)) {
      const { key, covers = () => true } = change;
      const task = await this.#tasks.at(reader, key, boxes);
      if (task !== undefined && covers(task) && fits(task, query, snapshot)) {
        if (onePage([...tasks, task], query).length === tasks.length) break;
        tasks.push(task);
      }
      last = change;
    }
    if (last === undefined || last === left.at(-1)) return { tasks, next: undefined };
    return { tasks, next: { snapshot, made: last.made } };
  }

  async #total(reader: StoreReader, sources: readonly Source[], query: Query): Promise<number> {
    let total = 0;
    for (const source of sources) {
      const exact = source.covers === undefined && query.statusFrom === undefined;
      total += exact
        ? await this.#tasks.count(reader, source.index)
        : await this.#countCovered(reader, source, query);
    }
    return total;
  }

  async #countCovered(reader: StoreReader, source: Source, query: Query): Promise<number> {
    let count = 0;
    for await (const task of this.#each(reader, source, query)) if (isFrom(task, query)) count += 1;
    return count;
  }

  /** Each under the name by which the reader knows its context. */
  async #named(
    reader: StoreReader,
    principal: Principal,
    tasks: readonly LiveTask[],
  ): Promise<TaskPage['tasks']> {
    const records: TaskPage['tasks'] = [];
    for (const task of tasks) {
      const context = await this.#contexts.byRef(reader, principal, task.shape.ref);
      records.push(toTaskRecord(task, contextName(task, context, principal.id)));
    }
    return records;
  }
}

/** As many of these as one answer holds; at least one. */
function onePage(tasks: readonly LiveTask[], { pageSize }: Query): LiveTask[] {
  let bytes = 0;
  const end = tasks.findIndex((task, index) => {
    bytes += sizeOf(task);
    return index === pageSize || (index > 0 && bytes > limits.pageBytes);
  });
  return end < 0 ? [...tasks] : tasks.slice(0, end);
}

const sizes = new WeakMap<LiveTask, number>();

/** Bytes of a task's body as JSON. */
function sizeOf(task: LiveTask): number {
  const known = sizes.get(task) ?? utf8Length(JSON.stringify(task.content.body) ?? '');
  sizes.set(task, known);
  return known;
}

const notOwn =
  ({ id }: Principal) =>
  ({ content }: LiveTask): boolean =>
    content.owner !== id;

const byPlace = (a: LiveTask, b: LiveTask): number =>
  b.sort - a.sort || Buffer.compare(Buffer.from(b.key), Buffer.from(a.key));

/** A task made after the walk began is no part of it. */
const fits = (task: LiveTask, query: Query, snapshot: number): boolean =>
  task.shape.made <= snapshot && isFrom(task, query);

const isFrom = ({ shape }: LiveTask, { statusFrom }: Query): boolean =>
  statusFrom === undefined || compareTimes(shape.statusAt, statusFrom) >= 0;

/** Compares two RFC 3339 times as numbers, whatever their zones and as fine as they are written. */
export function compareTimes(a: string, b: string): number {
  const difference = wholeSeconds(a) - wholeSeconds(b);
  if (difference !== 0) return difference;
  const [x, y] = [fraction(a), fraction(b)];
  const length = Math.max(x.length, y.length);
  return x.padEnd(length, '0') < y.padEnd(length, '0')
    ? -1
    : x.padEnd(length, '0') === y.padEnd(length, '0')
      ? 0
      : 1;
}

const wholeSeconds = (time: string): number => Date.parse(time.replace(/\.\d+/, ''));
const fraction = (time: string): string => /\.(\d+)/.exec(time)?.[1] ?? '';
