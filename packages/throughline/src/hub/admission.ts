import { ThroughlineError } from '../errors.ts';
import {
  admissionRequestSchema,
  limits,
  utf8Length,
  type Admission,
  type AdmissionRequest,
  type Principal,
} from '../model/index.ts';
import type { StoreReader, StoreWriter } from '../store/store.ts';
import { measure } from '../telemetry/measure.ts';
import type { Acting } from './acting.ts';
import { authorize } from './authorize.ts';
import { guarded, nameFor, type Context, type Contexts } from './contexts.ts';
import type { Deps } from './deps.ts';
import type { Message, Messages } from './messages.ts';
import { contextRefused, notFound, parse } from './refusals.ts';
import type { PushConfigs } from './push-configs.ts';
import type { Quotas } from './quotas.ts';
import { workerKey } from './worker-keys.ts';
import type { Workers } from './workers.ts';
import type { Replies } from './replies.ts';
import { contextName, guardTask, isOver, type LiveTask, type TaskStore } from './task-records.ts';

interface Parts {
  readonly contexts: Contexts;
  readonly messages: Messages;
  readonly tasks: TaskStore;
  readonly replies: Replies;
  readonly quotas: Quotas;
  readonly push: PushConfigs;
  readonly workers: Workers;
}

interface Wanted {
  readonly context: Context | undefined;
  readonly task: LiveTask | undefined;
}

/** Decides whether a message comes in; writes that down in the same transaction, or nothing at all. */
export class Admissions {
  readonly #deps: Deps;
  readonly #contexts: Contexts;
  readonly #messages: Messages;
  readonly #tasks: TaskStore;
  readonly #replies: Replies;
  readonly #quotas: Quotas;
  readonly #push: PushConfigs;
  readonly #workers: Workers;

  constructor(deps: Deps, parts: Parts) {
    this.#deps = deps;
    this.#contexts = parts.contexts;
    this.#messages = parts.messages;
    this.#tasks = parts.tasks;
    this.#replies = parts.replies;
    this.#quotas = parts.quotas;
    this.#push = parts.push;
    this.#workers = parts.workers;
  }

  async admit(acting: Acting, given: AdmissionRequest): Promise<Admission> {
    let outcome: Admission['kind'] | 'refused' = 'refused';
    try {
      const admission = await this.#decide(acting, given);
      outcome = admission.kind;
      return admission;
    } finally {
      measure('throughline.admissions', 1, { outcome });
    }
  }

  async #decide(acting: Acting, given: AdmissionRequest): Promise<Admission> {
    const { principal, via } = acting;
    const request = parse(admissionRequestSchema, given, 'admission');
    if (via !== undefined && (via.id !== request.agent || via.tenant !== principal.tenant)) {
      throw notFound('agent', request.agent);
    }
    return this.#deps.store.write(async (writer) => {
      const wanted = await this.#resolve(writer, principal, request);
      await this.#checkReferences(writer, principal, request);
      const before = await this.#messages.get(writer, principal, request.messageId);
      if (before !== undefined) return this.#again(writer, principal, request, before);
      const { taskId, pushConfig } = request;
      if (taskId !== undefined && pushConfig !== undefined) {
        await this.#push.requireRoom(writer, acting, { taskId, id: pushConfig });
      }
      return this.#first(writer, principal, request, wanted);
    });
  }

  /** The context and task meant, with the caller's right to send there. Reads only. */
  async #resolve(
    reader: StoreReader,
    principal: Principal,
    request: AdmissionRequest,
  ): Promise<Wanted> {
    const { contextId, taskId } = request;
    if (taskId !== undefined) return this.#resolveTask(reader, principal, request, taskId);
    if (contextId === undefined) return { context: undefined, task: undefined };
    const context = await this.#contexts.lookup(reader, principal, contextId);
    const isNew = await this.#contexts.adoptable(reader, principal, contextId);
    if (context === undefined && isNew) {
      return { context: undefined, task: undefined };
    }
    return { context: this.#open(principal, context, contextId), task: undefined };
  }

  async #resolveTask(
    reader: StoreReader,
    principal: Principal,
    { agent, contextId }: AdmissionRequest,
    taskId: string,
  ): Promise<Wanted> {
    const refusal = () => notFound('task', taskId);
    const task = await this.#tasks.get(reader, principal.tenant, taskId);
    const context = await this.#contexts.byRef(reader, principal, task?.shape.ref);
    authorize(principal, 'get', task && guardTask(task, context), refusal);
    if (task === undefined || task.content.agent !== agent) throw refusal();
    // A task that one may read can outlive its context: it is there, and takes nothing more.
    if (context === undefined) {
      throw contextRefused(contextId ?? contextName(task, context, principal.id));
    }
    const names = [nameFor(context, principal.id), context.ref];
    if (contextId !== undefined && !names.includes(contextId)) {
      throw new ThroughlineError(
        'invalid',
        'contextId: is not the context of that task; send the taskId alone or with its own contextId',
      );
    }
    return {
      context: this.#open(principal, context, contextId ?? nameFor(context, principal.id)),
      task,
    };
  }

  #open(principal: Principal, context: Context | undefined, contextId: string): Context {
    const refusal = () => contextRefused(contextId);
    authorize(principal, 'send', context && guarded(context), refusal);
    if (context === undefined || context.expired) throw refusal();
    return context;
  }

  async #checkReferences(reader: StoreReader, principal: Principal, request: AdmissionRequest) {
    for (const id of request.referenceTaskIds) {
      const task = await this.#tasks.get(reader, principal.tenant, id);
      const context = await this.#contexts.byRef(reader, principal, task?.shape.ref);
      authorize(principal, 'get', task && guardTask(task, context), () =>
        notFound('referenced task', id),
      );
    }
  }

  /** A messageId that was here before. */
  async #again(
    writer: StoreWriter,
    principal: Principal,
    request: AdmissionRequest,
    message: Message,
  ): Promise<Admission> {
    const context = await this.#contexts.byRef(writer, principal, message.shape.ref);
    const called = message.content?.contextId ?? request.contextId ?? '';
    const open = this.#open(principal, context, called);
    if (!this.#messages.same(message, principal, request)) {
      throw new ThroughlineError(
        'conflict',
        'messageId: was used before for another message; give each message an id of its own',
      );
    }
    const contextId = called === '' ? nameFor(open, principal.id) : called;
    const taskId = message.content?.taskId;
    const done = message.shape.settled || (await this.#wentOn(writer, principal, message));
    if (!done && !(await this.#isUnderWay(writer, message))) {
      await this.#messages.renew(writer, message, this.#workerOf(principal, request));
      return { kind: 'new', contextId, issued: false };
    }
    const reply = await this.#replies.get(writer, message);
    return {
      kind: 'replay',
      contextId,
      ...(taskId === undefined ? {} : { taskId }),
      ...(reply === undefined ? {} : { reply: reply.value }),
    };
  }

  /** Its lease runs, and the process that has it is not known to be gone. */
  async #isUnderWay(reader: StoreReader, message: Message): Promise<boolean> {
    if (!this.#messages.leased(message)) return false;
    const { worker } = message.shape;
    return worker === undefined || !(await this.#workers.isGone(reader, worker));
  }

  #workerOf({ tenant }: Principal, { agent, worker }: AdmissionRequest): string | undefined {
    return worker === undefined ? undefined : workerKey(this.#deps, { tenant, id: agent }, worker);
  }

  /** Whether the task that a message continues was written since the message came in. */
  async #wentOn(reader: StoreReader, principal: Principal, message: Message): Promise<boolean> {
    const { after } = message.shape;
    const taskId = message.content?.taskId;
    if (after === undefined || taskId === undefined) return false;
    const task = await this.#tasks.get(reader, principal.tenant, taskId);
    return task !== undefined && task.version > after;
  }

  async #first(
    writer: StoreWriter,
    principal: Principal,
    request: AdmissionRequest,
    { context: known, task }: Wanted,
  ): Promise<Admission> {
    const { agent, contextId: brought, taskId } = request;
    if (task !== undefined && known !== undefined && isOver(task)) {
      const goOn = nameFor(known, principal.id);
      throw new ThroughlineError(
        'terminal',
        `task ${JSON.stringify(task.content.id)} is ${task.shape.state} and takes no more messages; send without a taskId in context ${JSON.stringify(goOn)} to go on`,
        { details: { contextId: goOn } },
      );
    }
    if (task !== undefined && known !== undefined) {
      requireRoom(task, request, nameFor(known, principal.id));
    }
    await this.#quotas.check(writer, 'messagesPerMinute', principal);
    if (known === undefined) await this.#quotas.check(writer, 'contexts', principal);
    if (taskId === undefined) await this.#quotas.check(writer, 'openTasks', principal);
    if (known !== undefined) await this.#contexts.renew(writer, known);
    const context =
      known ??
      (brought === undefined
        ? await this.#contexts.issue(writer, principal, agent)
        : await this.#contexts.adopt(writer, principal, agent, brought));
    const contextId = brought ?? nameFor(context, principal.id);
    const after = task?.version;
    await this.#messages.keep(writer, principal, request, {
      ref: context.ref,
      contextId,
      taskId,
      after,
      worker: this.#workerOf(principal, request),
    });
    return { kind: 'new', contextId, issued: known === undefined && brought === undefined };
  }
}

/** Whatever is let in can be stored: with it the task stays under what one may hold. */
function requireRoom({ content }: LiveTask, { bytes = 0 }: AdmissionRequest, goOn: string): void {
  const held = utf8Length(JSON.stringify(content.body) ?? '');
  const limit = limits.taskBytes - limits.taskReserveBytes;
  if (held + bytes < limit) return;
  throw new ThroughlineError(
    'too-large',
    `task ${JSON.stringify(content.id)} holds ${held} bytes of the ${limit} that it may, too much for this message; send without a taskId in context ${JSON.stringify(goOn)} to go on`,
    { details: { limit, held, contextId: goOn } },
  );
}
