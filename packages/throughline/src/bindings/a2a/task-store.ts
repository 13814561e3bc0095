import {
  Task,
  TaskState,
  type ListTasksRequest,
  type ListTasksResponse,
  type Message,
} from '@a2a-js/sdk';
import type { ServerCallContext, TaskStore } from '@a2a-js/sdk/server';
import { ThroughlineError } from '../../errors.ts';
import type { Envelope } from '../../model/envelope.ts';
import { timestamp } from '../../model/ids.ts';
import type { Observation, Party } from '../../model/observation.ts';
import type { Caller } from '../../model/principal.ts';
import type { PushConfig } from '../../model/push-config.ts';
import { taskQuerySchema, type TaskQuery, type TaskRecord } from '../../model/task-record.ts';
import { callerOf } from './call.ts';
import { messageSeen, TaskChanges, type Peers, type Seen } from './changes.ts';
import { sortedJson } from './digest.ts';
import { mergeTask, unionHistory } from './merge.ts';
import { objectiveOf } from './notes.ts';
import type { A2aPorts, PushPorts } from './ports.ts';
import { retrying, type Backoff } from './retry.ts';
import { isFinal, stateFromWire, stateOf } from './wire.ts';

/** A message whose arrival is not in the graph yet: told together with the next write. */
export interface Arrival {
  readonly message: Message;
  readonly caller: Caller;
  readonly client: Party;
  readonly envelope: Envelope | undefined;
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
  envelope: Envelope | undefined;
  /** Taken up after a restart and not written yet: whoever wrote in between is right. */
  yields: boolean;

  constructor(options: {
    agent: Caller;
    peers: Omit<Peers, 'client'>;
    client: Party;
    record: TaskRecord | undefined;
    resumed: boolean;
  }) {
    this.agent = options.agent;
    this.peers = options.peers;
    this.client = options.client;
    this.record = options.record;
    this.yields = options.resumed;
  }

  arrive(arrival: Arrival): void {
    this.arrivals = [...this.arrivals, arrival];
    this.client = arrival.client;
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

const writing: Backoff = { attempts: 5, firstMs: 100, capMs: 2_000 };

/**
 * The SDK's task store over the hub's ports. A call's context reads with its caller's rights. The
 * context of a live task (`attach`) writes: each write carries the version it was based on and the
 * observations of what changed.
 */
export class A2aTaskStore implements TaskStore {
  readonly #ports: A2aPorts;
  readonly #now: () => Date;
  readonly #push: PushPorts | undefined;
  readonly #works = new WeakMap<ServerCallContext, Work>();

  constructor(ports: A2aPorts, now: () => Date, push?: PushPorts) {
    this.#ports = ports;
    this.#now = now;
    this.#push = push;
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
    const stored = await this.#ports.loadTask(work.agent, ours.id);
    if (stored === undefined) throw conflict;
    const theirs = taskOf({ ...stored, contextId: ours.contextId });
    if (sortedJson(Task.toJSON(theirs)) === sortedJson(Task.toJSON(ours))) {
      // Our own write, whose answer was lost.
      work.record = { ...stored, contextId: ours.contextId };
      return;
    }
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
      body: Task.toJSON(task),
    };
    const arrivals = work.arrivals.map((arrival) => this.#arrived(work, task, arrival));
    const caller = opening?.caller ?? work.agent;
    const written = await retrying(writing, () =>
      this.#ports.saveTask(caller, record, [...arrivals, ...observations]),
    );
    work.record = { ...record, version: written.version };
    await this.#askedToPush(task.id, work.arrivals);
    work.changes = told;
    work.arrivals = [];
    work.yields = false;
  }

  /** Before anybody is answered: whoever has the answer counts on being told. */
  async #askedToPush(taskId: string, arrivals: readonly Arrival[]): Promise<void> {
    for (const { push, caller } of arrivals) {
      if (push === undefined) continue;
      await retrying(writing, async () => this.#push?.savePushConfig(caller, { ...push, taskId }));
    }
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
