import { randomUUID } from 'node:crypto';
import { Artifact, Message, Task, TaskState, type Part, type TaskStatus } from '@a2a-js/sdk';
import {
  AgentEvent,
  type AgentExecutor,
  type ExecutionEventBus,
  type RequestContext,
} from '@a2a-js/sdk/server';
import { ThroughlineError } from '../../errors.ts';
import type { Admission, AdmissionRequest } from '../../model/admission.ts';
import { observationSchema, type Observation } from '../../model/observation.ts';
import type { Caller, Principal } from '../../model/principal.ts';
import {
  taskQuerySchema,
  taskRecordSchema,
  type TaskPage,
  type TaskQuery,
  type TaskRecord,
} from '../../model/task-record.ts';
import type { PushConfig } from '../../model/push-config.ts';
import { agentCard } from './card.ts';
import type { A2aPorts } from './ports.ts';
import { serveA2a, type ServeA2aOptions, type ServedAgent } from './serve.ts';
import { agentText, partToWire, textOf } from './wire.ts';

interface Context {
  readonly tenant: string;
  readonly owner: string;
  expired: boolean;
  readonly grantees: Set<string>;
}

interface Known {
  readonly payload: string;
  readonly contextId: string;
  taskId?: string;
  reply?: unknown;
}

const over = ['completed', 'failed', 'cancelled', 'rejected', 'timed-out'];
const fail = (
  code: 'not-found' | 'context-refused' | 'conflict' | 'terminal' | 'invalid',
  text: string,
) => new ThroughlineError(code, text);
const notFound = (id: string) => fail('not-found', `task ${id} is not there`);

/** The ports of a hub in memory, as their comments say they behave; for tests of the binding. */
export class MemoryPorts implements A2aPorts {
  readonly principals = new Map<string, Principal>();
  readonly contexts = new Map<string, Context>();
  readonly records = new Map<string, TaskRecord & { tenant: string }>();
  readonly messages = new Map<string, Known>();
  readonly observations: Observation[] = [];
  /** Every call that writes, by name; to see that a refusal wrote nothing. */
  readonly writes: string[] = [];
  policy: 'refuse' | 'adopt' = 'refuse';
  /** Called before each save; may throw or wait. */
  beforeSave: (record: TaskRecord) => Promise<void> | void = () => undefined;
  /** Called after each write, when it is there; what it throws is all that the writer gets to know. */
  afterWrite: (what: 'saveTask' | 'saveReply') => void = () => undefined;
  /** Keeps what a message asks to be told by. */
  keepPush: (caller: Caller, config: PushConfig) => void = () => undefined;

  /** A principal and the Authorization value that stands for it. */
  know(principal: Principal): string {
    const credential = `Bearer ${randomUUID()}`;
    this.principals.set(credential, principal);
    return credential;
  }

  authenticate(credential: string | undefined): Promise<Principal> {
    const principal = this.principals.get(credential ?? '');
    return principal === undefined
      ? Promise.reject(new ThroughlineError('unauthenticated', 'no key, or none that is known'))
      : Promise.resolve(principal);
  }

  async admit({ principal }: Caller, request: AdmissionRequest): Promise<Admission> {
    await Promise.resolve();
    return this.#decide(principal, request);
  }

  #decide(principal: Principal, request: AdmissionRequest): Admission {
    const { taskId, messageId, payload } = request;
    for (const id of request.referenceTaskIds) {
      if (this.#visible(principal, id) === undefined) throw notFound(id);
    }
    const task = taskId === undefined ? undefined : this.#visible(principal, taskId);
    if (taskId !== undefined && task === undefined) throw notFound(taskId);
    if (
      task !== undefined &&
      request.contextId !== undefined &&
      request.contextId !== task.contextId
    ) {
      throw fail('invalid', `contextId: task ${task.id} is in another context`);
    }
    const wanted = request.contextId ?? task?.contextId;
    if (wanted !== undefined) this.#enter(principal, wanted);
    const key = [principal.tenant, principal.id, messageId].join('/');
    const known = this.messages.get(key);
    if (known !== undefined) {
      if (known.payload !== payload) throw fail('conflict', 'messageId: used for another message');
      const { contextId, taskId: led, reply } = known;
      return {
        kind: 'replay',
        contextId,
        ...(led === undefined ? {} : { taskId: led }),
        ...(reply === undefined ? {} : { reply }),
      };
    }
    if (task !== undefined && over.includes(task.state)) {
      throw fail('terminal', `task ${task.id} is over; go on in context ${task.contextId}`);
    }
    const contextId = wanted ?? `ctx_${randomUUID()}`;
    if (wanted === undefined) this.#open(principal, contextId);
    this.writes.push('admit');
    this.messages.set(key, { payload, contextId, ...(taskId === undefined ? {} : { taskId }) });
    return { kind: 'new', contextId, issued: wanted === undefined };
  }

  async saveReply(
    caller: Caller,
    reply: { agent: string; messageId: string; contextId: string; reply: unknown },
    observations: readonly Observation[],
  ): Promise<void> {
    const known = this.#message(caller.principal, reply);
    if (known === undefined) throw fail('context-refused', 'nothing was let in for this reply');
    if (known.reply !== undefined) throw fail('conflict', 'messageId: has its reply already');
    await this.observe(caller, observations);
    known.reply = structuredClone(reply.reply);
    this.writes.push('saveReply');
    this.afterWrite('saveReply');
  }

  async loadTask({ principal }: Caller, taskId: string): Promise<TaskRecord | undefined> {
    const record = this.#visible(principal, taskId);
    return Promise.resolve(record && structuredClone(record));
  }

  async saveTask(
    caller: Caller,
    record: TaskRecord,
    observations: readonly Observation[],
    pushConfigs: readonly PushConfig[] = [],
  ): Promise<{ version: number }> {
    await this.beforeSave(record);
    const { principal } = caller;
    const stored = this.records.get(record.id);
    if (stored === undefined) {
      const { messageId, contextId } = record;
      const known = this.#message(principal, { messageId: messageId ?? '', contextId });
      if (known === undefined) throw fail('context-refused', 'nothing was let in for this task');
      known.taskId = record.id;
    } else if (over.includes(stored.state)) {
      throw fail('terminal', `task ${record.id} is ${stored.state}`);
    } else if (this.#visible(principal, record.id) === undefined) {
      throw notFound(record.id);
    }
    if (record.version !== (stored?.version ?? 0)) {
      throw fail('conflict', `task ${record.id} has version ${stored?.version ?? 0}`);
    }
    await this.observe(caller, observations);
    const version = record.version + 1;
    const owner = stored?.owner ?? principal.id;
    const kept = taskRecordSchema.parse(structuredClone({ ...record, version, owner }));
    this.records.set(record.id, { ...kept, tenant: principal.tenant });
    for (const config of pushConfigs) this.keepPush(caller, config);
    this.writes.push('saveTask');
    this.afterWrite('saveTask');
    return { version };
  }

  listTasks({ principal }: Caller, given: TaskQuery): Promise<TaskPage> {
    const query = taskQuerySchema.parse(given);
    const from = query.statusFrom === undefined ? 0 : Date.parse(query.statusFrom);
    const found = [...this.records.values()]
      .filter(({ id }) => this.#visible(principal, id) !== undefined)
      .filter((r) => query.contextId === undefined || r.contextId === query.contextId)
      .filter((r) => query.state === undefined || r.state === query.state)
      .filter((r) => query.awaiting === undefined || r.awaiting === query.awaiting)
      .filter((r) => query.agent === undefined || r.agent === query.agent)
      .filter((r) => query.unfinished !== true || !over.includes(r.state))
      .filter((r) => Date.parse(r.statusAt) >= from)
      .toSorted((a, b) => b.statusAt.localeCompare(a.statusAt) || b.id.localeCompare(a.id));
    const start = query.cursor === undefined ? 0 : Number(query.cursor);
    const end = start + query.pageSize;
    return Promise.resolve({
      tasks: structuredClone(found.slice(start, end)),
      total: found.length,
      ...(end < found.length ? { cursor: String(end) } : {}),
    });
  }

  async observe({ principal }: Caller, observations: readonly Observation[]): Promise<void> {
    for (const seen of observations) {
      const parsed = observationSchema.parse(seen);
      if (parsed.kind === 'cancel-request' && parsed.side === 'server') {
        const record = this.#visible(principal, parsed.taskId);
        if (record === undefined) throw notFound(parsed.taskId);
      }
      this.observations.push(parsed);
    }
    return Promise.resolve();
  }

  /** What was observed of one kind, in order. */
  seen<K extends Observation['kind']>(kind: K): Extract<Observation, { kind: K }>[] {
    return this.observations.filter(
      (each): each is Extract<Observation, { kind: K }> => each.kind === kind,
    );
  }

  #message(
    { tenant, id }: Principal,
    wanted: { messageId: string; contextId: string },
  ): Known | undefined {
    const own = this.messages.get([tenant, id, wanted.messageId].join('/'));
    const any = [...this.messages].find(([key]) => key.endsWith(`/${wanted.messageId}`))?.[1];
    const known = own ?? any;
    return known?.contextId === wanted.contextId ? known : undefined;
  }

  #open({ tenant, id }: Principal, contextId: string): void {
    this.contexts.set(contextId, { tenant, owner: id, expired: false, grantees: new Set() });
  }

  #enter(principal: Principal, contextId: string): void {
    const context = this.contexts.get(contextId);
    const may =
      context?.tenant === principal.tenant &&
      (context.owner === principal.id || context.grantees.has(principal.id)) &&
      !context.expired;
    if (may) return;
    if (context === undefined && this.policy === 'adopt') return this.#open(principal, contextId);
    throw fail('context-refused', `context ${contextId} can't be used; send without a contextId`);
  }

  #visible(principal: Principal, id: string): TaskRecord | undefined {
    const record = this.records.get(id);
    if (record === undefined || record.tenant !== principal.tenant) return undefined;
    const context = this.contexts.get(record.contextId);
    const may =
      record.owner === principal.id ||
      record.agent === principal.id ||
      principal.role === 'operator' ||
      context?.owner === principal.id ||
      context?.grantees.has(principal.id) === true;
    if (!may) return undefined;
    const { tenant: _tenant, ...rest } = record;
    return rest;
  }
}

export const alice: Principal = { tenant: 'acme', id: 'alice', role: 'caller' };
const bob: Principal = { tenant: 'acme', id: 'bob', role: 'caller' };
/** Same id as Alice, elsewhere. */
const otherAlice: Principal = { tenant: 'globex', id: 'alice', role: 'caller' };
export const clerk: Principal = { tenant: 'acme', id: 'clerk', role: 'agent' };

/** What a scripted executor publishes with. */
export interface Desk {
  readonly context: RequestContext;
  readonly bus: ExecutionEventBus;
  readonly task: (state?: TaskState, more?: Partial<Task>) => void;
  readonly status: (state: TaskState, text?: string) => void;
  readonly artifact: (id: string, text: string, append?: boolean) => void;
  readonly reply: (text: string, more?: Partial<Message>) => void;
}

type Script = (desk: Desk) => Promise<void> | void;

const textPart = (text: string): Part => partToWire({ kind: 'text', text });

function deskOf(context: RequestContext, bus: ExecutionEventBus): Desk {
  const { taskId, contextId } = context;
  const says = (text: string, more: Partial<Message> = {}): Message =>
    Message.fromJSON({
      ...Object(Message.toJSON(agentText({ messageId: randomUUID(), taskId, contextId }, text))),
      ...more,
    });
  const statusOf = (state: TaskState, text?: string): TaskStatus => ({
    state,
    message: text === undefined ? undefined : says(text),
    timestamp: new Date().toISOString(),
  });
  return {
    context,
    bus,
    task(state = TaskState.TASK_STATE_WORKING, more = {}) {
      const task = { ...Task.fromJSON({}), id: taskId, contextId, status: statusOf(state) };
      bus.publish(AgentEvent.task({ ...task, ...more }));
    },
    status(state, text) {
      const status = statusOf(state, text);
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status, metadata: undefined }));
    },
    artifact(id, text, append = false) {
      const artifact = { ...Artifact.fromJSON({}), artifactId: id, parts: [textPart(text)] };
      const rest = { taskId, contextId, append, lastChunk: !append, metadata: undefined };
      bus.publish(AgentEvent.artifactUpdate({ artifact, ...rest }));
    },
    reply: (text, more) => bus.publish(AgentEvent.message(says(text, more))),
  };
}

/** An executor that does what a function says, and counts. */
export class Scripted implements AgentExecutor {
  runs = 0;
  readonly requests: RequestContext[] = [];
  readonly #script: Script;
  readonly #cancel: (taskId: string, bus: ExecutionEventBus) => Promise<void>;

  constructor(script: Script, cancel?: (taskId: string, bus: ExecutionEventBus) => Promise<void>) {
    this.#script = script;
    this.#cancel = cancel ?? (() => Promise.resolve());
  }

  async execute(context: RequestContext, bus: ExecutionEventBus): Promise<void> {
    this.runs += 1;
    this.requests.push(context);
    await this.#script(deskOf(context, bus));
  }

  cancelTask(taskId: string, bus: ExecutionEventBus): Promise<void> {
    return this.#cancel(taskId, bus);
  }
}

/** Works, hands out one artifact that repeats the message, and is done. */
export const echo: Script = ({ context, task, artifact, status }) => {
  task();
  artifact('answer', textOf(context.userMessage.parts));
  status(TaskState.TASK_STATE_COMPLETED);
};

/** A door that a script waits at until the test opens it. */
export function gate(): { readonly passed: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { passed: promise, open: () => resolve() };
}

/** An agent on a socket, over ports in memory. */
export async function startAgent(
  script: Script | Scripted,
  options: Partial<Omit<ServeA2aOptions, 'ports' | 'executor'>> & { ports?: MemoryPorts } = {},
): Promise<{
  url: string;
  ports: MemoryPorts;
  executor: Scripted;
  faults: unknown[];
  keys: { alice: string; bob: string; otherAlice: string };
  served: ServedAgent;
}> {
  const { ports = new MemoryPorts(), ...rest } = options;
  const executor = script instanceof Scripted ? script : new Scripted(script);
  const faults: unknown[] = [];
  const keys = {
    alice: ports.know(alice),
    bob: ports.know(bob),
    otherAlice: ports.know(otherAlice),
  };
  const served = await serveA2a({
    card: (url) => agentCard({ name: 'Clerk', description: 'Answers', version: '1', url }),
    agent: clerk,
    onFault: (error) => faults.push(error),
    waits: { replayMs: 2_000, cancelMs: 2_000, record: { everyMs: 20, forMs: 1_000 } },
    ...rest,
    ports,
    executor,
  });
  return { url: served.url, ports, executor, faults, keys, served };
}

export interface RpcAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: {
    readonly id?: unknown;
    readonly result?: Record<string, unknown>;
    readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
  };
}

/** One plain JSON-RPC call, as somebody without any SDK makes it. */
export async function rpc(
  url: string,
  key: string | undefined,
  method: string,
  params: unknown,
  headers: Record<string, string> = {},
): Promise<RpcAnswer> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  return post(url, key, body, headers);
}

export async function post(
  url: string,
  key: string | undefined,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<RpcAnswer> {
  const response = await fetch(url, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'a2a-version': '1.0',
      ...(key === undefined ? {} : { authorization: key }),
      ...headers,
    },
  });
  const answer: RpcAnswer['body'] = JSON.parse(await response.text());
  return { status: response.status, headers: response.headers, body: answer };
}

/** A message as it goes over the wire. */
export const wireMessage = (
  text: string,
  more: Record<string, unknown> = {},
): Record<string, unknown> => ({
  messageId: randomUUID(),
  role: 'ROLE_USER',
  parts: [{ text }],
  ...more,
});

/** Events of a stream, one by one, and a way to hang up. */
export function stream(
  { url, keys }: { url: string; keys: { alice: string } },
  method: string,
  params: unknown,
): { events: AsyncGenerator<Record<string, unknown>>; hangUp: () => void } {
  const stop = new AbortController();
  const events = async function* read(): AsyncGenerator<Record<string, unknown>> {
    const response = await fetch(url, {
      method: 'POST',
      signal: stop.signal,
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      headers: {
        authorization: keys.alice,
        'a2a-version': '1.0',
        'content-type': 'application/json',
      },
    });
    let text = '';
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      const parts = text.split('\n\n');
      text = parts.pop() ?? '';
      for (const part of parts) {
        const data = /^data: (.*)$/m.exec(part)?.[1];
        if (data !== undefined) yield JSON.parse(data);
      }
    }
    if (text !== '') yield JSON.parse(text);
  };
  return { events: events(), hangUp: () => stop.abort() };
}

export async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) items.push(item);
  return items;
}
