export type { HubClientOptions } from './call.ts';
export type { AgentCalls } from './agent-calls.ts';
export type { CaseCalls } from './case-calls.ts';
export type { FeedState, FollowOptions } from './feed.ts';
export { HubClient } from './hub-client.ts';
export type { MasterCalls } from './master-calls.ts';
