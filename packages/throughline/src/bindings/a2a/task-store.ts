import {
  Task,
  TaskState,
  type ListTasksRequest,
  type ListTasksResponse,
  type Message,
} from '@a2a-js/sdk';
import type { ServerCallContext, TaskStore } from '@a2a-js/sdk/server';
import { z } from 'zod';
import { ThroughlineError } from '../../errors.ts';
import type { AdmissionRequest } from '../../model/admission.ts';
import type { Envelope } from '../../model/envelope.ts';
import { timestamp } from '../../model/ids.ts';
import type { Observation, Party } from '../../model/observation.ts';
import { principalSchema, type Caller, type Principal } from '../../model/principal.ts';
import type { PushConfig } from '../../model/push-config.ts';
import { taskQuerySchema, type TaskQuery, type TaskRecord } from '../../model/task-record.ts';
import { callerOf } from './call.ts';
import { messageSeen, TaskChanges, type Peers, type Seen } from './changes.ts';
import { sortedJson } from './digest.ts';
import { mergeTask, unionHistory } from './merge.ts';
import { objectiveOf } from './notes.ts';
import type { A2aPorts } from './ports.ts';
import { retrying, retryingWrite, type Backoff } from './retry.ts';
import { isFinal, stateFromWire, stateOf } from './wire.ts';

/** A message whose arrival is not in the graph yet: told together with the next write. */
export interface Arrival {
  readonly message: Message;
  readonly caller: Caller;
  readonly client: Party;
  readonly envelope: Envelope | undefined;
  /** What the hub was asked when it let it in. */
  readonly admission?: AdmissionRequest | undefined;
  /** Where its sender wants to be told of the task. */
  readonly push?: Omit<PushConfig, 'taskId'> | undefined;
}

/** What the work on one task keeps of it between two writes. */
export class Work {
  readonly agent: Caller;
  readonly peers: Omit<Peers, 'client'>;
  /** As stored; undefined until the first write. */
  record: TaskRecord | undefined;
  changes: TaskChanges | undefined;
  arrivals: readonly Arrival[] = [];
  client: Party;
  /** Whose message is worked on; a restart needs to know. */
  sender: Sender | undefined;
  envelope: Envelope | undefined;
  /** Taken up after a restart and not written yet: whoever wrote in between is right. */
  yields: boolean;

  constructor(options: {
    agent: Caller;
    peers: Omit<Peers, 'client'>;
    client: Party;
    sender?: Sender;
    record: TaskRecord | undefined;
    resumed: boolean;
  }) {
    this.agent = options.agent;
    this.peers = options.peers;
    this.client = options.client;
    this.sender = options.sender;
    this.record = options.record;
    this.yields = options.resumed;
  }

  arrive(arrival: Arrival): void {
    this.arrivals = [...this.arrivals, arrival];
    this.client = arrival.client;
    this.sender = arrival.caller.principal;
    this.envelope = arrival.envelope;
  }

  seen(contextId: string, now: Date): Seen {
    return { ...this.peers, client: this.client, envelope: this.envelope, contextId, now };
  }
}

/**
 * Record → task of the wire, under the name by which whoever loaded it knows the context. Throws
 * `damaged` when the body is not that task.
 */
export function taskOf({ id, contextId, body }: TaskRecord): Task {
  const task = Task.fromJSON(structuredClone(body ?? {}));
  if (task.id !== id) {
    throw new ThroughlineError('damaged', `the record of task ${id} does not hold that task`);
  }
  const stored = task.contextId;
  if (stored === contextId) return task;
  const named = (message: Message): Message =>
    message.contextId === stored ? { ...message, contextId } : message;
  const { status } = task;
  const said = status?.message;
  return {
    ...task,
    contextId,
    history: task.history.map(named),
    status: status && said !== undefined ? { ...status, message: named(said) } : status,
  };
}

type Sender = Pick<Principal, 'id' | 'role'>;

/** Beside the wire's own fields in a record's body, which readers of the task do not see. */
const senderSchema = z.object({ sender: principalSchema.pick({ id: true, role: true }) });

const bodyOf = (task: Task, sender: Sender | undefined): unknown => ({
  ...Object(Task.toJSON(task)),
  ...(sender === undefined ? {} : senderSchema.parse({ sender })),
});

/**
 * Whose message a stored task was working on; undefined when nobody can say. A later message may be
 * from somebody else than the owner, whose message began the task.
 */
export function senderOf(
  { body, owner, messageId }: TaskRecord,
  message: Message,
): Sender | undefined {
  const kept = senderSchema.safeParse(body);
  if (kept.success) return kept.data.sender;
  if (owner === undefined || message.messageId !== messageId) return undefined;
  return { id: owner, role: 'caller' };
}

/**
 * The SDK's task store over the hub's ports. A call's context reads with its caller's rights. The
 * context of a live task (`attach`) writes: each write carries the version it was based on and the
 * observations of what changed.
 */
export class A2aTaskStore implements TaskStore {
  readonly #ports: A2aPorts;
  readonly #now: () => Date;
  readonly #backoff: Backoff;
  readonly #worker: string | undefined;
  readonly #works = new WeakMap<ServerCallContext, Work>();

  /** `worker`: the process that writes, where the hub knows of it. */
  constructor(ports: A2aPorts, now: () => Date, backoff: Backoff, worker?: string) {
    this.#ports = ports;
    this.#now = now;
    this.#worker = worker;
    this.#backoff = backoff;
  }

  /** From now on this context reads and writes the task of that work. */
  attach(context: ServerCallContext, work: Work): void {
    this.#works.set(context, work);
    if (work.record === undefined) {
      work.changes = TaskChanges.ofNew();
    } else {
      const task = taskOf(work.record);
      work.changes = TaskChanges.ofStored(work.seen(task.contextId, this.#now()), task);
    }
  }

  async load(taskId: string, context: ServerCallContext): Promise<Task | undefined> {
    const work = this.#works.get(context);
    const record =
      work === undefined ? await this.#ports.loadTask(callerOf(context), taskId) : work.record;
    return record?.id === taskId ? taskOf(record) : undefined;
  }

  async save(task: Task, context: ServerCallContext): Promise<void> {
    const work = this.#works.get(context);
    if (work === undefined) {
      throw new ThroughlineError('internal', `task ${task.id} may only be written by its own work`);
    }
    const known = work.record === undefined ? undefined : taskOf(work.record);
    const history = unionHistory(known?.history ?? [], task.history ?? []);
    const next = this.#timed({ ...task, artifacts: task.artifacts ?? [], history });
    try {
      await this.#write(work, next, work.record?.version ?? 0);
    } catch (error) {
      const conflict = error instanceof ThroughlineError && error.code === 'conflict';
      if (!conflict || known === undefined || work.yields) throw error;
      await this.#writeMerged(work, known, next, error);
    }
  }

  async list(params: ListTasksRequest, context: ServerCallContext): Promise<ListTasksResponse> {
    const query = queryOf(params);
    const page = await this.#ports.listTasks(callerOf(context), query);
    const tasks = page.tasks.map(taskOf);
    return {
      tasks: params.includeArtifacts === true ? tasks : tasks.map((t) => ({ ...t, artifacts: [] })),
      nextPageToken: page.cursor ?? '',
      pageSize: query.pageSize ?? tasks.length,
      totalSize: page.total,
    };
  }

  /** Somebody else wrote meanwhile: our changes go onto theirs, once, where both can stand. */
  async #writeMerged(work: Work, base: Task, ours: Task, conflict: unknown): Promise<void> {
    const stored = await this.#stored(work, ours.id);
    if (stored === undefined) throw conflict;
    const theirs = taskOf({ ...stored, contextId: ours.contextId });
    if (isFinal(stateOf(theirs))) {
      throw new ThroughlineError('terminal', `task ${ours.id} is over`);
    }
    const merged = mergeTask(base, ours, theirs);
    if (merged === undefined) throw conflict;
    await this.#write(work, merged, stored.version);
  }

  async #write(work: Work, task: Task, version: number): Promise<void> {
    const [opening] = work.arrivals;
    const objective = opening === undefined ? undefined : objectiveOf(opening.message);
    const seen = work.seen(task.contextId, this.#now());
    const { observations, told } = (work.changes ?? TaskChanges.ofNew()).next(
      seen,
      task,
      work.record === undefined ? objective : undefined,
    );
    const messageId = work.record?.messageId ?? opening?.message.messageId;
    const record: TaskRecord = {
      id: task.id,
      contextId: task.contextId,
      agent: work.agent.principal.id,
      version,
      ...stateOf(task),
      statusAt: task.status?.timestamp ?? this.#now().toISOString(),
      ...(messageId === undefined ? {} : { messageId }),
      ...(work.record?.owner === undefined ? {} : { owner: work.record.owner }),
      ...(this.#worker === undefined ? {} : { worker: this.#worker }),
      body: bodyOf(task, work.sender),
    };
    const arrivals = work.arrivals.map((arrival) => this.#arrived(work, task, arrival));
    const pushConfigs = work.arrivals.flatMap(({ push }) =>
      push === undefined ? [] : [{ ...push, taskId: task.id }],
    );
    const caller = opening?.caller ?? work.agent;
    const written = await retryingWrite(
      this.#backoff,
      () => this.#ports.saveTask(caller, record, [...arrivals, ...observations], pushConfigs),
      async () => {
        const stored = await this.#ports.loadTask(work.agent, record.id);
        return stored !== undefined && isWritten(record, stored) ? stored : undefined;
      },
    );
    work.record = { ...record, version: written.version };
    work.changes = told;
    work.arrivals = [];
    work.yields = false;
  }

  #stored(work: Work, taskId: string): Promise<TaskRecord | undefined> {
    return retrying(this.#backoff, () => this.#ports.loadTask(work.agent, taskId));
  }

  #arrived(work: Work, task: Task, { message, client, envelope }: Arrival): Observation {
    const seen = { ...work.seen(task.contextId, this.#now()), client, envelope };
    return messageSeen(seen, message, task.id);
  }

  /** A status without a readable time is from now. */
  #timed(task: Task): Task {
    if (task.status === undefined || timestamp.safeParse(task.status.timestamp).success)
      return task;
    return { ...task, status: { ...task.status, timestamp: this.#now().toISOString() } };
  }
}

/** What is stored is what we wrote, and nobody wrote after us. */
const isWritten = (ours: TaskRecord, stored: TaskRecord): boolean =>
  stored.version === ours.version + 1 && sortedJson(stored.body) === sortedJson(ours.body);

function queryOf(params: ListTasksRequest): TaskQuery {
  const state = stateFromWire(params.status);
  if (state === undefined && params.status !== TaskState.TASK_STATE_UNSPECIFIED) {
    throw new ThroughlineError('invalid', 'list filter status: is no state of A2A 1.0');
  }
  const parsed = taskQuerySchema.safeParse({
    ...(params.contextId === '' ? {} : { contextId: params.contextId }),
    ...state,
    ...(params.statusTimestampAfter === undefined
      ? {}
      : { statusFrom: params.statusTimestampAfter }),
    ...(params.pageSize === undefined ? {} : { pageSize: params.pageSize }),
    ...(params.pageToken === '' ? {} : { cursor: params.pageToken }),
  });
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new ThroughlineError(
    'invalid',
    `list filter ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is malformed'}`,
  );
}
