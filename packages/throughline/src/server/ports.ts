import type { A2aPorts, PushPorts } from '../bindings/a2a/ports.ts';
import type { AgentPorts } from '../agent/ports.ts';
import type { MasterPorts } from '../master/ports.ts';
import type { CaseSummary, CaseView, Explanation, TimelinePage } from '../model/case-view.ts';
import type { Grant, GrantRequest } from '../model/grant.ts';
import type { Principal } from '../model/principal.ts';
import type { KeySummary } from './schemas.ts';

/** What the HTTP API needs of a hub. Every method checks rights itself; none is checked here. */
export interface ServedHub extends A2aPorts, PushPorts {
  master(principal: Principal): MasterPorts;
  agent(principal: Principal): AgentPorts;
  cases(
    principal: Principal,
    query: { cursor?: string; pageSize?: number },
  ): Promise<{ cases: readonly CaseSummary[]; cursor?: string }>;
  caseView(principal: Principal, id: string): Promise<CaseView>;
  timeline(
    principal: Principal,
    id: string,
    query: { after?: number; limit?: number },
  ): Promise<TimelinePage>;
  explain(principal: Principal, a: string, b?: string): Promise<Explanation>;
  handoverTexts(
    principal: Principal,
    caseId: string,
    taskId: string,
  ): Promise<{ sent: string; fullHistory: string; returned?: string }>;
  grant(principal: Principal, contextId: string, request: GrantRequest): Promise<Grant>;
  grants(principal: Principal, contextId: string): Promise<readonly Grant[]>;
  revokeGrant(principal: Principal, grantId: string): Promise<void>;
  createKey(
    principal: Principal,
    request: { principal: Principal; label?: string },
  ): Promise<{ id: string; key: string }>;
  keys(principal: Principal): Promise<readonly KeySummary[]>;
  revokeKey(principal: Principal, id: string): Promise<void>;
  health(): Promise<{ ok: true; seq: number }>;
}
