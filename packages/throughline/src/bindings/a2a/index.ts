export type { AgentSideOptions, Waits } from './agent-side.ts';
export { executionOf, type Execution } from './call.ts';
export {
  agentCard,
  declaresCorrelation,
  withCorrelation,
  withGrpc,
  type AgentDescription,
  type ContextTerms,
} from './card.ts';
export {
  A2aClient,
  type CallOptions,
  type ConnectA2aOptions,
  type ExchangeOptions,
  type ListQuery,
  type OutgoingMessage,
} from './client.ts';
export { connectA2a } from './connect.ts';
export type { Place } from './client-observer.ts';
export { peerTransports, type PeerTransport } from './peer-transport.ts';
export type { PeerOutput, PeerTask } from './peer-task.ts';
export type { A2aPorts, PushPorts } from './ports.ts';
export type { Push, PushSender } from './push-sender.ts';
export { serveA2a, type ServeA2aOptions, type ServedAgent } from './serve.ts';
export { a2aRoutes, type A2aEnv, type A2aRoutes, type A2aRoutesOptions } from './server.ts';
export { currentTrace, withTrace, type Trace } from '../../telemetry/trace.ts';
export { openGrpc, type GrpcOptions, type ServedGrpc } from './serve-grpc.ts';
