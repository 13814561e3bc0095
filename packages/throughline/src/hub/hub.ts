import type {
  Admission,
  AdmissionRequest,
  CaseSummary,
  ContentRef,
  Explanation,
  Grant,
  GrantRequest,
  Observation,
  Principal,
  PushConfig,
  TaskPage,
  TaskQuery,
  TaskRecord,
  TimelinePage,
} from '../model/index.ts';
import type { Store } from '../store/store.ts';
import type { Acting } from './acting.ts';
import { Admissions } from './admission.ts';
import type { Action } from './authorize.ts';
import { CaseAccess } from './case-access.ts';
import { Cases } from './case-records.ts';
import { CaseViews, type BoundedCaseView } from './case-views.ts';
import { Contents, type OutputInput } from './content.ts';
import { Contexts } from './contexts.ts';
import type { Deps } from './deps.ts';
import { Grants } from './grants.ts';
import { Ids, systemRandom, type Random } from './ids.ts';
import { Keys, type KeyInfo, type KeyRequest } from './keys.ts';
import { TaskLists } from './list-tasks.ts';
import { Mappings } from './mappings.ts';
import { MasterDesk, type MasterParts } from './master.ts';
import { Messages } from './messages.ts';
import { Observer } from './observe.ts';
import { Participants } from './participants.ts';
import { PushConfigs } from './push-configs.ts';
import { Replies } from './replies.ts';
import { Runs } from './runs.ts';
import { Statements } from './statements.ts';
import { TaskStore } from './task-records.ts';
import { Tasks, type Reply } from './tasks.ts';
import { Usage, type Texts } from './usage.ts';
import { Vault } from './vault.ts';

const day = 86_400_000;

export interface HubOptions {
  readonly store: Store;
  /** 32 bytes that everything sealed and blinded here depends on. */
  readonly domainKey: Uint8Array;
  /** Origin of the hub's URL. */
  readonly origin: string;
  readonly clock?: () => Date;
  readonly random?: Random;
  /** What becomes of a contextId that was never issued: refused (default), or taken from its sender. */
  readonly contextPolicy?: 'refuse' | 'adopt';
  /** A context that no message used for so long is over. Default: 30 days. */
  readonly contextTtlMs?: number;
  /** How long a message that was let in may take until its task is stored. Default: 30 s. */
  readonly leaseMs?: number;
}

/** What an agent's runtime needs beside the binding's ports. */
export interface AgentDesk {
  getContent(uri: string, token: string): Promise<{ mediaType: string; bytes: Uint8Array }>;
  putOutput(output: OutputInput): Promise<ContentRef>;
}

/** The A2A binding's ports, all of them of one agent. */
export type AgentView = Pick<
  Hub,
  | 'authenticate'
  | 'admit'
  | 'saveReply'
  | 'loadTask'
  | 'saveTask'
  | 'listTasks'
  | 'observe'
  | 'savePushConfig'
  | 'loadPushConfigs'
  | 'deletePushConfig'
  | 'settlePushConfig'
>;

/**
 * One domain's hub: who may use which context, what was said and done in it, and how it hangs
 * together. Every method checks rights itself; what one may not see does not exist.
 */
export class Hub {
  readonly #deps: Deps;
  readonly #keys: Keys;
  readonly #admissions: Admissions;
  readonly #tasks: Tasks;
  readonly #lists: TaskLists;
  readonly #observer: Observer;
  readonly #push: PushConfigs;
  readonly #views: CaseViews;
  readonly #grants: Grants;
  readonly #master: MasterParts;

  /** Throws `damaged` when the store belongs to another domain key. */
  static async open(options: HubOptions): Promise<Hub> {
    const hub = new Hub(options);
    await hub.#deps.vault.claim(options.store);
    return hub;
  }

  private constructor(options: HubOptions) {
    const random = options.random ?? systemRandom;
    const deps: Deps = {
      store: options.store,
      vault: new Vault(options.domainKey, random),
      ids: new Ids(random),
      now: options.clock ?? (() => new Date()),
      origin: new URL(options.origin).origin,
      contextPolicy: options.contextPolicy ?? 'refuse',
      contextTtlMs: options.contextTtlMs ?? 30 * day,
      leaseMs: options.leaseMs ?? 30_000,
    };
    const contexts = new Contexts(deps);
    const [messages, replies, tasks] = [new Messages(deps), new Replies(deps), new TaskStore(deps)];
    const registries = {
      participants: new Participants(deps),
      mappings: new Mappings(deps),
      cases: new Cases(deps, contexts),
    };
    const parts = { contexts, messages, replies, tasks, registries };
    const usage = new Usage(deps, registries);
    const access = new CaseAccess(parts);
    this.#deps = deps;
    this.#keys = new Keys(deps, random);
    this.#admissions = new Admissions(deps, parts);
    this.#tasks = new Tasks(deps, parts);
    this.#lists = new TaskLists(deps, contexts, tasks);
    this.#observer = new Observer(deps, parts);
    this.#push = new PushConfigs(deps, parts);
    this.#views = new CaseViews(deps, { access, contexts, registries, usage });
    this.#grants = new Grants(deps, contexts);
    this.#master = {
      registries,
      tasks,
      statements: new Statements(deps, registries),
      contents: new Contents(deps, registries, tasks),
      runs: new Runs(deps, registries),
      usage,
    };
  }

  /** Value of an Authorization header → principal; `unauthenticated` for all else. */
  authenticate(credential: string | undefined): Promise<Principal> {
    return this.#keys.authenticate(credential);
  }

  /** Decides over a message, its context and its tasks before anything runs, and writes that down. */
  async admit(caller: Acting, request: AdmissionRequest): Promise<Admission> {
    return this.#admissions.admit(caller, request);
  }

  async saveReply(
    caller: Acting,
    reply: Reply,
    observations: readonly Observation[],
  ): Promise<void> {
    await this.#tasks.saveReply(caller, reply, observations);
  }

  /** Undefined: not there, or not open to the caller for that action. */
  async loadTask(
    caller: Acting,
    taskId: string,
    action: Action = 'get',
  ): Promise<TaskRecord | undefined> {
    return this.#tasks.load(caller, taskId, action);
  }

  async saveTask(
    caller: Acting,
    record: TaskRecord,
    observations: readonly Observation[],
  ): Promise<{ version: number }> {
    return this.#tasks.save(caller, record, observations);
  }

  async listTasks(caller: Acting, query: TaskQuery): Promise<TaskPage> {
    return this.#lists.list(caller, query);
  }

  async observe(caller: Acting, observations: readonly Observation[]): Promise<void> {
    await this.#observer.observe(caller, observations);
  }

  /** Asks to be told of a task; `quota` when it has too many configs. */
  async savePushConfig(caller: Acting, config: PushConfig): Promise<void> {
    await this.#push.save(caller, config);
  }

  /** The caller's own; to the executing agent all of its task, or without a task those due. */
  async loadPushConfigs(caller: Acting, query: { taskId?: string }): Promise<PushConfig[]> {
    return this.#push.load(caller, query);
  }

  async deletePushConfig(caller: Acting, taskId: string, id: string): Promise<void> {
    await this.#push.delete(caller, taskId, id);
  }

  /** The end of the task was told to that one, or given up. */
  async settlePushConfig(
    caller: Acting,
    config: { taskId: string; id: string; owner: string },
  ): Promise<void> {
    await this.#push.settle(caller, config);
  }

  /**
   * The binding's ports as one agent presents its callers: it lets in and writes for itself alone.
   * For an agent in this process, and for a server that has authenticated an agent's own key.
   */
  via(agent: Principal): AgentView {
    const by = (caller: Acting): Acting => ({ ...caller, via: agent });
    return {
      authenticate: (credential) => this.authenticate(credential),
      admit: (caller, request) => this.admit(by(caller), request),
      saveReply: (caller, reply, seen) => this.saveReply(by(caller), reply, seen),
      loadTask: (caller, id, action) => this.loadTask(by(caller), id, action),
      saveTask: (caller, record, seen) => this.saveTask(by(caller), record, seen),
      listTasks: (caller, query) => this.listTasks(by(caller), query),
      observe: (caller, seen) => this.observe(by(caller), seen),
      savePushConfig: (caller, config) => this.savePushConfig(by(caller), config),
      loadPushConfigs: (caller, query) => this.loadPushConfigs(by(caller), query),
      deletePushConfig: (caller, taskId, id) => this.deletePushConfig(by(caller), taskId, id),
      settlePushConfig: (caller, config) => this.settlePushConfig(by(caller), config),
    };
  }

  /** The hub as one Master uses it. */
  master(principal: Principal): MasterDesk {
    return new MasterDesk(this.#deps, this.#master, principal);
  }

  /** The hub as one agent's runtime uses it. */
  agent(principal: Principal): AgentDesk {
    const { contents } = this.#master;
    return {
      getContent: (uri, token) => contents.get(principal, uri, token),
      putOutput: (output) => contents.putOutput(principal, output),
    };
  }

  /** Cases of one's own, those granted, for operators all of the tenant; latest change first. */
  async cases(
    principal: Principal,
    query: { cursor?: string; pageSize?: number } = {},
  ): Promise<{ cases: CaseSummary[]; cursor?: string }> {
    return this.#views.list(principal, query);
  }

  /** By `act_…`, the id of anything in it, a contextId or a taskId. */
  async caseView(principal: Principal, id: string): Promise<BoundedCaseView> {
    return this.#views.view(principal, id);
  }

  async timeline(
    principal: Principal,
    id: string,
    query: { after?: number; limit?: number } = {},
  ): Promise<TimelinePage> {
    return this.#views.timeline(principal, id, query);
  }

  async explain(principal: Principal, a: string, b?: string): Promise<Explanation> {
    return this.#views.explain(principal, a, b);
  }

  async handoverTexts(principal: Principal, caseId: string, taskId: string): Promise<Texts> {
    return this.#views.texts(principal, caseId, taskId);
  }

  async grant(principal: Principal, contextId: string, request: GrantRequest): Promise<Grant> {
    return this.#grants.give(principal, contextId, request);
  }

  async grants(principal: Principal, contextId: string): Promise<Grant[]> {
    return this.#grants.list(principal, contextId);
  }

  async revokeGrant(principal: Principal, grantId: string): Promise<void> {
    await this.#grants.revoke(principal, grantId);
  }

  /** The key is in this answer and nowhere else. */
  async createKey(principal: Principal, request: KeyRequest): Promise<{ id: string; key: string }> {
    return this.#keys.create(principal, request);
  }

  async keys(principal: Principal): Promise<KeyInfo[]> {
    return this.#keys.list(principal);
  }

  async revokeKey(principal: Principal, id: string): Promise<void> {
    await this.#keys.revoke(principal, id);
  }

  /** A key for whoever owns the data folder, at first start. */
  async bootstrapKey(principal: Principal): Promise<string> {
    return this.#keys.bootstrap(principal);
  }

  async health(): Promise<{ ok: true; seq: number }> {
    const { seq } = await this.#deps.store.read((reader) => reader.head());
    return { ok: true, seq };
  }

  async close(): Promise<void> {
    await this.#deps.store.close();
  }
}
