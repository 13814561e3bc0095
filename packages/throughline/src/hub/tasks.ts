import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import {
  finalTaskStates,
  foreignId,
  limits,
  observationSchema,
  pushConfigSchema,
  taskRecordSchema,
  utf8Length,
  type Observation,
  type Principal,
  type PushConfig,
  type TaskRecord,
} from '../model/index.ts';
import type { StoreReader, StoreWriter } from '../store/store.ts';
import { measure } from '../telemetry/measure.ts';
import { executing, type Acting } from './acting.ts';
import { authorize, may, type Action } from './authorize.ts';
import type { Context, Contexts } from './contexts.ts';
import type { Deps } from './deps.ts';
import type { Message, Messages } from './messages.ts';
import type { PushConfigs } from './push-configs.ts';
import { recordObservations, type Registries, type Vantage } from './observing.ts';
import { contextRefused, notFound, parse } from './refusals.ts';
import type { Quotas } from './quotas.ts';
import type { Replies } from './replies.ts';
import {
  contextName,
  guardTask,
  isOver,
  needsWorker,
  toTaskRecord,
  type LiveTask,
  type TaskShape,
  type TaskStore,
} from './task-records.ts';
import type { Workers } from './workers.ts';

export const observationsSchema = z.array(observationSchema).max(limits.statements);
const ownConfigs = z.array(pushConfigSchema).max(limits.pushConfigs);
const replySchema = z.object({
  agent: foreignId,
  messageId: foreignId,
  contextId: foreignId,
  reply: z.unknown(),
});
export type Reply = z.infer<typeof replySchema>;

export interface TaskParts {
  readonly contexts: Contexts;
  readonly messages: Messages;
  readonly replies: Replies;
  readonly tasks: TaskStore;
  readonly registries: Registries;
  readonly quotas: Quotas;
  readonly push: PushConfigs;
  readonly workers: Workers;
}

/** Task records and replies: written by the executing agent, together with what was observed. */
export class Tasks {
  readonly #deps: Deps;
  readonly #parts: TaskParts;

  constructor(deps: Deps, parts: TaskParts) {
    this.#deps = deps;
    this.#parts = parts;
  }

  /** Undefined: not there, or not for this caller and action. */
  load(
    { principal }: Acting,
    taskId: string,
    action: Action = 'get',
  ): Promise<TaskRecord | undefined> {
    const id = parse(foreignId, taskId, 'taskId');
    return this.#deps.store.read(async (reader) => {
      const task = await this.#parts.tasks.get(reader, principal.tenant, id);
      const context = await this.#contextOf(reader, principal, task);
      const { audience } = principal;
      if (audience !== undefined && task?.content.agent !== audience) return undefined;
      if (task === undefined || !may(principal, action, guardTask(task, context))) return undefined;
      return toTaskRecord(task, contextName(task, context, principal.id));
    });
  }

  async save(
    acting: Acting,
    given: TaskRecord,
    observations: readonly Observation[],
    pushConfigs: readonly PushConfig[] = [],
  ): Promise<{ version: number }> {
    const record = parse(taskRecordSchema, given, 'task record');
    const seen = parse(observationsSchema, observations, 'observations');
    const configs = parse(ownConfigs, pushConfigs, 'push configs');
    const reserve = finalTaskStates.includes(record.state) ? 0 : limits.taskReserveBytes;
    checkSize(record.body, 'task record: body', limits.taskBytes - reserve);
    this.#checkPresenter(acting, record.agent);
    const saved = await this.#deps.store.write(async (writer) => {
      const written = await this.#save(writer, acting, record, seen);
      for (const config of configs) {
        await this.#parts.push.keep(writer, acting, { ...config, taskId: record.id });
      }
      if (finalTaskStates.includes(record.state)) {
        await this.#parts.push.ended(writer, acting.principal.tenant, record.id);
      }
      return written;
    });
    measure('throughline.tasks.saved', 1, { state: record.state });
    return saved;
  }

  async #save(
    writer: StoreWriter,
    acting: Acting,
    record: TaskRecord,
    seen: readonly Observation[],
  ): Promise<{ version: number }> {
    const stored = await this.#parts.tasks.get(writer, acting.principal.tenant, record.id);
    const context = await this.#contextOf(writer, acting.principal, stored);
    if (stored && context && mayWrite(acting, record, stored, context)) {
      return this.#update(writer, acting, { record, stored, context }, seen);
    }
    // To whoever may not write it, a stored task is like none.
    if (record.version !== 0) throw notFound('task', record.id);
    return this.#begin(writer, acting, { record, isTaken: stored !== undefined }, seen);
  }

  async saveReply(
    acting: Acting,
    given: Reply,
    observations: readonly Observation[],
  ): Promise<void> {
    const reply = parse(replySchema, given, 'reply');
    const seen = parse(observationsSchema, observations, 'observations');
    checkSize(reply.reply, 'reply', limits.messageBytes);
    this.#checkPresenter(acting, reply.agent);
    await this.#deps.store.write(async (writer) => {
      const message = await this.#admitted(writer, acting, reply);
      const vantage = await this.#vantage(writer, acting, reply.agent, message, seen);
      const { activity } = await recordObservations(
        this.#deps,
        this.#parts.registries,
        writer,
        seen,
        vantage,
      );
      if (activity === undefined) throw unobserved('reply');
      const { taskTtlMs } = this.#deps.terms;
      const until = taskTtlMs === undefined ? undefined : this.#deps.now().getTime() + taskTtlMs;
      await this.#parts.replies.put(writer, message, activity, reply.reply, until);
      await this.#parts.messages.answered(writer, message, until);
    });
  }

  /** First record of a task: the message that was let in says whose it is. */
  async #begin(
    writer: StoreWriter,
    acting: Acting,
    { record, isTaken }: { record: TaskRecord; isTaken: boolean },
    seen: readonly Observation[],
  ): Promise<{ version: number }> {
    const { messageId, agent, contextId } = record;
    if (messageId === undefined) {
      throw new ThroughlineError(
        'invalid',
        'task record: messageId names the message that began it',
      );
    }
    const message = await this.#admitted(writer, acting, { agent, messageId, contextId });
    if ((message.content?.taskId ?? record.id) !== record.id) {
      throw new ThroughlineError('conflict', 'messageId: belongs to another task already');
    }
    if (isTaken) throw new ThroughlineError('conflict', 'id: is taken; make a new one');
    const vantage = await this.#vantage(writer, acting, agent, message, seen);
    if (!finalTaskStates.includes(record.state)) {
      const { tenant, client } = vantage;
      await this.#parts.quotas.check(writer, 'openTasks', { tenant, id: client });
    }
    const born = (await writer.head()).seq + 1;
    const observed = await this.#observe(writer, record, seen, vantage);
    const { context, client: owner, tenant } = vantage;
    if (context === undefined) throw contextRefused(contextId);
    const working = await this.#working(writer, record, tenant);
    const version = await this.#parts.tasks.put(
      writer,
      { ...this.#status(record), ...observed, ...working, ref: context.ref, born },
      {
        tenant,
        id: record.id,
        contextId: context.contextId,
        agent,
        owner,
        caseOwner: context.owner,
        messageId,
        body: record.body,
      },
      0,
    );
    await this.#parts.messages.settle(writer, message, record.id);
    return { version };
  }

  async #update(
    writer: StoreWriter,
    acting: Acting,
    { record, stored, context }: { record: TaskRecord; stored: LiveTask; context: Context },
    seen: readonly Observation[],
  ): Promise<{ version: number }> {
    const { principal } = acting;
    const { content, shape } = stored;
    if (isOver(stored)) {
      throw new ThroughlineError(
        'terminal',
        `task ${JSON.stringify(record.id)} is ${shape.state}; a task that is over does not change`,
      );
    }
    if (record.version !== stored.version) throw staleVersion(stored.version);
    const working = await this.#working(writer, record, content.tenant, shape);
    if (![content.contextId, context.ref].includes(record.contextId)) {
      throw new ThroughlineError('invalid', 'contextId: a task stays in the context it began in');
    }
    const client = principal.id === content.agent ? content.owner : principal.id;
    const vantage = {
      tenant: content.tenant,
      observer: content.agent,
      client,
      authenticated: principal,
      server: content.agent,
      context,
      task: shape.task,
      references: await this.#references(
        writer,
        { ...principal, id: client, role: 'caller' },
        seen,
      ),
    };
    await recordObservations(this.#deps, this.#parts.registries, writer, seen, vantage);
    const { ref, activity, task, born, made } = shape;
    const version = await this.#parts.tasks.put(
      writer,
      { ...this.#status(record), ...working, ref, activity, task, born, made },
      { ...content, body: record.body },
      stored.version,
    );
    return { version };
  }

  /**
   * Whose process works on it: the one that writes, or the one that did. One that it was taken from
   * writes no more as long as somebody must be at work on it.
   */
  async #working(
    writer: StoreWriter,
    record: TaskRecord,
    tenant: string,
    { worker: before, lost, taking, ...stored }: Partial<TaskShape> = {},
  ): Promise<Pick<TaskShape, 'worker' | 'lost' | 'taking'>> {
    const { agent: id, worker: name } = record;
    const agent: Principal = { tenant, id, role: 'agent' };
    const worker =
      name === undefined ? before : await this.#parts.workers.ensure(writer, agent, name, before);
    if (worker === undefined) return {};
    const isOpen = stored.state !== undefined && needsWorker({ ...stored, state: stored.state });
    if (isOpen && name !== undefined && lost?.includes(worker) === true) {
      throw new ThroughlineError('conflict', 'worker: another process has taken the task up');
    }
    if (!needsWorker(record)) return { worker };
    return { worker, ...(isOpen && lost ? { lost } : {}), ...(taking ? { taking } : {}) };
  }

  /** The message that an agent answers, as it was let in to that agent; nobody else's. */
  async #admitted(
    reader: StoreReader,
    acting: Acting,
    wanted: { agent: string; messageId: string; contextId: string },
  ): Promise<Message> {
    const { agent, messageId, contextId } = wanted;
    const { messages } = this.#parts;
    const by: Principal = { tenant: acting.principal.tenant, id: agent, role: 'agent' };
    const own = await messages.get(reader, acting.principal, messageId);
    const found =
      own !== undefined && messages.isFor(own, by, contextId)
        ? own
        : executing(acting).id === agent
          ? await messages.admittedTo(reader, by, contextId, messageId)
          : undefined;
    if (found?.content === undefined) throw contextRefused(contextId);
    if (found.shape.settled) {
      throw new ThroughlineError('conflict', 'messageId: led to a task or reply before this one');
    }
    return found;
  }

  async #vantage(
    reader: StoreReader,
    { principal }: Acting,
    agent: string,
    message: Message,
    seen: readonly Observation[],
  ): Promise<Vantage> {
    const client = message.content?.caller ?? principal.id;
    const sender: Principal = { tenant: principal.tenant, id: client, role: 'caller' };
    const context = await this.#parts.contexts.byRef(reader, sender, message.shape.ref);
    const references = await this.#references(reader, sender, seen);
    const { tenant } = principal;
    const authenticated = principal;
    return { tenant, observer: agent, client, authenticated, server: agent, context, references };
  }

  async #observe(
    writer: StoreWriter,
    record: TaskRecord,
    seen: readonly Observation[],
    vantage: Vantage,
  ): Promise<{ activity: string; task: string }> {
    const { registries } = this.#parts;
    const observed = await recordObservations(this.#deps, registries, writer, seen, vantage);
    const task = observed.tasks.get(record.id);
    if (task === undefined || observed.activity === undefined) throw unobserved('task');
    return { activity: observed.activity, task };
  }

  /** Our ids of the tasks that a message refers to, as far as its sender may read them. */
  async #references(
    reader: StoreReader,
    sender: Principal,
    seen: readonly Observation[],
  ): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    for (const id of seen.flatMap((o) => (o.kind === 'message' ? o.referenceTaskIds : []))) {
      const task = await this.#parts.tasks.get(reader, sender.tenant, id);
      const context = await this.#contextOf(reader, sender, task);
      if (task !== undefined && may(sender, 'get', guardTask(task, context))) {
        found.set(id, task.shape.task);
      }
    }
    return found;
  }

  async #contextOf(
    reader: StoreReader,
    principal: Principal,
    task: LiveTask | undefined,
  ): Promise<Context | undefined> {
    return this.#parts.contexts.byRef(reader, principal, task?.shape.ref);
  }

  /** An agent process writes for itself alone, whoever's credential it presents. */
  #checkPresenter({ via, principal }: Acting, agent: string): void {
    if (via === undefined) return;
    const object = { tenant: principal.tenant, agent };
    authorize(via, 'execute', object, () => notFound('agent', agent));
  }

  /** A clock that runs ahead does not put a task before those that are really later. */
  #status({ state, awaiting, statusAt }: TaskRecord) {
    const now = this.#deps.now();
    const at = Date.parse(statusAt) > now.getTime() ? now.toISOString() : statusAt;
    return { state, statusAt: at, ...(awaiting === undefined ? {} : { awaiting }) };
  }
}

/** The agent that executes it, for whomever; or, in the agent's own process, who may send there. */
function mayWrite(
  acting: Acting,
  { agent }: TaskRecord,
  stored: LiveTask,
  context: Context,
): boolean {
  if (agent !== stored.content.agent) return false;
  return (
    executing(acting).id === agent || may(acting.principal, 'send', guardTask(stored, context))
  );
}

const staleVersion = (version: number) =>
  new ThroughlineError(
    'conflict',
    `version: the stored one is ${version}; load the task again and apply the change to that`,
    { details: { version } },
  );

const unobserved = (what: string) =>
  new ThroughlineError(
    'invalid',
    `observations: say nothing of this ${what}; send what was observed with its first record`,
  );

function checkSize(value: unknown, what: string, limit: number): void {
  if (utf8Length(JSON.stringify(value) ?? '') > limit) {
    throw new ThroughlineError('too-large', `${what}: is over ${limit} bytes`, {
      details: { limit },
    });
  }
}
