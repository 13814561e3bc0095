export type { Acting } from './acting.ts';
export { may, relations, rights, type Action, type Guarded, type Relation } from './authorize.ts';
export type { ContentOptions } from './content-desk.ts';
export type { ContentRegions, HubTerms, WorkerTerms } from './deps.ts';
export type { AgentDesk } from './content-desk.ts';
export { Hub, type AgentView, type HubOptions } from './hub.ts';
export type { Random } from './ids.ts';
export type { FetchKeys, JwtOptions } from './jwt.ts';
export type { MasterDesk } from './master.ts';
