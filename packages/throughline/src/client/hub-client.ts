import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import {
  admissionSchema,
  casePageSchema,
  caseViewSchema,
  explanationSchema,
  grantSchema,
  handoverTextsSchema,
  keySummarySchema,
  madeKeySchema,
  pageCodeSchema,
  principalSchema,
  quotaReportSchema,
  taskPageSchema,
  taskRecordSchema,
  termsSchema,
  timelinePageSchema,
  type Admission,
  type AdmissionRequest,
  type Caller as Acting,
  type CasePage,
  type CaseQuery,
  type CaseView,
  type Explanation,
  type Grant,
  type GrantRequest,
  type HandoverTexts,
  type KeyRequest,
  type KeySummary,
  type MadeKey,
  type Observation,
  type Principal,
  type QuotaReport,
  type Quotas,
  type TaskPage,
  type TaskQuery,
  type TaskRecord,
  type Terms,
  type TimelinePage,
  type PushConfig,
} from '../model/index.ts';
import { agentCalls, type AgentCalls } from './agent-calls.ts';
import { archiveCalls, type ArchiveCalls } from './archive-calls.ts';
import { FeedCalls } from './feed.ts';
import { handedOn } from './handed-on.ts';
import { Caller, segment, type Call, type HubClientOptions } from './call.ts';
import { caseCalls, type CaseCalls } from './case-calls.ts';
import { contentCalls, type ContentCalls } from './content-calls.ts';
import { unlessMissing } from './missing.ts';
import { masterCalls, type MasterCalls } from './master-calls.ts';
import { ownConfig, pushCalls, type PushCalls } from './push-calls.ts';
import { workerCalls, type WorkerCalls } from './worker-calls.ts';

/** Made once: a schema compiles itself at its first use. */
const written = z.object({ version: z.int() });

type PortName =
  | 'authenticate'
  | 'admit'
  | 'saveReply'
  | 'loadTask'
  | 'saveTask'
  | 'listTasks'
  | 'observe';

/**
 * A hub over its HTTP API: what a binding, a Master, an agent's runtime and people need of it, as if
 * it were in process. Throws ThroughlineError with the hub's codes, `unavailable` and `timeout`.
 */
export class HubClient {
  /** What is asserted, as it comes. */
  readonly feed: FeedCalls;
  /** Parts of offloaded content, and rights to read it. */
  readonly content: ContentCalls;
  /** Cases carried away. */
  readonly archive: ArchiveCalls;
  readonly #call: Caller;

  constructor(options: HubClientOptions) {
    this.#call = new Caller(options);
    this.feed = new FeedCalls(this.#call);
    this.content = contentCalls(this.#call);
    this.archive = archiveCalls(this.#call);
  }

  master(): MasterCalls {
    return masterCalls(this.#call);
  }

  agent(): AgentCalls {
    return agentCalls(this.#call);
  }

  /** The binding's and the runtime's ports in one object, as `serveAgent` takes them. */
  ports(): AgentCalls & PushCalls & WorkerCalls & Pick<HubClient, PortName | 'whoAmI'> {
    return {
      ...this.agent(),
      whoAmI: () => this.whoAmI(),
      authenticate: (credential) => this.authenticate(credential),
      admit: (caller, request) => this.admit(caller, request),
      saveReply: (caller, reply, seen) => this.saveReply(caller, reply, seen),
      loadTask: (caller, id, action) => this.loadTask(caller, id, action),
      saveTask: (caller, ...write) => this.saveTask(caller, ...write),
      listTasks: (caller, query) => this.listTasks(caller, query),
      observe: (caller, seen) => this.observe(caller, seen),
      ...pushCalls(this.#call),
      ...workerCalls(this.#call),
    };
  }

  /** `Authorization` header's value of one who called us → who that is. */
  async authenticate(credential: string | undefined): Promise<Principal> {
    if (credential === undefined) {
      const message = 'no credential came with the call; send a key of this hub as Bearer';
      throw new ThroughlineError('unauthenticated', message);
    }
    const call = { method: 'POST', path: '/authenticate', idempotent: true } as const;
    return this.#call.json({ ...call, headers: handedOn({ credential }) }, principalSchema);
  }

  /** Who the client's own key belongs to. */
  async whoAmI(): Promise<Principal> {
    return this.#call.json(
      { method: 'POST', path: '/authenticate', idempotent: true },
      principalSchema,
    );
  }

  async admit(caller: Acting, request: AdmissionRequest): Promise<Admission> {
    return this.#call.json(
      { method: 'POST', path: '/admissions', json: request, headers: handedOn(caller) },
      admissionSchema,
    );
  }

  async saveReply(
    caller: Acting,
    reply: { agent: string; messageId: string; contextId: string; reply: unknown },
    observations: readonly Observation[],
  ): Promise<void> {
    const json = { ...reply, observations };
    await this.#call.nothing({ method: 'POST', path: '/replies', json, headers: handedOn(caller) });
  }

  async loadTask(
    caller: Acting,
    taskId: string,
    action?: 'get' | 'cancel' | 'subscribe',
  ): Promise<TaskRecord | undefined> {
    const path = `/tasks/${segment(taskId)}`;
    const call: Call = { method: 'GET', path, query: { action }, headers: handedOn(caller) };
    return unlessMissing(this.#call.json(call, taskRecordSchema));
  }

  async saveTask(
    caller: Acting,
    record: TaskRecord,
    observations: readonly Observation[],
    pushConfigs: readonly PushConfig[] = [],
  ): Promise<{ version: number }> {
    const path = `/tasks/${segment(record.id)}`;
    const json = { record, observations, pushConfigs: pushConfigs.map(ownConfig) };
    return this.#call.json({ method: 'PUT', path, json, headers: handedOn(caller) }, written);
  }

  async listTasks(caller: Acting, query: TaskQuery): Promise<TaskPage> {
    return this.#call.json(
      { method: 'GET', path: '/tasks', query, headers: handedOn(caller) },
      taskPageSchema,
    );
  }

  async observe(caller: Acting, observations: readonly Observation[]): Promise<void> {
    // What is known already is not stated again.
    const call = { method: 'POST', path: '/observations', idempotent: true } as const;
    await this.#call.nothing({ ...call, json: { observations }, headers: handedOn(caller) });
  }

  async cases(query: CaseQuery = {}): Promise<CasePage> {
    return this.#call.json({ method: 'GET', path: '/cases', query }, casePageSchema);
  }

  /** What people do with one case, by the id of it or of anything in it. */
  case(id: string): CaseCalls {
    return caseCalls(this.#call, id);
  }

  /** `id`: an Activity's (`act_…`) or the contextId of its initial Dialog. */
  async caseView(id: string): Promise<CaseView> {
    return this.#call.json({ method: 'GET', path: `/cases/${segment(id)}` }, caseViewSchema);
  }

  async timeline(
    id: string,
    query: { after?: number; limit?: number } = {},
  ): Promise<TimelinePage> {
    const path = `/cases/${segment(id)}/timeline`;
    return this.#call.json({ method: 'GET', path, query }, timelinePageSchema);
  }

  async explain(a: string, b?: string): Promise<Explanation> {
    segment(a);
    if (b !== undefined) segment(b);
    const query = { a, b };
    return this.#call.json({ method: 'GET', path: '/explain', query }, explanationSchema);
  }

  async handoverTexts(caseId: string, taskId: string): Promise<HandoverTexts> {
    const path = `/cases/${segment(caseId)}/handovers/${segment(taskId)}/texts`;
    return this.#call.json({ method: 'GET', path }, handoverTextsSchema);
  }

  async grant(contextId: string, request: GrantRequest): Promise<Grant> {
    const path = `/contexts/${segment(contextId)}/grants`;
    return this.#call.json({ method: 'POST', path, json: request }, grantSchema);
  }

  async grants(contextId: string): Promise<Grant[]> {
    const path = `/contexts/${segment(contextId)}/grants`;
    const schema = z.object({ grants: z.array(grantSchema) });
    return (await this.#call.json({ method: 'GET', path }, schema)).grants;
  }

  async revokeGrant(grantId: string): Promise<void> {
    await this.#call.nothing({ method: 'DELETE', path: `/grants/${segment(grantId)}` });
  }

  /** The key's secret is in this answer and nowhere else. */
  async createKey(request: KeyRequest): Promise<MadeKey> {
    const call = { method: 'POST', path: '/keys', json: request } as const;
    return this.#call.json(call, madeKeySchema);
  }

  async keys(): Promise<KeySummary[]> {
    const schema = z.object({ keys: z.array(keySummarySchema) });
    return (await this.#call.json({ method: 'GET', path: '/keys' }, schema)).keys;
  }

  async revokeKey(id: string): Promise<void> {
    await this.#call.nothing({ method: 'DELETE', path: `/keys/${segment(id)}` });
  }

  /** An address of the page that lets a browser in once, within a minute, as the key’s principal. */
  async pageAddress(): Promise<{ url: string; expiresAt: string }> {
    const call = { method: 'POST', path: '/sessions/codes', idempotent: true } as const;
    const { code, expiresAt } = await this.#call.json(call, pageCodeSchema);
    return { url: this.#call.pageAddress(code), expiresAt };
  }

  /** In the page: takes a code for the browser’s cookie. */
  async openSession(code: string): Promise<void> {
    await this.#call.nothing({ method: 'POST', path: '/sessions', json: { code } });
  }

  /** In the page: ends what the cookie stands for. */
  async endSession(): Promise<void> {
    await this.#call.nothing({ method: 'DELETE', path: '/sessions' });
  }

  /** How the hub treats contexts and history: what an agent's card states. */
  async terms(): Promise<Terms> {
    return this.#call.json({ method: 'GET', path: '/terms' }, termsSchema);
  }

  async quotas(principal?: string): Promise<QuotaReport> {
    const query = { principal };
    return this.#call.json({ method: 'GET', path: '/quotas', query }, quotaReportSchema);
  }

  /** Sets all limits of the tenant; what is left out has none. */
  async setQuotas(json: Quotas): Promise<void> {
    await this.#call.nothing({ method: 'PUT', path: '/quotas', json, idempotent: true });
  }

  async health(): Promise<{ ok: true }> {
    const schema = z.object({ ok: z.literal(true) });
    return this.#call.json({ method: 'GET', path: '/health' }, schema);
  }
}
