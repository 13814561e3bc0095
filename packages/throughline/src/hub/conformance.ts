/** A hub with people, agents and a clock of its own, on each kind of store: what its tests are told in. */
import { mkdtempSync } from 'node:fs';
import { createHash, randomUUID, type webcrypto } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT, type JWK } from 'jose';
import {
  ThroughlineError,
  type Admission,
  type AdmissionRequest,
  type ErrorCode,
  type Observation,
  type Principal,
  type TaskRecord,
  type TaskState,
} from '../model/index.ts';
import { openMemoryStore, openSqliteStore, type Store } from '../store/index.ts';
import { sharedStore } from '../store/postgres/conformance.ts';
import { Hub, type HubOptions } from './hub.ts';
import { digestOf } from './vault.ts';

const folder = mkdtempSync(join(tmpdir(), 'hub-'));
let files = 0;

/** Two stores on one file, as two hubs of one domain have them. */
export async function twoOnOneFile(): Promise<[Store, Store]> {
  const path = join(folder, `${files++}.db`);
  return [await openSqliteStore({ path }), await openSqliteStore({ path })];
}

export const stores: readonly (readonly [name: string, open: () => Promise<Store>])[] = [
  ['memory', () => openMemoryStore()],
  ['SQLite', () => openSqliteStore({ path: join(folder, `${files++}.db`) })],
  ['PostgreSQL', sharedStore],
];

const of = (id: string, role: Principal['role'] = 'caller', tenant = 'shop'): Principal => ({
  tenant,
  id,
  role,
});
export const priya = of('priya');
export const bob = of('bob');
export const mallory = of('priya', 'caller', 'rival');
export const boss = of('boss', 'operator');
export const rivalBoss = of('boss', 'operator', 'rival');
export const desk = of('desk', 'agent');
export const checker = of('checker', 'agent');

const payloadOf = (text: string): string => digestOf(Buffer.from(text));

interface Sending {
  readonly agent?: Principal;
  readonly contextId?: string;
  readonly taskId?: string;
  readonly messageId?: string;
  readonly references?: readonly string[];
  readonly text?: string;
  readonly bytes?: number;
  readonly pushConfig?: string;
  readonly worker?: string;
}

/** What a task is left with. */
interface Doing {
  readonly agent?: Principal;
  readonly state?: TaskState;
  readonly awaiting?: 'input' | 'authorization' | 'result';
  readonly text?: string;
  readonly envelope?: Observation['envelope'];
  readonly body?: unknown;
  readonly statusAt?: string;
  readonly references?: readonly string[];
}

/** A scene: the hub, its store, and short words for what callers and agents do. */
export class Scene {
  readonly hub: Hub;
  readonly store: Store;
  readonly #counter: Counter;
  #now: number;
  #count = 0;

  static async open(
    openStore: () => Promise<Store>,
    options: Partial<Omit<HubOptions, 'store' | 'clock'>> & { store?: Store } = {},
  ): Promise<Scene> {
    const { store, counter } = counting(options.store ?? (await openStore()));
    const scene: { now?: () => Date } = {};
    const hub = await Hub.open({
      domainKey: new Uint8Array(32).fill(7),
      origin: 'https://hub.example',
      ...options,
      store,
      clock: () => scene.now?.() ?? new Date(0),
    });
    const made = new Scene(hub, store, counter);
    scene.now = () => made.now;
    return made;
  }

  private constructor(hub: Hub, store: Store, counter: Counter) {
    this.hub = hub;
    this.#counter = counter;
    this.store = store;
    this.#now = Date.parse('2031-05-04T10:00:00.000Z');
  }

  get now(): Date {
    return new Date(this.#now);
  }

  pass(milliseconds: number): void {
    this.#now += milliseconds;
  }

  next(word: string): string {
    this.#count += 1;
    return `${word}-${this.#count}`;
  }

  admit(by: Principal, sending: Sending = {}): Promise<Admission> {
    const { agent = desk, messageId = this.next('m'), references = [], text = messageId } = sending;
    const request: AdmissionRequest = {
      agent: agent.id,
      messageId,
      referenceTaskIds: [...references],
      payload: payloadOf(text),
      ...(sending.bytes === undefined ? {} : { bytes: sending.bytes }),
      ...(sending.pushConfig === undefined ? {} : { pushConfig: sending.pushConfig }),
      ...(sending.worker === undefined ? {} : { worker: sending.worker }),
      ...(sending.contextId === undefined ? {} : { contextId: sending.contextId }),
      ...(sending.taskId === undefined ? {} : { taskId: sending.taskId }),
    };
    return this.hub.admit({ principal: by }, request);
  }

  /** What a binding saw of a message and of the task it led to. */
  seen(by: Principal, record: TaskRecord, doing: Doing = {}): Observation[] {
    const { agent = desk, text = 'what about my cash back', references = [] } = doing;
    const where = {
      protocol: 'a2a',
      side: 'server',
      endpoint: `https://hub.example/agents/${agent.id}/`,
      contextId: record.contextId,
      client: { kind: 'user', principal: by.id },
      server: { kind: 'agent', principal: agent.id, name: `the ${agent.id}` },
      at: this.now.toISOString(),
      ...(doing.envelope === undefined ? {} : { envelope: doing.envelope }),
    } as const;
    const { id: taskId, messageId = 'm' } = record;
    return [
      {
        ...where,
        kind: 'message',
        messageId,
        taskId,
        objective: text,
        referenceTaskIds: [...references],
        resources: [],
      },
      {
        ...where,
        kind: 'task',
        taskId,
        objective: text,
        state: record.state,
        ...(record.awaiting === undefined ? {} : { awaiting: record.awaiting }),
      },
    ];
  }

  /** First record of the task that an admitted message led to, written by its agent. */
  async begin(
    by: Principal,
    admitted: { contextId: string; messageId: string },
    doing: Doing = {},
  ): Promise<TaskRecord> {
    const { agent = desk, state = 'in-progress', statusAt = this.now.toISOString() } = doing;
    const record: TaskRecord = {
      id: this.next('task'),
      contextId: admitted.contextId,
      agent: agent.id,
      version: 0,
      state,
      ...(doing.awaiting === undefined ? {} : { awaiting: doing.awaiting }),
      statusAt,
      messageId: admitted.messageId,
      body: doing.body ?? { history: [doing.text ?? 'hello'] },
    };
    const observations = this.seen(by, record, doing);
    const { version } = await this.hub.saveTask({ principal: agent }, record, observations);
    return { ...record, version };
  }

  /** Admission and first record in one go. */
  async task(by: Principal, sending: Sending = {}, doing: Doing = {}): Promise<TaskRecord> {
    const messageId = sending.messageId ?? this.next('m');
    const { contextId } = await this.admit(by, { ...sending, messageId });
    const agent = sending.agent ?? doing.agent ?? desk;
    return this.begin(by, { contextId, messageId }, { ...doing, agent });
  }

  async move(
    record: TaskRecord,
    state: TaskState,
    more: Partial<Pick<TaskRecord, 'awaiting' | 'statusAt' | 'body' | 'version'>> = {},
  ): Promise<TaskRecord> {
    const { awaiting: _before, ...rest } = record;
    const next: TaskRecord = { ...rest, statusAt: this.now.toISOString(), ...more, state };
    const agent = of(record.agent, 'agent');
    const seen = this.seen(priya, next, { agent }).filter(({ kind }) => kind === 'task');
    const { version } = await this.hub.saveTask({ principal: agent }, next, seen);
    return { ...next, version };
  }

  /** What must not change when something is refused: the log, and how often anything was written. */
  async state(): Promise<{ hash: string; seq: number; writes: number }> {
    const { hash, seq } = await this.store.read((reader) => reader.head());
    return { hash, seq, writes: this.#counter.writes };
  }
}

const mutating = ['append', 'putObject', 'putEdge', 'putRecord', 'deleteRecord', 'eraseActivity'];

interface Counter {
  writes: number;
}

/** The same store; `tell` hears of each write before it is made, and may throw. */
export function through(
  store: Store,
  tell: (name: string, given: readonly unknown[]) => void,
): Store {
  return {
    read: (work) => store.read(work),
    onCommit: (listener) => store.onCommit(listener),
    close: () => store.close(),
    write: (work) =>
      store.write((writer) =>
        work(
          new Proxy(writer, {
            get(target, name) {
              const value: unknown = Reflect.get(target, name, target);
              if (typeof value !== 'function') return value;
              const isWrite = mutating.some((each) => each === name);
              // Async, so that what it throws comes as any failure of a store does.
              return async (...given: readonly unknown[]): Promise<unknown> => {
                if (isWrite) tell(String(name), given);
                const result: unknown = await Reflect.apply(value, target, given);
                return result;
              };
            },
          }),
        ),
      ),
  };
}

/** A store that counts what was written by works that were not undone. */
function counting(store: Store): { store: Store; counter: Counter } {
  const counter: Counter = { writes: 0 };
  let writes = 0;
  const inner = through(store, () => {
    writes += 1;
  });
  const counted: Store = {
    ...inner,
    async write(work) {
      // Works run one at a time, so what is counted since this one began is its own.
      const { result, made } = await inner.write(async (writer) => {
        writes = 0;
        const done = await work(writer);
        return { result: done, made: writes };
      });
      counter.writes += made;
      return result;
    },
  };
  return { store: counted, counter };
}

/** The code that a call is refused with; fails the test when it is not refused. */
export async function refusal(call: Promise<unknown> | (() => unknown)): Promise<ErrorCode> {
  return (await refused(call)).code;
}

export async function refused(call: Promise<unknown> | (() => unknown)): Promise<ThroughlineError> {
  try {
    await (typeof call === 'function' ? call() : call);
  } catch (error) {
    if (error instanceof ThroughlineError) return error;
    throw error;
  }
  throw new Error('was not refused');
}

/** Texts of a hand-over. */
export const counted = { sent: 'one two three', fullHistory: 'all of it' };
/** Figures of one. */
export const handoverOf = (at: { dialog: string; task: string }) => ({
  task: at.task,
  dialog: at.dialog,
  agent: 'accounts',
  withheld: ['birth date'],
  tokenizer: 'o200k',
  sent: 3,
  fullHistory: 30,
});

/** A key of a reader, and proofs by it that may be wrong in any one thing. */
export class Prover {
  readonly thumbprint: string;
  readonly #scene: Scene;
  readonly #key: webcrypto.CryptoKey;
  readonly #jwk: JWK;

  static async make(scene: Scene): Promise<Prover> {
    const { privateKey, publicKey } = await generateKeyPair('Ed25519', { extractable: true });
    const jwk = await exportJWK(publicKey);
    return new Prover(scene, privateKey, jwk, await calculateJwkThumbprint(jwk));
  }

  private constructor(scene: Scene, key: webcrypto.CryptoKey, jwk: JWK, thumbprint: string) {
    this.#scene = scene;
    this.#key = key;
    this.#jwk = jwk;
    this.thumbprint = thumbprint;
  }

  async privateJwk(): Promise<JWK> {
    return exportJWK(this.#key);
  }

  proof(
    token: string,
    htu: string,
    wrong: { head?: Record<string, unknown>; claims?: Record<string, unknown> } = {},
  ): Promise<string> {
    const ath = createHash('sha256').update(token).digest('base64url');
    const claims = {
      jti: randomUUID(),
      htm: 'GET',
      htu,
      iat: Math.floor(this.#scene.now.getTime() / 1_000),
      ath,
      ...wrong.claims,
    };
    const head = { alg: 'Ed25519', typ: 'dpop+jwt', jwk: this.#jwk, ...wrong.head };
    return new SignJWT(claims).setProtectedHeader(head).sign(this.#key);
  }
}
