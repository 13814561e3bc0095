/** One case with everything in it that rights can be asked for, and everybody who may ask. */
import { Hub } from '../src/hub/index.ts';
import type { Observation, Principal, PushConfig, TaskRecord } from '../src/model/index.ts';
import { hubApp } from '../src/server/app.ts';
import type { Sample } from '../src/server/conformance.ts';
import type { Route } from '../src/server/route.ts';
import { openMemoryStore, type Store } from '../src/store/index.ts';

const tenant = 'acme';
const of = (id: string, role: Principal['role'] = 'caller'): Principal => ({ tenant, id, role });

export const people = {
  owner: of('owner'),
  /** Grantees of one operation each. */
  get: of('may-get'),
  list: of('may-list'),
  send: of('may-send'),
  cancel: of('may-cancel'),
  subscribe: of('may-subscribe'),
  push: of('may-push'),
  stranger: of('stranger'),
  /** Everything that one can be in another tenant. */
  outsider: { tenant: 'other', id: 'owner', role: 'operator' },
  operator: of('operator', 'operator'),
  /** The agent that executes the task, and another one. */
  agent: of('desk', 'agent'),
  otherAgent: of('checker', 'agent'),
} as const satisfies Record<string, Principal>;

export type Known = keyof typeof people;
export const everybody: readonly Known[] = [
  'owner',
  'get',
  'list',
  'send',
  'cancel',
  'subscribe',
  'push',
  'stranger',
  'outsider',
  'operator',
  'agent',
  'otherAgent',
];
const operations = ['get', 'list', 'send', 'cancel', 'subscribe', 'push'] as const;

export interface Ids {
  readonly context: string;
  /** The protocol's id, and ours. */
  readonly task: string;
  readonly publicTask: string;
  readonly activity: string;
  readonly dialog: string;
  readonly resource: string;
  readonly grant: string;
  readonly key: string;
  readonly run: string;
  readonly into: string;
  readonly assertion: string;
  readonly message: string;
  readonly open: string;
  /** What the desk handed to a tool. */
  readonly subtask: string;
  readonly subDialog: string;
}

const zeros = '0'.repeat(26);
/** Of the same form and length as the real ones, and naming nothing. */
export const missing: Ids = {
  context: `ctx_${zeros}`,
  task: 'task-0',
  publicTask: `tsk_${zeros}`,
  activity: `act_${zeros}`,
  dialog: `dlg_${zeros}`,
  resource: `res_${zeros}`,
  grant: `grt_${zeros}`,
  key: `key_${zeros}`,
  run: `tsk_${zeros}`,
  into: `ctx_${zeros}`,
  assertion: `asr_${zeros}`,
  message: 'message-0',
  open: `ctx_${zeros}`,
  subtask: `tsk_${zeros}`,
  subDialog: `dlg_${zeros}`,
};

const reading = [
  'head',
  'log',
  'objects',
  'objectsOf',
  'edge',
  'edges',
  'edgesOf',
  'reach',
  'record',
  'records',
  'count',
];
const writing = ['append', 'putObject', 'putEdge', 'putRecord', 'deleteRecord', 'eraseActivity'];

/** The same reader or writer, counting what it is asked. */
function counted<T extends object>(inner: T, calls: { reads: number; writes: number }): T {
  return new Proxy(inner, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...given: readonly unknown[]): unknown => {
        if (reading.includes(String(name))) calls.reads += 1;
        if (writing.includes(String(name))) calls.writes += 1;
        return Reflect.apply(value, target, given);
      };
    },
  });
}

const origin = 'http://127.0.0.1';
const at = '2030-01-01T00:00:00Z';
export const digest = `sha-256:${'0'.repeat(64)}`;
/** What nobody may read without a right. */
export const secret = 'the secret of the owner';

export class World {
  readonly hub: Hub;
  readonly store: Store;
  readonly keys: ReadonlyMap<Known, string>;
  readonly calls: { reads: number; writes: number };
  ids: Ids = missing;

  static async open(): Promise<World> {
    const store = await openMemoryStore();
    const calls = { reads: 0, writes: 0 };
    const counting: Store = {
      read: (work) => store.read((reader) => work(counted(reader, calls))),
      // Only what was not undone counts as written.
      async write(work) {
        const own = { reads: 0, writes: 0 };
        try {
          return await store.write((writer) => {
            own.writes = 0;
            return work(counted(writer, own));
          });
        } catch (error) {
          own.writes = 0;
          throw error;
        } finally {
          calls.reads += own.reads;
          calls.writes += own.writes;
        }
      },
      onCommit: (listener) => store.onCommit(listener),
      close: () => store.close(),
    };
    const hub = await Hub.open({
      store: counting,
      domainKey: new Uint8Array(32).fill(7),
      origin,
      clock: () => new Date(at),
    });
    const keys = new Map<Known, string>();
    for (const person of everybody) keys.set(person, await hub.bootstrapKey(people[person]));
    const world = new World(hub, store, keys, calls);
    await world.#make();
    return world;
  }

  private constructor(
    hub: Hub,
    store: Store,
    keys: ReadonlyMap<Known, string>,
    calls: { reads: number; writes: number },
  ) {
    this.hub = hub;
    this.store = store;
    this.keys = keys;
    this.calls = calls;
  }

  credential(person: Known): string {
    return `Bearer ${this.keys.get(person) ?? ''}`;
  }

  /** Lets a message of the owner in, and stores the task that it leads to. */
  async begin(taskId: string, contextId?: string): Promise<TaskRecord> {
    const owner = { principal: people.owner };
    const messageId = `m-${taskId}`;
    const admitted = await this.hub.admit(owner, {
      agent: people.agent.id,
      messageId,
      referenceTaskIds: [],
      payload: digest,
      ...(contextId === undefined ? {} : { contextId }),
    });
    const record: TaskRecord = {
      id: taskId,
      contextId: admitted.contextId,
      agent: people.agent.id,
      version: 0,
      // Waits for the owner, so that no agent that starts takes it up.
      state: 'awaiting',
      awaiting: 'input',
      statusAt: at,
      messageId,
      body: { id: taskId, contextId: admitted.contextId, history: [], artifacts: [], secret },
    };
    const seen = observations(record);
    const { version } = await this.hub.saveTask({ principal: people.agent }, record, seen);
    return { ...record, version };
  }

  async #make(): Promise<void> {
    const { hub } = this;
    const { owner, agent } = people;
    const { contextId: context } = await this.begin('task-1');
    const { contextId: into } = await this.begin('task-2');
    const master = hub.master(agent);
    const place = await master.locate('task-1');
    const output = await hub.agent(agent).putOutput({
      taskId: 'task-1',
      name: 'rows',
      mediaType: 'text/plain',
      bytes: new TextEncoder().encode(secret),
    });
    for (const operation of operations) {
      const request = { grantee: people[operation].id, operations: [operation] };
      await hub.grant(owner, context, request);
    }
    const grant = await hub.grant(owner, context, { grantee: 'spare', operations: ['get'] });
    const run = master.newId('task');
    const state = { secret };
    const driven = { done: false, state, expected: 0, driver: 'w-0' };
    await master.saveRun({ id: run, activity: place.activity, ...driven });
    await master.leave({ worker: 'w-0' });
    const [subDialog, subtask] = [master.newId('dialog'), master.newId('task')];
    const desk = await master.participant({ kind: 'agent', principal: agent.id });
    const tool = await master.participant({ kind: 'tool', url: 'https://known.example/' });
    const { activity } = place;
    await master.assert([
      {
        about: subDialog,
        statement: {
          says: 'dialog.opened',
          activity,
          participants: [desk, tool],
          managed: 'none',
        },
      },
      { about: subtask, statement: { says: 'task.defined', dialog: subDialog } },
    ]);
    await master.saveHandover(handover(subtask, subDialog), handoverTexts);
    await hub.savePushConfig({ principal: owner }, pushConfig('task-1'));
    const key = await hub.createKey(people.operator, { principal: people.stranger });
    const said = await hub.labelCase(owner, context, { label: { name: 'ticket', value: '1' } });
    const waiting = await hub.admit(
      { principal: owner },
      { agent: agent.id, messageId: 'message-1', referenceTaskIds: [], payload: digest },
    );
    this.ids = {
      context,
      task: 'task-1',
      publicTask: place.task,
      activity: place.activity,
      dialog: place.dialog,
      resource: output.resource,
      grant: grant.id,
      key: key.id,
      run,
      into,
      assertion: said.assertions[0] ?? '',
      message: 'message-1',
      open: waiting.contextId,
      subtask,
      subDialog,
    };
  }

  /** What a refusal must leave as it is, and how much was read since the last time. */
  async state(): Promise<{ hash: string; writes: number }> {
    const { hash } = await this.store.read((reader) => reader.head());
    return { hash, writes: this.calls.writes };
  }

  /** Reads that a call takes. */
  async reads<T>(call: () => Promise<T>): Promise<{ result: T; reads: number }> {
    this.calls.reads = 0;
    const result = await call();
    return { result, reads: this.calls.reads };
  }

  /** One request to the API, without a network. */
  async send(
    route: Pick<Route, 'method' | 'path'>,
    { params = {}, query = {}, json, bytes }: Sample,
    headers: Readonly<Record<string, string>>,
  ): Promise<{ status: number; text: string }> {
    const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(params[name] ?? ''),
    );
    const url = new URL(origin + path);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const body = json === undefined ? bytes && new Uint8Array(bytes) : JSON.stringify(json);
    const type = json === undefined ? 'application/octet-stream' : 'application/json';
    const response = await hubApp(this.hub, { origin }).fetch(
      new Request(url, {
        method: route.method.toUpperCase(),
        headers: {
          Host: '127.0.0.1',
          // The same for all, so that equal answers are equal to the byte.
          'X-Request-Id': '0'.repeat(32),
          ...(body === undefined ? {} : { 'Content-Type': type }),
          ...headers,
        },
        ...(body === undefined ? {} : { body }),
      }),
    );
    return { status: response.status, text: await response.text() };
  }
}

export const contentUri = ({ resource }: Ids): string => `${origin}/content/${resource}`;

export const pushConfig = (taskId: string): PushConfig => ({
  taskId,
  id: 'push-1',
  url: 'https://told.example/',
  protocolVersion: '1.0',
  token: secret,
});

export const handoverTexts = { sent: secret, fullHistory: secret };
export const handover = (task: string, dialog: string) => ({
  task,
  dialog,
  agent: people.agent.id,
  withheld: [],
  tokenizer: 'o200k_base',
  sent: 1,
  fullHistory: 1,
});

/** What the desk saw of a message and of its task. */
export function observations(record: TaskRecord): Observation[] {
  const where = {
    protocol: 'a2a',
    side: 'server',
    endpoint: 'http://127.0.0.1:1/',
    contextId: record.contextId,
    client: { kind: 'user', principal: people.owner.id },
    server: { kind: 'agent', principal: people.agent.id },
    at,
  } as const;
  const { id: taskId, messageId = 'm' } = record;
  return [
    {
      ...where,
      kind: 'message',
      messageId,
      taskId,
      objective: secret,
      referenceTaskIds: [],
      resources: [],
    },
    { ...where, kind: 'task', taskId, state: 'in-progress' },
  ];
}

/** A record for the fixture's task, as its agent would write it next. */
export const recordOf = ({ task, context }: Ids): TaskRecord => ({
  id: task,
  contextId: context,
  agent: people.agent.id,
  version: 1,
  state: 'in-progress',
  statusAt: at,
  messageId: 'm-task-1',
  body: {},
});

export const cancelSeen = ({ task, context }: Ids): Observation => {
  const [first] = observations({ ...recordOf(missing), id: task, contextId: context });
  if (first === undefined) throw new Error('nothing seen');
  const { protocol, side, endpoint, contextId, client, server } = first;
  return {
    protocol,
    side,
    endpoint,
    contextId,
    client,
    server,
    at,
    kind: 'cancel-request',
    taskId: task,
  };
};
