import { z } from 'zod';
import {
  awaitingWhat,
  finalTaskStates,
  foreignId,
  taskState,
  timestamp,
  type Principal,
  type TaskRecord,
} from '../model/index.ts';
import type { StoreReader, StoreWriter } from '../store/store.ts';
import { CaseBoxes } from './case-boxes.ts';
import type { Context } from './contexts.ts';
import type { Guarded } from './authorize.ts';
import type { Deps } from './deps.ts';
import { dropAll, Records, type Kept } from './records.ts';
import { workerKey } from './worker-keys.ts';

const shapeSchema = z.object({
  /** Context that it is in, by our id; fixed for life. */
  ref: z.string(),
  activity: z.string(),
  /** Our id of it in the graph. */
  task: z.string(),
  state: taskState,
  awaiting: awaitingWhat.optional(),
  statusAt: timestamp,
  /** Number of the first assertion about it: what a grant's fromSequence is held against. */
  born: z.int(),
  /** Process that works on it, those it was taken from, and the taking that it came by. */
  worker: z.string().optional(),
  lost: z.array(z.string()).optional(),
  taking: z.string().optional(),
  /** Its process is gone and nobody took it up. */
  doubted: z.boolean().optional(),
  /** Turn of the task clock at its first and at its latest write. */
  made: z.int(),
  changed: z.int(),
});
const contentSchema = z.object({
  tenant: foreignId,
  id: foreignId,
  /** As its owner calls it. */
  contextId: foreignId,
  agent: foreignId,
  owner: foreignId,
  caseOwner: foreignId,
  messageId: foreignId.optional(),
  body: z.unknown(),
});

const taskRecords = new Records('task', shapeSchema, contentSchema);
export const taskKind = taskRecords.kind;
const changeShape = z.object({ made: z.int() });
const changeRecords = new Records('task-change', changeShape, z.object({}));
const clockRecords = new Records('task-clock', z.object({}), z.object({}));

export type StoredTask = Kept<z.infer<typeof shapeSchema>, z.infer<typeof contentSchema>>;
export type TaskShape = StoredTask['shape'];
export type TaskContent = NonNullable<StoredTask['content']>;
/** A task whose content is still there. */
export type LiveTask = StoredTask & { readonly content: TaskContent };

const isLive = (task: StoredTask | undefined): task is LiveTask => task?.content !== undefined;

/** Somebody must be at work on it: it is not over and does not wait for its asker. */
export const needsWorker = ({ state, awaiting }: Pick<TaskShape, 'state' | 'awaiting'>): boolean =>
  !finalTaskStates.includes(state) && (awaiting ?? 'result') === 'result';

/** Processes that a task was taken from, at most. */
const maxLost = 8;

export const isOver = (task: StoredTask): boolean => finalTaskStates.includes(task.shape.state);

/** For rights to a task; `context` is its context as the one who asks stands to it. */
export function guardTask({ content, shape }: LiveTask, context: Context | undefined): Guarded {
  const { tenant, owner, caseOwner, agent } = content;
  const granted = [...(context?.granted ?? [])].filter(([, from]) => from <= shape.born);
  return { tenant, owner, caseOwner, agent, granted: granted.map(([operation]) => operation) };
}

/** The protocol's record of a task; `contextId` is what the reader calls its context. */
export function toTaskRecord(task: LiveTask, contextId: string): TaskRecord {
  const { id, agent, owner, messageId, body } = task.content;
  const { state, awaiting, statusAt } = task.shape;
  return {
    id,
    contextId,
    agent,
    version: task.version,
    state,
    ...(awaiting === undefined ? {} : { awaiting }),
    statusAt,
    ...(messageId === undefined ? {} : { messageId }),
    owner,
    body,
  };
}

/**
 * What a principal calls a task's context: its owner by the owner's name for it, the agent as its
 * task's owner does, all others by ours.
 */
export function contextName(task: LiveTask, context: Context | undefined, id: string): string {
  const { agent, owner, caseOwner, contextId } = task.content;
  const reads = id === agent ? owner : id;
  return reads === caseOwner || context === undefined ? contextId : context.ref;
}

/** Tasks that changed during one walk over a list and are looked at for it. */
const maxChanged = 20_000;

export interface TaskPlace {
  readonly sort: number;
  readonly key: string;
}

/** Storage of task records: sealed with their case, found by who owns, executes and may read them. */
export class TaskStore {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  key(tenant: string, taskId: string): string {
    return this.#deps.vault.blind('task', tenant, taskId);
  }

  get(reader: StoreReader, tenant: string, taskId: string): Promise<LiveTask | undefined> {
    return this.at(reader, this.key(tenant, taskId), new CaseBoxes(this.#deps.vault, reader));
  }

  async at(reader: StoreReader, key: string, boxes: CaseBoxes): Promise<LiveTask | undefined> {
    const task = await taskRecords.look(reader, boxes, key);
    return isLive(task) ? task : undefined;
  }

  /** Latest status first. */
  async find(
    reader: StoreReader,
    query: {
      index: Readonly<Record<string, string>>;
      limit: number;
      after?: TaskPlace | undefined;
      from?: number | undefined;
    },
  ): Promise<LiveTask[]> {
    const boxes = new CaseBoxes(this.#deps.vault, reader);
    const { index, limit, after, from } = query;
    const found = await taskRecords.find(reader, boxes.for, {
      index,
      limit,
      ...(after === undefined ? {} : { after }),
      ...(from === undefined ? {} : { from }),
    });
    return found.filter(isLive);
  }

  count(reader: StoreReader, index: Readonly<Record<string, string>>, from?: number) {
    const bounds = from === undefined ? {} : { from };
    return reader.count({ kind: taskRecords.kind, index, ...bounds });
  }

  /** Turns of the task clock so far: a snapshot is such a number. */
  async turn(reader: StoreReader): Promise<number> {
    return (await reader.record({ kind: clockRecords.kind, key: 'tasks' }))?.version ?? 0;
  }

  /** Keys of tasks written after a turn, with the turn that each was made at. */
  async changedSince(
    reader: StoreReader,
    index: Readonly<Record<string, string>>,
    turn: number,
  ): Promise<{ key: string; made: number }[]> {
    const query = { kind: changeRecords.kind, index, from: turn + 1, limit: maxChanged };
    const found = await reader.records(query);
    return found.map(({ key, shape }) => ({ key, ...changeShape.parse(shape) }));
  }

  async put(
    writer: StoreWriter,
    shape: Omit<TaskShape, 'changed' | 'made'> & { made?: number },
    content: TaskContent,
    expected: number,
  ): Promise<number> {
    const { vault, terms, now } = this.#deps;
    const key = this.key(content.tenant, content.id);
    const isOpen = !finalTaskStates.includes(shape.state);
    const turn = await clockRecords.put(writer, vault.domain, {
      key: 'tasks',
      index: { clock: 'tasks' },
      shape: {},
      content: {},
    });
    const index = this.#index(shape, content);
    const made = shape.made ?? turn;
    await changeRecords.put(writer, vault.domain, {
      key,
      sort: turn,
      index,
      shape: { made },
      content: {},
    });
    return taskRecords.put(writer, await vault.caseBoxFor(writer, shape.activity), {
      key,
      sort: Date.parse(shape.statusAt),
      index: isOpen ? { ...index, ...this.#openIndex(content.tenant, content.owner) } : index,
      expiresAt:
        isOpen || terms.taskTtlMs === undefined ? undefined : now().getTime() + terms.taskTtlMs,
      activity: shape.activity,
      shape: { ...shape, made, changed: turn },
      content,
      expected,
    });
  }

  /** Gives a task to another process, or notes that none is there. */
  async handOver(
    writer: StoreWriter,
    { shape, content, version }: LiveTask,
    to: { worker: string; taking: string } | { doubted: true },
  ): Promise<LiveTask> {
    const { worker: from, lost = [], changed: _changed, ...rest } = shape;
    const { worker, ...how } = 'worker' in to ? to : { worker: from, ...to };
    const before = from === undefined ? lost : [...lost, from];
    const isMoved = worker !== from;
    const next = {
      ...rest,
      ...how,
      ...(worker === undefined ? {} : { worker }),
      lost: isMoved ? before.filter((each) => each !== worker).slice(-maxLost) : lost,
      doubted: 'doubted' in to,
    };
    const written = await this.put(writer, next, content, version);
    return {
      version: written,
      sort: 0,
      key: '',
      index: {},
      shape: { ...next, changed: 0 },
      content,
    };
  }

  /** The record and all that is found by it: its message's key, its place in lists. */
  async drop(writer: StoreWriter, key: string): Promise<void> {
    const { vault } = this.#deps;
    const found = await taskRecords.look(writer, new CaseBoxes(vault, writer), key);
    const content = found?.content;
    if (content?.messageId !== undefined) {
      const message = vault.blind('message', content.tenant, content.owner, content.messageId);
      await writer.deleteRecord({ kind: 'message', key: message });
    }
    await dropAll(writer, 'push-config', { task: key });
    await writer.deleteRecord({ kind: changeRecords.kind, key });
    await writer.deleteRecord({ kind: taskRecords.kind, key });
  }

  /** Blinded values under which a principal's tasks are found. */
  by(who: 'owner' | 'caseOwner' | 'guest' | 'agent', principal: Principal): Record<string, string> {
    return { [who]: this.#deps.vault.blind('principal', principal.tenant, principal.id) };
  }

  ofTenant(tenant: string): Record<string, string> {
    return { tenant: this.#deps.vault.blind('tenant', tenant) };
  }

  /** Blinded values under which tasks that are not over are counted. */
  countedBy({ tenant, id }: Principal): Record<'principal' | 'tenant', Record<string, string>> {
    const { openOf, openIn } = this.#openIndex(tenant, id);
    return { principal: { openOf }, tenant: { openIn } };
  }

  /** By the process that is to work on it, as long as one is to. */
  #workIndex(
    { worker, taking, doubted }: Pick<TaskShape, 'worker' | 'taking' | 'doubted'>,
    { tenant, agent }: TaskContent,
  ): Record<string, string> {
    const key = worker ?? workerKey(this.#deps, { tenant, id: agent }, '');
    return {
      [doubted === true ? 'doubts' : 'works']: key,
      ...(taking === undefined ? {} : { taking }),
    };
  }

  #openIndex(tenant: string, owner: string): { openOf: string; openIn: string } {
    const { vault } = this.#deps;
    return {
      openOf: vault.blind('principal', tenant, owner),
      openIn: vault.blind('tenant', tenant),
    };
  }

  #index(
    shape: Pick<TaskShape, 'ref' | 'state' | 'awaiting' | 'worker' | 'taking' | 'doubted'>,
    content: TaskContent,
  ) {
    const { tenant, owner, caseOwner, agent } = content;
    const blind = (id: string) => this.#deps.vault.blind('principal', tenant, id);
    return {
      ...this.ofTenant(tenant),
      owner: blind(owner),
      caseOwner: blind(caseOwner),
      // Made in somebody else's context: with `caseOwner` it covers a principal's tasks, each once.
      ...(owner === caseOwner ? {} : { guest: blind(owner) }),
      agent: blind(agent),
      context: shape.ref,
      state: shape.state,
      ...(shape.awaiting === undefined ? {} : { awaiting: shape.awaiting }),
      open: finalTaskStates.includes(shape.state) ? 'no' : 'yes',
      ...(needsWorker(shape) ? this.#workIndex(shape, content) : {}),
    };
  }
}
