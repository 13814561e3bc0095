import type { A2aPorts, PushPorts } from '../bindings/a2a/ports.ts';
import type { AgentPorts } from '../agent/ports.ts';
import type { Exporting } from '../hub/archive/exporting.ts';
import type { ContentDesk } from '../hub/content-desk.ts';
import type { MasterPorts, RunLeases } from '../master/ports.ts';
import type {
  Beat,
  CasePage,
  CaseQuery,
  CaseView,
  Caused,
  Correction,
  Explanation,
  FeedItem,
  FeedQuery,
  Grant,
  GrantRequest,
  HandoverTexts,
  KeyRequest,
  KeySummary,
  Labelling,
  MadeKey,
  PageCode,
  Merging,
  Principal,
  Pulse,
  QuotaReport,
  Quotas,
  Said,
  Split,
  Splitting,
  Taking,
  TaskRecord,
  Terms,
  TimelinePage,
  Undoing,
} from '../model/index.ts';

/** Opens streams of events; throws before there is one. */
interface ServedFeed {
  open(
    principal: Principal,
    query: FeedQuery & { readonly case?: string },
    life: { readonly signal: AbortSignal; readonly stillIn: () => Promise<boolean> },
  ): Promise<AsyncIterable<FeedStep>>;
}

/** What came at once, and the place behind it; without items a sign of life. */
export interface FeedStep {
  readonly items: readonly FeedItem[];
  readonly cursor: string;
}

/** What the HTTP API needs of a hub. Every method checks rights itself; none is checked here. */
export interface ServedHub extends Omit<A2aPorts, 'authenticate'>, PushPorts {
  /** `via`: the agent that was handed the credential. */
  authenticate(credential: string | undefined, via?: Principal): Promise<Principal>;
  master(principal: Principal): MasterPorts & Pick<RunLeases, 'leftRuns'>;
  agent(principal: Principal): AgentPorts;
  readonly feed: ServedFeed;
  readonly archive: { readonly exporting: Pick<Exporting, 'case' | 'tenant'> };
  readonly content: Pick<
    ContentDesk,
    'get' | 'cut' | 'renewToken' | 'narrowToken' | 'revokeTokens'
  >;
  /** Told to everybody who is let in. */
  readonly terms: Terms;
  cases(principal: Principal, query: CaseQuery): Promise<CasePage>;
  caseView(principal: Principal, id: string): Promise<CaseView>;
  closeCase(principal: Principal, id: string, given: Caused): Promise<Said>;
  reopenCase(principal: Principal, id: string, given: Caused): Promise<Said>;
  labelCase(principal: Principal, id: string, given: Labelling): Promise<Said>;
  mergeCase(principal: Principal, id: string, given: Merging): Promise<Said>;
  splitCase(principal: Principal, id: string, given: Splitting): Promise<Split>;
  correctCase(principal: Principal, id: string, given: Correction): Promise<Said>;
  undoInCase(principal: Principal, id: string, given: Undoing): Promise<Said>;
  eraseCase(principal: Principal, id: string, given: Caused): Promise<Said>;
  timeline(
    principal: Principal,
    id: string,
    query: { after?: number; limit?: number },
  ): Promise<TimelinePage>;
  explain(principal: Principal, a: string, b?: string): Promise<Explanation>;
  handoverTexts(principal: Principal, caseId: string, taskId: string): Promise<HandoverTexts>;
  grant(principal: Principal, contextId: string, request: GrantRequest): Promise<Grant>;
  grants(principal: Principal, contextId: string): Promise<readonly Grant[]>;
  revokeGrant(principal: Principal, grantId: string): Promise<void>;
  createKey(principal: Principal, request: KeyRequest): Promise<MadeKey>;
  keys(principal: Principal): Promise<readonly KeySummary[]>;
  revokeKey(principal: Principal, id: string): Promise<void>;
  pageCode(credential: string | undefined): Promise<PageCode>;
  openPageSession(code: string): Promise<string>;
  pageSession(secret: string): Promise<Principal | undefined>;
  endPageSession(secret: string): Promise<void>;
  quotaReport(principal: Principal, of?: string): Promise<QuotaReport>;
  setQuotas(principal: Principal, limits: Quotas): Promise<void>;
  readonly workers: {
    beat(agent: Principal, given: Beat): Promise<Pulse>;
    leave(agent: Principal, given: Pick<Beat, 'worker'>): Promise<void>;
    takeUp(agent: Principal, given: Taking): Promise<readonly TaskRecord[]>;
  };
  health(): Promise<{ ok: true; seq: number }>;
}
