import { idKind, foreignId, type Principal } from '../model/index.ts';
import type { StoreReader } from '../store/store.ts';
import { authorize, may, type Action } from './authorize.ts';
import type { CaseRecord, CaseRights } from './case-records.ts';
import type { Context, Contexts } from './contexts.ts';
import { maskOf, type Mask } from './mask.ts';
import { nowhere } from './records.ts';
import type { Registries } from './observing.ts';
import { notFound, parse } from './refusals.ts';
import type { TaskStore } from './task-records.ts';

/** A case that one may look at, and from which number on. */
export interface OpenCase {
  readonly activity: string;
  readonly record: CaseRecord;
  /** The context that it goes by. */
  readonly context: Context | undefined;
  /** Only what began at this number or later is shown; 0: everything. */
  readonly from: number;
  /** Names that only the owner may read, and ours in their place. */
  readonly mask?: Mask;
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
  async open(
    reader: StoreReader,
    principal: Principal,
    given: string,
    action: Extract<Action, 'get' | 'manage'> = 'get',
  ): Promise<OpenCase> {
    const id = parse(foreignId, given, 'id');
    const object = await this.resolve(reader, principal, id);
    const activity = await this.activityOf(reader, object);
    return this.openActivity(reader, principal, activity, () => notFound('case', id), action);
  }

  async openActivity(
    reader: StoreReader,
    principal: Principal,
    activity: string | undefined,
    refusal: () => ReturnType<typeof notFound>,
    action: Extract<Action, 'get' | 'manage'> = 'get',
  ): Promise<OpenCase> {
    const record = await this.#registries.cases.get(reader, activity ?? nowhere);
    const access = await this.#registries.cases.guardOf(reader, principal, record);
    authorize(principal, action, access?.guard, refusal);
    if (activity === undefined || record === undefined || access === undefined) throw refusal();
    return { activity, record, context: access.context, ...shownTo(principal, access) };
  }

  /** The same, undefined without the right to see it. */
  async find(
    reader: StoreReader,
    principal: Principal,
    activity: string,
  ): Promise<OpenCase | undefined> {
    const record = await this.#registries.cases.get(reader, activity);
    const access = await this.#registries.cases.guardOf(reader, principal, record);
    if (record === undefined || access === undefined) return undefined;
    if (!may(principal, 'get', access.guard)) return undefined;
    return { activity, record, context: access.context, ...shownTo(principal, access) };
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
    const { mappings } = this.#registries;
    const dialog = await mappings.find(reader, ['context', 'a2a', context?.ref ?? nowhere]);
    const task = await this.#tasks.get(reader, principal.tenant, id);
    return context === undefined ? task?.shape.task : dialog;
  }

  /** Whose a case is; as much is read for one that is not there. */
  async tenantOf(
    reader: StoreReader,
    principal: Principal,
    activity = nowhere,
  ): Promise<string | undefined> {
    const { cases } = this.#registries;
    const record = await cases.get(reader, activity);
    return (await cases.guardOf(reader, principal, record))?.guard.tenant;
  }

  async activityOf(reader: StoreReader, id = nowhere): Promise<string | undefined> {
    if (idKind(id) === 'relationship') return (await reader.edge(id))?.activity;
    const [object] = await reader.objects([id]);
    return object?.activity;
  }
}

/** All of it, unless only a grant opens it. */
function shownTo(
  principal: Principal,
  { guard, grantedFrom: from = 0, context }: CaseRights,
): Pick<OpenCase, 'from' | 'mask'> {
  if (may(principal, 'get', { ...guard, granted: [] })) return { from: 0 };
  const mask = context && maskOf(context);
  return mask === undefined ? { from } : { from, mask };
}
