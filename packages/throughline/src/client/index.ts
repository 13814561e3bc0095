export type { HubClientOptions } from './call.ts';
export type { AgentCalls } from './agent-calls.ts';
export { HubClient, type KeySummary } from './hub-client.ts';
export type { MasterCalls } from './master-calls.ts';
