import { z } from 'zod';
import { Graph, explain, modifiersOf, stuckTasks } from '../graph/index.ts';
import {
  conflictSchema,
  foreignId,
  idKind,
  limits,
  type Assertion,
  type CaseView,
  type Conflict,
  type Explanation,
  type Handover,
  type HandoverTexts,
  type Principal,
  type RunUsage,
  type TimelinePage,
} from '../model/index.ts';
import type { StoreReader } from '../store/store.ts';
import { authorize } from './authorize.ts';
import type { CaseAccess, OpenCase } from './case-access.ts';
import { CaseBoxes } from './case-boxes.ts';
import { inOrder, seeCase, visible } from './case-graph.ts';
import { summarize } from './case-summary.ts';
import type { Deps } from './deps.ts';
import { maskAssertion } from './mask.ts';
import type { Registries } from './observing.ts';
import { conflictRecords } from './recorder.ts';
import { notFound, parse } from './refusals.ts';
import { openEntry } from './statements.ts';
import type { Usage } from './usage.ts';
import { caseObjects, Workspace } from './workspace.ts';

const timelineSchema = z.object({
  after: z.int().nonnegative().default(0),
  limit: z.int().min(1).max(limits.pageSize).default(limits.pageSize),
});

export interface ViewParts {
  readonly access: CaseAccess;
  readonly usage: Usage;
  readonly registries: Registries;
}

/** What people look at: one case, its timeline, why something is in it. */
export class CaseViews {
  readonly #deps: Deps;
  readonly #access: CaseAccess;
  readonly #usage: Usage;
  readonly #registries: Registries;

  constructor(deps: Deps, parts: ViewParts) {
    this.#deps = deps;
    this.#access = parts.access;
    this.#usage = parts.usage;
    this.#registries = parts.registries;
  }

  view(principal: Principal, id: string): Promise<CaseView> {
    return this.#deps.store.read((reader) => this.viewIn(reader, principal, id));
  }

  /** The same, as of the moment that a reader sees. */
  async viewIn(reader: StoreReader, principal: Principal, id: string): Promise<CaseView> {
    const open = await this.#access.open(reader, principal, id);
    const by = { access: this.#access, principal };
    const seen = await seeCase(this.#deps, reader, by, open);
    const { graph, workspace, isWhole, cases } = seen;
    const { objects, relationships } = inOrder(seen);
    const handovers: Handover[] = [];
    const runs: RunUsage[] = [];
    const conflicts: Conflict[] = [];
    for (const each of cases) {
      handovers.push(...(await this.#usage.ofCase(reader, workspace.boxes, each.activity)));
      runs.push(...(await this.#usage.runsOf(reader, workspace.boxes, each.activity)));
      conflicts.push(...(await this.#conflicts(reader, workspace.boxes, each)));
    }
    const view: CaseView = {
      summary: summarize({ principal, open, graph, words: graph, people: graph }),
      activities: objects.flatMap((o) => (o.kind === 'activity' ? [o.value] : [])),
      participants: objects.flatMap((o) => (o.kind === 'participant' ? [o.value] : [])),
      dialogs: objects.flatMap((o) => (o.kind === 'dialog' ? [o.value] : [])),
      tasks: objects.flatMap((o) => (o.kind === 'task' ? [o.value] : [])),
      resources: objects.flatMap((o) => (o.kind === 'resource' ? [o.value] : [])),
      relationships: [...relationships],
      conflicts,
      handovers: handovers.filter(({ task }) => graph.task(task) !== undefined),
      runs: runs.filter(({ run }) => graph.task(run) !== undefined),
      stuck: stuckTasks(graph),
      modifiers: objects.flatMap((o) => (o.kind === 'task' ? modifiersOf(graph, o.value.id) : [])),
    };
    return isWhole ? view : { ...view, truncated: true };
  }

  /** Assertions in the order of their numbers. */
  timeline(
    principal: Principal,
    id: string,
    given: { after?: number; limit?: number },
  ): Promise<TimelinePage> {
    const { after, limit } = parse(timelineSchema, given, 'query');
    return this.#deps.store.read(async (reader) => {
      const { activity, from, mask } = await this.#access.open(reader, principal, id);
      const since = Math.max(after, from - 1);
      const entries = await reader.log({ activity, after: since, limit: limit + 1 });
      const boxes = new CaseBoxes(this.#deps.vault, reader);
      const assertions: Assertion[] = [];
      for (const entry of entries.slice(0, limit)) {
        const assertion = await openEntry(entry, boxes);
        if (assertion !== undefined) assertions.push(maskAssertion(mask, assertion));
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
        named.push(ours ?? '');
        if (ours !== undefined && idKind(ours) === 'participant') continue;
        const activity = await this.#access.activityOf(reader, ours);
        const open = await this.#access.openActivity(reader, principal, activity, refusal);
        graphs.set(open.activity, open);
        await workspace.needCase(open.activity);
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
      return withAssertions(reader, workspace, graph, explain(graph, from, to));
    });
  }

  /**
   * The texts that a hand-over's figures were counted on: for whoever handed over and for operators. They
   * hold what the receiver, and others who may see the case, were not to get.
   */
  texts(principal: Principal, caseId: string, taskId: string): Promise<HandoverTexts> {
    return this.#deps.store.read(async (reader) => {
      const names = [parse(foreignId, caseId, 'id'), parse(foreignId, taskId, 'taskId')] as const;
      const refusal = () => notFound('hand-over', names[1]);
      const inCase = await this.#access.resolve(reader, principal, names[0]);
      const activity = await this.#access.activityOf(reader, inCase);
      const workspace = new Workspace(this.#deps.vault, reader);
      const id = await this.#access.resolve(reader, principal, names[1]);
      await workspace.need(id === undefined ? [] : [id]);
      const task = workspace.graph.task(id ?? '');
      const self = await this.#registries.participants.of(reader, principal);
      const invoker = workspace.graph.dialog(task?.dialog ?? '')?.invoker;
      const tenant = await this.#access.tenantOf(reader, principal, activity);
      const invokes = self !== undefined && self === invoker;
      authorize(
        principal,
        'texts',
        tenant === undefined ? undefined : { tenant, invokes },
        refusal,
      );
      if (task === undefined || activity === undefined || task.activity !== activity) {
        throw refusal();
      }
      const texts = await this.#usage.texts(reader, workspace.boxes, activity, task.id);
      if (texts === undefined) throw refusal();
      return texts;
    });
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

/** Names in each step the assertion that it rests on, where one is known. */
async function withAssertions(
  reader: StoreReader,
  { born }: Workspace,
  graph: Graph,
  explanation: Explanation,
): Promise<Explanation> {
  const steps: Explanation['steps'] = [];
  for (const step of explanation.steps) {
    const { relation, role } = step;
    const [from, to] = step.inverse ? [step.to, step.from] : [step.from, step.to];
    const edge = graph.out(from, [relation]).find((each) => each.to === to && each.role === role);
    const about = edge?.id ?? (relation === 'in' ? from : '');
    const after = (born.get(about) ?? 0) - 1;
    const [entry] = after < 0 ? [] : await reader.log({ after, limit: 1 });
    steps.push(entry?.about === about ? { ...step, assertion: entry.id } : step);
  }
  return { ...explanation, steps };
}
