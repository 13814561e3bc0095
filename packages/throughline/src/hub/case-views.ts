import { z } from 'zod';
import { Graph, explain, stuckTasks } from '../graph/index.ts';
import {
  conflictSchema,
  foreignId,
  idKind,
  limits,
  type Assertion,
  type CaseSummary,
  type CaseView,
  type Conflict,
  type Explanation,
  type Principal,
  type TimelinePage,
} from '../model/index.ts';
import type { StoreReader } from '../store/store.ts';
import type { CaseAccess, OpenCase } from './case-access.ts';
import { CaseBoxes } from './case-boxes.ts';
import type { CaseRecord } from './case-records.ts';
import { nameFor, type Contexts } from './contexts.ts';
import { Cursors } from './cursor.ts';
import type { Deps } from './deps.ts';
import { grantedContexts } from './grant-records.ts';
import type { Registries } from './observing.ts';
import { conflictRecords } from './recorder.ts';
import { notFound, parse } from './refusals.ts';
import { openEntry } from './statements.ts';
import type { Texts, Usage } from './usage.ts';
import { caseObjects, Workspace } from './workspace.ts';

/** `truncated`: the case holds more than is looked at together; the rest is in its timeline. */
export type BoundedCaseView = CaseView & { readonly truncated?: true };

const listSchema = z.object({
  cursor: z.string().max(2_048).optional(),
  pageSize: z.int().min(1).max(limits.pageSize).default(20),
});
const timelineSchema = z.object({
  after: z.int().nonnegative().default(0),
  limit: z.int().min(1).max(limits.pageSize).default(limits.pageSize),
});
const placeSchema = z.object({ sort: z.int(), key: z.string() });
type Place = z.infer<typeof placeSchema>;

/** What people look at: lists of cases, one case, its timeline, why something is in it. */
export class CaseViews {
  readonly #deps: Deps;
  readonly #access: CaseAccess;
  readonly #contexts: Contexts;
  readonly #registries: Registries;
  readonly #usage: Usage;
  readonly #cursors: Cursors<Place>;

  constructor(
    deps: Deps,
    parts: { access: CaseAccess; contexts: Contexts; registries: Registries; usage: Usage },
  ) {
    this.#deps = deps;
    this.#access = parts.access;
    this.#contexts = parts.contexts;
    this.#registries = parts.registries;
    this.#usage = parts.usage;
    this.#cursors = new Cursors(deps.vault.box('case-cursor'), placeSchema);
  }

  /** Latest change first. */
  list(
    principal: Principal,
    given: { cursor?: string; pageSize?: number },
  ): Promise<{ cases: CaseSummary[]; cursor?: string }> {
    const { cursor, pageSize } = parse(listSchema, given, 'query');
    const bound = [principal.tenant, principal.id, principal.role];
    const after = cursor === undefined ? undefined : this.#cursors.open(bound, cursor);
    return this.#deps.store.read(async (reader) => {
      const found = await this.#mine(reader, principal, after, pageSize + 1);
      const page = found.toSorted(byPlace).slice(0, pageSize);
      const cases: CaseSummary[] = [];
      for (const record of page) {
        const open = await this.#access.openActivity(reader, principal, record.key, () =>
          notFound('case', record.key),
        );
        const workspace = new Workspace(this.#deps.vault, reader, 'shapes');
        await workspace.needCase(record.key);
        const graph = visible(workspace, open);
        const opened = new Workspace(this.#deps.vault, reader);
        await opened.need([record.key]);
        const initial = opened.graph.activity(record.key)?.initialDialog;
        if (initial !== undefined) await opened.need([initial]);
        cases.push(await this.#summary(reader, principal, open, graph, opened.graph));
      }
      const last = page.at(-1);
      if (found.length <= pageSize || last === undefined) return { cases };
      return { cases, cursor: this.#cursors.seal(bound, { sort: last.sort, key: last.key }) };
    });
  }

  view(principal: Principal, id: string): Promise<BoundedCaseView> {
    return this.#deps.store.read(async (reader) => {
      const open = await this.#access.open(reader, principal, id);
      const { activity } = open;
      const workspace = new Workspace(this.#deps.vault, reader);
      const isWhole = await workspace.needCase(activity);
      const graph = visible(workspace, open);
      const { objects, relationships } = graph.snapshot();
      const handovers = await this.#usage.ofCase(reader, workspace.boxes, activity);
      const view: CaseView = {
        summary: await this.#summary(reader, principal, open, graph, graph),
        activities: objects.flatMap((o) => (o.kind === 'activity' ? [o.value] : [])),
        participants: objects.flatMap((o) => (o.kind === 'participant' ? [o.value] : [])),
        dialogs: objects.flatMap((o) => (o.kind === 'dialog' ? [o.value] : [])),
        tasks: objects.flatMap((o) => (o.kind === 'task' ? [o.value] : [])),
        resources: objects.flatMap((o) => (o.kind === 'resource' ? [o.value] : [])),
        relationships: [...relationships],
        conflicts: await this.#conflicts(reader, workspace.boxes, open),
        handovers: handovers.filter(({ task }) => graph.task(task) !== undefined),
      };
      return isWhole ? view : { ...view, truncated: true };
    });
  }

  /** Assertions in the order of their numbers. */
  timeline(
    principal: Principal,
    id: string,
    given: { after?: number; limit?: number },
  ): Promise<TimelinePage> {
    const { after, limit } = parse(timelineSchema, given, 'query');
    return this.#deps.store.read(async (reader) => {
      const { activity, from } = await this.#access.open(reader, principal, id);
      const since = Math.max(after, from - 1);
      const entries = await reader.log({ activity, after: since, limit: limit + 1 });
      const boxes = new CaseBoxes(this.#deps.vault, reader);
      const assertions: Assertion[] = [];
      for (const entry of entries.slice(0, limit)) {
        const assertion = await openEntry(entry, boxes);
        if (assertion !== undefined) assertions.push(assertion);
      }
      const last = entries[limit - 1];
      return entries.length > limit && last !== undefined
        ? { assertions, next: last.seq }
        : { assertions };
    });
  }

  /** Why something is there, or what joins two things. Takes public and protocol-local ids. */
  explain(principal: Principal, a: string, b?: string): Promise<Explanation> {
    return this.#deps.store.read(async (reader) => {
      const workspace = new Workspace(this.#deps.vault, reader);
      const graphs = new Map<string, OpenCase>();
      const named: string[] = [];
      for (const given of b === undefined ? [a] : [a, b]) {
        const id = parse(foreignId, given, 'id');
        const refusal = () => notFound('object', id);
        const ours = await this.#access.resolve(reader, principal, id);
        if (ours === undefined) throw refusal();
        named.push(ours);
        if (idKind(ours) === 'participant') continue;
        const activity = await this.#access.activityOf(reader, ours);
        if (activity === undefined) throw refusal();
        const open = await this.#access.openActivity(reader, principal, activity, refusal);
        graphs.set(activity, open);
        await workspace.needCase(activity);
      }
      const shown = [...graphs.values()].map((open) => visible(workspace, open));
      const graph = new Graph();
      for (const each of shown) {
        graph.load({ objects: each.objects(), relationships: each.relationships() });
      }
      const [first = '', second] = named;
      const edge = second === undefined ? graph.relationship(first) : undefined;
      const [from, to] = edge === undefined ? [first, second] : [edge.from, edge.to];
      for (const [ours, id] of [[from, a] as const, [to ?? from, b ?? a] as const]) {
        if (graph.object(ours) === undefined) throw notFound('object', id);
      }
      return explain(graph, from, to);
    });
  }

  /** The texts that a hand-over's figures were counted on. */
  texts(principal: Principal, caseId: string, taskId: string): Promise<Texts> {
    return this.#deps.store.read(async (reader) => {
      const open = await this.#access.open(reader, principal, caseId);
      const id = parse(foreignId, taskId, 'taskId');
      const refusal = () => notFound('task', id);
      const task = await this.#access.resolve(reader, principal, id);
      if (task === undefined) throw refusal();
      const workspace = new Workspace(this.#deps.vault, reader);
      await workspace.need([task]);
      if ((workspace.born.get(task) ?? -1) < open.from) throw refusal();
      const texts = await this.#usage.texts(reader, workspace.boxes, open.activity, task);
      if (texts === undefined) throw refusal();
      return texts;
    });
  }

  async #mine(
    reader: StoreReader,
    principal: Principal,
    after: Place | undefined,
    limit: number,
  ): Promise<CaseRecord[]> {
    const { vault, now } = this.#deps;
    const { cases } = this.#registries;
    const index =
      principal.role === 'operator'
        ? { tenant: vault.blind('tenant', principal.tenant) }
        : { owner: vault.blind('principal', principal.tenant, principal.id) };
    const own = await cases.find(reader, { index, limit, ...(after && { after }) });
    if (principal.role === 'operator') return own.filter(({ content }) => content !== undefined);
    const granted = await grantedContexts(reader, vault, principal, now().getTime());
    const found = new Map(own.map((record) => [record.key, record]));
    for (const [ref, operations] of granted) {
      if (!operations.has('get')) continue;
      const query = { index: { context: ref }, limit: 8, ...(after && { after }) };
      for (const record of await cases.find(reader, query)) found.set(record.key, record);
    }
    return [...found.values()].filter(({ content }) => content !== undefined);
  }

  /** `graph` is counted, `opened` has the words. */
  async #summary(
    reader: StoreReader,
    principal: Principal,
    { activity: id, record }: OpenCase,
    graph: Graph,
    opened: Graph,
  ): Promise<CaseSummary> {
    const activity = opened.activity(id);
    const { ref, openedAt, updatedAt } = record.shape;
    const context =
      ref === undefined ? undefined : await this.#contexts.byRef(reader, principal, ref);
    const initial = opened.dialog(activity?.initialDialog ?? '');
    const contextId =
      context === undefined ? initial?.local[0]?.localId : nameFor(context, principal.id);
    const objects = [...graph.objects()];
    const count = (kind: string) => objects.filter((object) => object.kind === kind).length;
    return {
      activity: id,
      ...(contextId === undefined ? {} : { contextId }),
      ...(activity?.objective === undefined ? {} : { objective: activity.objective }),
      ...(record.content === undefined ? {} : { owner: record.content.owner }),
      openedAt: new Date(openedAt).toISOString(),
      updatedAt: new Date(updatedAt).toISOString(),
      closed: activity?.closed ?? false,
      counts: {
        activities: count('activity'),
        dialogs: count('dialog'),
        tasks: count('task'),
        resources: count('resource'),
        relationships: [...graph.relationships()].length,
      },
      stuck: stuckTasks(graph).length,
    };
  }

  async #conflicts(
    reader: StoreReader,
    boxes: CaseBoxes,
    { activity, from }: OpenCase,
  ): Promise<Conflict[]> {
    const box = await boxes.of(activity);
    const query = { index: { activity }, ascending: true, limit: caseObjects };
    const found = await conflictRecords.find(reader, () => box, { ...query, from });
    return found.flatMap(({ shape, content }) => {
      const { activity: _activity, ...conflict } = shape;
      const message = content?.message ?? 'erased';
      return conflictSchema.safeParse({ ...conflict, message }).data ?? [];
    });
  }
}

/** One case of a workspace, as far as a grant shows it: its root and what began in its time. */
function visible({ graph, born }: Workspace, { activity, from }: OpenCase): Graph {
  const initial = graph.activity(activity)?.initialDialog;
  const isShown = (id: string): boolean =>
    id === activity || id === initial || (born.get(id) ?? 0) >= from;
  const inside = [...graph.objects()].filter(
    ({ kind, value }) =>
      kind !== 'participant' && graph.activityOf(value.id) === activity && isShown(value.id),
  );
  const shown = new Set(inside.map(({ value }) => value.id));
  for (const object of inside) {
    if (object.kind === 'dialog') for (const id of object.value.participants) shown.add(id);
    if (object.kind === 'activity' && object.value.initiator !== undefined) {
      shown.add(object.value.initiator);
    }
  }
  const participants = [...graph.objects()].filter(
    ({ kind, value }) => kind === 'participant' && shown.has(value.id),
  );
  const relationships = [...graph.relationships()].filter(
    ({ id, from: a, to: b, activity: of }) =>
      of === activity && isShown(id) && shown.has(a) && shown.has(b),
  );
  return new Graph({ objects: [...inside, ...participants], relationships });
}

const byPlace = (a: CaseRecord, b: CaseRecord): number =>
  b.sort - a.sort || (a.key < b.key ? 1 : a.key > b.key ? -1 : 0);
