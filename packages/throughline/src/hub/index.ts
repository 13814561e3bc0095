export type { Acting } from './acting.ts';
export { may, relations, rights, type Action, type Guarded, type Relation } from './authorize.ts';
export type { BoundedCaseView } from './case-views.ts';
export { Hub, type AgentDesk, type AgentView, type HubOptions } from './hub.ts';
export type { Random } from './ids.ts';
export type { KeyInfo, KeyRequest } from './keys.ts';
export type { MasterDesk } from './master.ts';
