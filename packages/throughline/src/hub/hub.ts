import type {
  Admission,
  AdmissionRequest,
  Beat,
  CasePage,
  CaseQuery,
  CaseView,
  Caused,
  Correction,
  Explanation,
  Grant,
  GrantRequest,
  HandoverTexts,
  KeyRequest,
  KeySummary,
  Labelling,
  MadeKey,
  Merging,
  Observation,
  PageCode,
  Principal,
  Pulse,
  PushConfig,
  QuotaReport,
  Quotas as QuotaSettings,
  Said,
  Split,
  Splitting,
  Swept,
  Taking,
  TaskPage,
  TaskQuery,
  TaskRecord,
  Terms,
  TimelinePage,
  Undoing,
} from '../model/index.ts';
import type { Store } from '../store/store.ts';
import { inSpan } from '../telemetry/span.ts';
import type { Acting } from './acting.ts';
import { Archive } from './archive/archive.ts';
import { Admissions } from './admission.ts';
import type { Action } from './authorize.ts';
import { CallTokens } from './call-tokens.ts';
import { CaseAccess } from './case-access.ts';
import { CaseLabels } from './case-labels.ts';
import { CaseLists } from './case-lists.ts';
import { Cases } from './case-records.ts';
import { CaseViews } from './case-views.ts';
import { CaseWork } from './case-work.ts';
import { ContentDesk, type AgentDesk, type ContentOptions } from './content-desk.ts';
import { Contexts } from './contexts.ts';
import { depsOf, type Deps, type HubTerms, type WorkerTerms } from './deps.ts';
import { Erasure } from './erasure.ts';
import { Feed, type FeedOptions } from './feed.ts';
import { Grants } from './grants.ts';
import { systemRandom, type Random } from './ids.ts';
import { Jwts, type JwtOptions } from './jwt.ts';
import { Keys } from './keys.ts';
import { TaskLists } from './list-tasks.ts';
import { Mappings } from './mappings.ts';
import { MasterDesk, type MasterParts } from './master.ts';
import { Messages } from './messages.ts';
import { Observer } from './observe.ts';
import { Participants } from './participants.ts';
import { PageSessions } from './page-sessions.ts';
import { PushConfigs } from './push-configs.ts';
import { Quotas } from './quotas.ts';
import { Replies } from './replies.ts';
import { Runs } from './runs.ts';
import { Statements } from './statements.ts';
import { Sweeper } from './sweeper.ts';
import { TaskStore } from './task-records.ts';
import { Tasks, type Reply } from './tasks.ts';
import { Usage } from './usage.ts';
import { Workers } from './workers.ts';

export interface HubOptions extends Partial<HubTerms> {
  readonly store: Store;
  /** 32 bytes that everything sealed and blinded here depends on. */
  readonly domainKey: Uint8Array;
  /** Origin of the hub's URL. */
  readonly origin: string;
  readonly clock?: () => Date;
  readonly random?: Random;
  /** Name of the restore that fills the store, while it does. */
  readonly restoring?: string;
  /** Milliseconds that whoever took something up has before others may. Default: 30 s. */
  readonly leaseMs?: number;
  /** Default: 15 s without a word, and 2 minutes for others to take up what was left. */
  readonly workers?: Partial<WorkerTerms>;
  /** Names what only one process can hold, such as its data folder: for agents in this process. */
  readonly seat?: string;
  /** Limits of tenants for which no operator set others. Default: none. */
  readonly quotas?: Partial<QuotaSettings>;
  readonly feed?: FeedOptions;
  readonly content?: ContentOptions;
  /** Bearer tokens of an issuer, beside the hub's own API keys. */
  readonly jwt?: JwtOptions;
}

const seconds = (ms: number): number => Math.ceil(ms / 1_000);

/** What one process of an agent says of itself. */
interface WorkerView {
  beat(given: Beat): Promise<Pulse>;
  leave(given: Pick<Beat, 'worker'>): Promise<void>;
  takeUp(given: Taking): Promise<TaskRecord[]>;
}

/** The A2A binding's ports, all of them of one agent. */
export type AgentView = WorkerView &
  Pick<
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
  /** What is asserted, as it comes. */
  readonly feed: Feed;
  /** Offloaded content, and the rights to read it. */
  readonly content: ContentDesk;
  /** Processes of agents: which are alive, and what others left. */
  readonly workers: Workers;
  readonly #deps: Deps;
  readonly #keys: Keys;
  readonly #sessions: PageSessions;
  readonly #jwts: Jwts | undefined;
  readonly #callTokens: CallTokens;
  readonly #admissions: Admissions;
  readonly #tasks: Tasks;
  readonly #lists: TaskLists;
  readonly #observer: Observer;
  readonly #push: PushConfigs;
  readonly #caseLists: CaseLists;
  readonly #views: CaseViews;
  readonly #work: CaseWork;
  readonly #grants: Grants;
  readonly #quotas: Quotas;
  readonly #sweeper: Sweeper;
  readonly #master: MasterParts;
  readonly archive: Archive;

  /** Throws `damaged` when the store belongs to another domain key, `invalid` for terms that can't be. */
  static async open(options: HubOptions): Promise<Hub> {
    const hub = new Hub(options);
    await hub.#deps.vault.claim(options.store, options.restoring);
    return hub;
  }

  private constructor(options: HubOptions) {
    const random = options.random ?? systemRandom;
    const deps = depsOf(options, random);
    const contexts = new Contexts(deps);
    const [messages, replies, tasks] = [new Messages(deps), new Replies(deps), new TaskStore(deps)];
    const cases = new Cases(deps, contexts);
    const registries = {
      participants: new Participants(deps),
      mappings: new Mappings(deps),
      cases,
    };
    const quotas = new Quotas(deps, { contexts, messages, tasks });
    const push = new PushConfigs(deps, { contexts, tasks });
    const workers = new Workers(deps, { tasks, contexts, registries });
    const parts = { contexts, messages, replies, tasks, registries, quotas, push, workers };
    const usage = new Usage(deps, registries);
    const access = new CaseAccess(parts);
    const labels = new CaseLabels(deps);
    const content = new ContentDesk(deps, { ...parts, access }, options.content);
    const erasure = new Erasure(deps, { ...parts, content });
    this.#deps = deps;
    this.content = content;
    this.workers = workers;
    this.#keys = new Keys(deps, random, quotas);
    this.#sessions = new PageSessions(deps, random, this.#keys);
    this.#callTokens = new CallTokens(deps.vault, deps.ids, deps.now);
    this.#jwts = options.jwt && new Jwts(options.jwt, deps.now);
    this.#admissions = new Admissions(deps, parts);
    this.#tasks = new Tasks(deps, parts);
    this.#lists = new TaskLists(deps, contexts, tasks);
    this.#observer = new Observer(deps, parts);
    this.#push = push;
    this.#caseLists = new CaseLists(deps, { access, registries, labels });
    this.#views = new CaseViews(deps, { access, usage, registries });
    const [views, lists] = [this.#views, this.#caseLists];
    this.feed = new Feed(deps, { access, views, lists }, options.feed);
    this.#work = new CaseWork(deps, { access, contexts, registries, labels, erasure });
    this.#grants = new Grants(deps, contexts, quotas);
    this.#quotas = quotas;
    this.#sweeper = new Sweeper(deps, { ...parts, ...registries, erasure, content });
    const beside = { access, usage, labels, erasure, objects: content.objects };
    this.archive = new Archive(deps, { ...parts, ...beside });
    this.#master = {
      registries,
      tasks,
      statements: new Statements(deps, registries),
      content,
      runs: new Runs(deps, registries, workers),
      workers,
      usage,
      callTokens: this.#callTokens,
    };
  }

  /** What a client may know of how contexts and history are treated; for an agent's card. */
  get terms(): Terms {
    const { contextPolicy, contextTtlMs, taskTtlMs, historyTtlMs } = this.#deps.terms;
    return {
      contextPolicy,
      contextSeconds: seconds(contextTtlMs),
      ...(taskTtlMs === undefined ? {} : { taskSeconds: seconds(taskTtlMs) }),
      ...(historyTtlMs === undefined ? {} : { historySeconds: seconds(historyTtlMs) }),
    };
  }

  /**
   * Value of an Authorization header → principal; `unauthenticated` for all else. `via`: the agent
   * that was handed it, which alone can show a call token made for it.
   */
  async authenticate(credential: string | undefined, via?: Principal): Promise<Principal> {
    return (
      (await this.#callTokens.principal(credential, via)) ??
      (await this.#jwts?.principal(credential)) ??
      this.#keys.authenticate(credential)
    );
  }

  /** Decides over a message, its context and its tasks before anything runs, and writes that down. */
  async admit(caller: Acting, request: AdmissionRequest): Promise<Admission> {
    return inSpan('hub.admit', () => this.#admissions.admit(caller, request));
  }

  async saveReply(
    caller: Acting,
    reply: Reply,
    observations: readonly Observation[],
  ): Promise<void> {
    await inSpan('hub.save-reply', () => this.#tasks.saveReply(caller, reply, observations));
  }

  /** Undefined: not there, or not open to the caller for that action. */
  async loadTask(
    caller: Acting,
    taskId: string,
    action: Action = 'get',
  ): Promise<TaskRecord | undefined> {
    return inSpan('hub.load-task', () => this.#tasks.load(caller, taskId, action));
  }

  async saveTask(
    caller: Acting,
    record: TaskRecord,
    observations: readonly Observation[],
    pushConfigs: readonly PushConfig[] = [],
  ): Promise<{ version: number }> {
    const save = () => this.#tasks.save(caller, record, observations, pushConfigs);
    return inSpan('hub.save-task', save);
  }

  async listTasks(caller: Acting, query: TaskQuery): Promise<TaskPage> {
    return inSpan('hub.list-tasks', () => this.#lists.list(caller, query));
  }

  async observe(caller: Acting, observations: readonly Observation[]): Promise<void> {
    await inSpan('hub.observe', () => this.#observer.observe(caller, observations));
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
      authenticate: (credential) => this.authenticate(credential, agent),
      admit: (caller, request) => this.admit(by(caller), request),
      saveReply: (caller, reply, seen) => this.saveReply(by(caller), reply, seen),
      loadTask: (caller, id, action) => this.loadTask(by(caller), id, action),
      saveTask: (caller, ...write) => this.saveTask(by(caller), ...write),
      listTasks: (caller, query) => this.listTasks(by(caller), query),
      observe: (caller, seen) => this.observe(by(caller), seen),
      savePushConfig: (caller, config) => this.savePushConfig(by(caller), config),
      loadPushConfigs: (caller, query) => this.loadPushConfigs(by(caller), query),
      deletePushConfig: (caller, taskId, id) => this.deletePushConfig(by(caller), taskId, id),
      settlePushConfig: (caller, config) => this.settlePushConfig(by(caller), config),
      beat: (given) => {
        const { seat } = this.#deps;
        return this.workers.beat(agent, seat === undefined ? given : { ...given, seat });
      },
      leave: (given) => this.workers.leave(agent, given),
      takeUp: (given) => this.workers.takeUp(agent, given),
    };
  }

  /** The hub as one Master uses it. */
  master(principal: Principal): MasterDesk {
    return new MasterDesk(this.#deps, this.#master, principal);
  }

  /** The hub as one agent's runtime uses it. */
  agent(principal: Principal): AgentDesk {
    return this.content.agent(principal);
  }

  /** Cases of one's own, those granted, for operators all of the tenant; latest change first. */
  async cases(principal: Principal, query: CaseQuery = {}): Promise<CasePage> {
    return inSpan('hub.list-cases', () => this.#caseLists.list(principal, query));
  }

  /** By `act_…`, the id of anything in it, a contextId or a taskId. */
  async caseView(principal: Principal, id: string): Promise<CaseView> {
    return inSpan('hub.show-case', () => this.#views.view(principal, id));
  }

  async closeCase(principal: Principal, id: string, given: Caused = {}): Promise<Said> {
    return this.#work.close(principal, id, given);
  }

  async reopenCase(principal: Principal, id: string, given: Caused = {}): Promise<Said> {
    return this.#work.reopen(principal, id, given);
  }

  async labelCase(principal: Principal, id: string, given: Labelling): Promise<Said> {
    return this.#work.label(principal, id, given);
  }

  /** The case is closed and shown with the other one. */
  async mergeCase(principal: Principal, id: string, given: Merging): Promise<Said> {
    return this.#work.merge(principal, id, given);
  }

  /** A case of its own that goes on from this one. */
  async splitCase(principal: Principal, id: string, given: Splitting = {}): Promise<Split> {
    return this.#work.split(principal, id, given);
  }

  async correctCase(principal: Principal, id: string, given: Correction): Promise<Said> {
    return this.#work.correct(principal, id, given);
  }

  async undoInCase(principal: Principal, id: string, given: Undoing): Promise<Said> {
    return this.#work.undo(principal, id, given);
  }

  /** Destroys what people wrote in it, for good. Its shape and the log's chain of hashes stay. */
  async eraseCase(principal: Principal, id: string, given: Caused = {}): Promise<Said> {
    const said = await this.#work.erase(principal, id, given);
    // Without their keys the bytes are nothing; where they can't be deleted now, the sweeper does it.
    await this.content.clear().catch(() => undefined);
    return said;
  }

  /** Ends what its time is over for, a bounded number at a time. */
  async sweep(): Promise<Swept> {
    return this.#sweeper.sweep();
  }

  async timeline(
    principal: Principal,
    id: string,
    query: { after?: number; limit?: number } = {},
  ): Promise<TimelinePage> {
    return inSpan('hub.timeline', () => this.#views.timeline(principal, id, query));
  }

  async explain(principal: Principal, a: string, b?: string): Promise<Explanation> {
    return inSpan('hub.explain', () => this.#views.explain(principal, a, b));
  }

  async handoverTexts(
    principal: Principal,
    caseId: string,
    taskId: string,
  ): Promise<HandoverTexts> {
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
  async createKey(principal: Principal, request: KeyRequest): Promise<MadeKey> {
    return this.#keys.create(principal, request);
  }

  async keys(principal: Principal): Promise<KeySummary[]> {
    return this.#keys.list(principal);
  }

  async revokeKey(principal: Principal, id: string): Promise<void> {
    await this.#keys.revoke(principal, id);
  }

  /** A one-time code that lets a browser in as the principal of an API key. */
  async pageCode(credential: string | undefined): Promise<PageCode> {
    return this.#sessions.makeCode(credential);
  }

  /** Takes a code, once, for the secret of a session. */
  async openPageSession(code: string): Promise<string> {
    return this.#sessions.open(code);
  }

  /** Whose session it is, as long as it and the key it was made with hold. */
  async pageSession(secret: string): Promise<Principal | undefined> {
    return this.#sessions.principal(secret);
  }

  async endPageSession(secret: string): Promise<void> {
    await this.#sessions.end(secret);
  }

  /** A key for whoever owns the data folder, at first start. */
  async bootstrapKey(principal: Principal): Promise<string> {
    return this.#keys.bootstrap(principal);
  }

  /** Limits of the tenant, and what is used of them; of one principal too. */
  async quotaReport(principal: Principal, of?: string): Promise<QuotaReport> {
    return this.#quotas.show(principal, of);
  }

  async setQuotas(principal: Principal, limits: QuotaSettings): Promise<void> {
    await this.#quotas.set(principal, limits);
  }

  async health(): Promise<{ ok: true; seq: number }> {
    const { seq } = await this.#deps.store.read((reader) => reader.head());
    return { ok: true, seq };
  }

  async close(): Promise<void> {
    this.feed.close();
    await this.content.close();
    await this.#deps.store.close();
  }
}
