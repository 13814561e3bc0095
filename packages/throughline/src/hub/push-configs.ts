import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import {
  foreignId,
  limits,
  pushConfigSchema,
  type Principal,
  type PushConfig,
} from '../model/index.ts';
import type { StoreReader, StoreWriter } from '../store/store.ts';
import { executing, type Acting } from './acting.ts';
import { authorize, may } from './authorize.ts';
import { CaseBoxes } from './case-boxes.ts';
import type { Contexts } from './contexts.ts';
import type { Deps } from './deps.ts';
import { Records, type Kept } from './records.ts';
import { notFound, parse } from './refusals.ts';
import { guardTask, isOver, type LiveTask, type TaskStore } from './task-records.ts';

const contentSchema = pushConfigSchema.extend({ owner: foreignId, agent: foreignId });
const configRecords = new Records('push-config', z.object({ activity: z.string() }), contentSchema);
type Stored = Kept<{ activity: string }, z.infer<typeof contentSchema>>;
type Config = Stored & { readonly content: NonNullable<Stored['content']> };

/** Configs of finished tasks given at once. */
const maxDue = 256;
/** Leases that whoever tells an end has for all its tries. */
const leases = 4;

/**
 * Who wants to be told of a task, sealed with its case. A config is open from the end of its task
 * until that was told (or given up). Whoever wrote the end tells it, and has a lease to do so; when
 * that is over, the delivery is due and goes to whichever process of the agent asks first.
 */
export class PushConfigs {
  readonly #deps: Deps;
  readonly #contexts: Contexts;
  readonly #tasks: TaskStore;

  constructor(deps: Deps, parts: { readonly contexts: Contexts; readonly tasks: TaskStore }) {
    this.#deps = deps;
    this.#contexts = parts.contexts;
    this.#tasks = parts.tasks;
  }

  /** Writes one of the caller's own, over an equal id. `quota` when the task has too many. */
  save(acting: Acting, given: PushConfig): Promise<void> {
    const config = parse(pushConfigSchema, given, 'push config');
    return this.#deps.store.write((writer) => this.keep(writer, acting, config));
  }

  /** The same, with whatever else is written. */
  async keep(writer: StoreWriter, acting: Acting, config: PushConfig): Promise<void> {
    const { task, key } = await this.requireRoom(writer, acting, config);
    const state = isOver(task) ? 'open' : 'quiet';
    await this.#put(writer, task, key, { ...config, owner: acting.principal.id }, state);
  }

  /** A task is over: from now on its end is to be told to everybody who asked. */
  async ended(writer: StoreWriter, tenant: string, taskId: string): Promise<void> {
    const task = await this.#tasks.get(writer, tenant, taskId);
    if (task === undefined) return;
    for (const { key, content } of await this.#of(writer, task)) {
      await this.#put(writer, task, key, content, 'open');
    }
  }

  /** Where a config of the caller's own would be kept. `not-found` and `quota` as for `save`. */
  async requireRoom(
    reader: StoreReader,
    acting: Acting,
    { taskId, id }: Pick<PushConfig, 'taskId' | 'id'>,
  ): Promise<{ task: LiveTask; key: string }> {
    const { tenant, id: owner } = acting.principal;
    const task = await this.#open(reader, acting, taskId);
    const key = this.#key(tenant, { taskId, id, owner });
    const others = (await this.#of(reader, task)).filter((each) => each.key !== key);
    if (others.length >= limits.pushConfigs) throw tooMany();
    return { task, key };
  }

  /**
   * The caller's own for a task; for the agent that executes it those of everybody who still may
   * be told. Without a task: the ends that nobody has told in time, which are this call's to tell
   * from now on; no other gets them for a while.
   */
  load(acting: Acting, query: { taskId?: string | undefined }): Promise<PushConfig[]> {
    const { principal } = acting;
    if (query.taskId === undefined) return this.#takeUp(principal);
    const taskId = parse(foreignId, query.taskId, 'task');
    return this.#deps.store.read(async (reader) => {
      const task = await this.#tasks.get(reader, principal.tenant, taskId);
      const isAgent = task?.content.agent === principal.id;
      const known = isAgent ? task : await this.#open(reader, acting, taskId);
      const all = await this.#of(reader, known);
      const own = isAgent
        ? await this.#entitled(reader, known, all)
        : all.filter(({ content }) => content.owner === principal.id);
      return own.map(toConfig);
    });
  }

  /** Takes one of the caller's own away; gone already is as good. */
  delete(acting: Acting, taskId: string, id: string): Promise<void> {
    const config = {
      taskId: parse(foreignId, taskId, 'task'),
      id: parse(foreignId, id, 'push config'),
      owner: acting.principal.id,
    };
    return this.#deps.store.write(async (writer) => {
      await this.#open(writer, acting, config.taskId);
      const key = this.#key(acting.principal.tenant, config);
      await writer.deleteRecord({ kind: configRecords.kind, key });
    });
  }

  /** The agent's word that the end of the task was told to this one, or was given up. */
  settle(acting: Acting, config: { taskId: string; id: string; owner: string }): Promise<void> {
    const { tenant } = acting.principal;
    return this.#deps.store.write(async (writer) => {
      const task = await this.#tasks.get(writer, tenant, parse(foreignId, config.taskId, 'task'));
      const refusal = () => notFound('task', config.taskId);
      const object = task && { tenant, agent: task.content.agent };
      authorize(executing(acting), 'execute', object, refusal);
      if (task === undefined || !isOver(task)) return;
      const key = this.#key(tenant, config);
      const found = (await this.#of(writer, task)).find((each) => each.key === key);
      if (found !== undefined) await this.#put(writer, task, key, found.content, 'quiet');
    });
  }

  /** The task, where the caller may have itself told of it, through its own agent alone. */
  async #open(reader: StoreReader, acting: Acting, taskId: string): Promise<LiveTask> {
    const { principal, via } = acting;
    const refusal = () => notFound('task', taskId);
    const task = await this.#tasks.get(reader, principal.tenant, taskId);
    const context = await this.#contexts.byRef(reader, principal, task?.shape.ref);
    authorize(principal, 'push', task && guardTask(task, context), refusal);
    if (task === undefined) throw refusal();
    if (via !== undefined) {
      const { tenant } = principal;
      authorize(via, 'execute', { tenant, agent: task.content.agent }, refusal);
    }
    return task;
  }

  /** A right that has ended since is told of nothing more. */
  async #entitled(
    reader: StoreReader,
    task: LiveTask,
    configs: readonly Config[],
  ): Promise<Config[]> {
    const { tenant } = task.content;
    const entitled: Config[] = [];
    for (const config of configs) {
      const owner: Principal = { tenant, id: config.content.owner, role: 'caller' };
      const context = await this.#contexts.byRef(reader, owner, task.shape.ref);
      if (may(owner, 'push', guardTask(task, context))) entitled.push(config);
    }
    return entitled;
  }

  /** Ends that are to be told now, each given to one who asks until its time is over. */
  async #takeUp(agent: Principal): Promise<PushConfig[]> {
    const some = await this.#deps.store.read((reader) => this.#due(reader, agent, 1));
    if (some.length === 0) return [];
    return this.#deps.store.write(async (writer) => {
      const taken: PushConfig[] = [];
      for (const config of await this.#due(writer, agent, maxDue)) {
        const task = await this.#tasks.get(writer, agent.tenant, config.content.taskId);
        if (task === undefined) continue;
        const isToBeTold =
          isOver(task) && (await this.#entitled(writer, task, [config])).length > 0;
        if (isToBeTold) taken.push(toConfig(config));
        await this.#put(writer, task, config.key, config.content, 'open');
      }
      return taken;
    });
  }

  async #due(reader: StoreReader, agent: Principal, limit: number): Promise<Config[]> {
    const boxes = new CaseBoxes(this.#deps.vault, reader);
    const index = { open: this.#openFor(agent.tenant, agent.id) };
    const to = this.#deps.now().getTime();
    const query = { index, ascending: true, limit, to };
    return (await configRecords.find(reader, boxes.for, query)).filter(isConfig);
  }

  async #of(reader: StoreReader, { content, shape }: LiveTask): Promise<Config[]> {
    const box = await this.#deps.vault.caseBox(reader, shape.activity);
    const index = { task: this.#tasks.key(content.tenant, content.id) };
    const query = { index, ascending: true, limit: limits.pushConfigs };
    const found = await configRecords.find(reader, () => box, query);
    return found.filter(isConfig);
  }

  async #put(
    writer: StoreWriter,
    task: LiveTask,
    key: string,
    config: PushConfig & { owner: string },
    state: 'open' | 'quiet',
  ): Promise<void> {
    const { tenant, id, agent } = task.content;
    const { activity } = task.shape;
    await configRecords.put(writer, await this.#deps.vault.caseBoxFor(writer, activity), {
      key,
      sort: this.#deps.now().getTime() + this.#deps.leaseMs * leases,
      index: {
        task: this.#tasks.key(tenant, id),
        context: task.shape.ref,
        ...(state === 'open' ? { open: this.#openFor(tenant, agent) } : {}),
      },
      activity,
      shape: { activity },
      content: { ...config, agent },
    });
  }

  #key(tenant: string, config: { taskId: string; owner: string; id: string }): string {
    const { taskId, owner, id } = config;
    return this.#deps.vault.blind('push-config', tenant, taskId, owner, id);
  }

  #openFor(tenant: string, agent: string): string {
    return this.#deps.vault.blind('push-open', tenant, agent);
  }
}

const isConfig = (stored: Stored): stored is Config => stored.content !== undefined;

const toConfig = ({ content: { agent: _agent, ...config } }: Config): PushConfig => config;

const tooMany = (): ThroughlineError =>
  new ThroughlineError(
    'quota',
    `push config: the task has ${limits.pushConfigs} already; delete one of them first`,
    { details: { limit: limits.pushConfigs } },
  );
