import { idKind, foreignId, type Principal } from '../model/index.ts';
import type { StoreReader } from '../store/store.ts';
import { authorize, may } from './authorize.ts';
import type { CaseRecord } from './case-records.ts';
import type { Contexts } from './contexts.ts';
import type { Registries } from './observing.ts';
import { notFound, parse } from './refusals.ts';
import type { TaskStore } from './task-records.ts';

/** A case that one may look at, and from which number on. */
export interface OpenCase {
  readonly activity: string;
  readonly record: CaseRecord;
  /** Only what began at this number or later is shown; 0: everything. */
  readonly from: number;
}

/** From the ids that people use (public ones, contextIds, taskIds) to what they may see. */
export class CaseAccess {
  readonly #registries: Registries;
  readonly #contexts: Contexts;
  readonly #tasks: TaskStore;

  constructor(parts: { registries: Registries; contexts: Contexts; tasks: TaskStore }) {
    this.#registries = parts.registries;
    this.#contexts = parts.contexts;
    this.#tasks = parts.tasks;
  }

  /** By `act_…`, the id of anything in it, or a protocol-local id; `not-found` without the right. */
  async open(reader: StoreReader, principal: Principal, given: string): Promise<OpenCase> {
    const id = parse(foreignId, given, 'id');
    const refusal = () => notFound('case', id);
    const object = await this.resolve(reader, principal, id);
    const activity = object && (await this.activityOf(reader, object));
    if (activity === undefined) throw refusal();
    return this.openActivity(reader, principal, activity, refusal);
  }

  async openActivity(
    reader: StoreReader,
    principal: Principal,
    activity: string,
    refusal: () => ReturnType<typeof notFound>,
  ): Promise<OpenCase> {
    const record = await this.#registries.cases.get(reader, activity);
    const access = record && (await this.#registries.cases.guardOf(reader, principal, record));
    authorize(principal, 'get', access?.guard, refusal);
    if (record === undefined || access === undefined) throw refusal();
    const isWhole = may(principal, 'get', { ...access.guard, granted: [] });
    return { activity, record, from: isWhole ? 0 : (access.grantedFrom ?? 0) };
  }

  /** Our id of what an id means to this principal; says nothing of rights to it. */
  async resolve(
    reader: StoreReader,
    principal: Principal,
    id: string,
  ): Promise<string | undefined> {
    const kind = idKind(id);
    if (kind !== undefined && kind !== 'context') return id;
    const context = await this.#contexts.lookup(reader, principal, id);
    if (context !== undefined) {
      const { mappings } = this.#registries;
      return mappings.find(reader, ['context', 'a2a', context.ref]);
    }
    const task = await this.#tasks.get(reader, principal.tenant, id);
    return task?.shape.task;
  }

  async activityOf(reader: StoreReader, id: string): Promise<string | undefined> {
    if (idKind(id) === 'relationship') return (await reader.edge(id))?.activity;
    const [object] = await reader.objects([id]);
    return object?.activity;
  }
}
