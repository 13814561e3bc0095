export { makeExecutor, type ExecutorOptions } from './executor.ts';
export type {
  AgentHandler,
  CriterionFinding,
  FetchedContent,
  HandlerIo,
  HandlerResult,
  IncomingMessage,
  MessageAnswer,
  MessageHandler,
  MessageIo,
  ModelSpent,
  ReceivedMessage,
  WorkIo,
} from './handler.ts';
export { modelAgent, type ModelAgentOptions } from './model-agent.ts';
export type { AgentPorts } from './ports.ts';
export {
  httpCompressor,
  modelSummariser,
  type HttpCompressorOptions,
  type Rewriter,
} from './rewriter.ts';
export {
  createForeignContent,
  type ForeignContent,
  type ForeignOptions,
} from '../transports/index.ts';
export { makeProofKey, type ProofKey } from './proof-key.ts';
export { treeSitter, type CodeReader } from './tree-sitter.ts';
export { cardOf, serveAgent, type ServeAgentOptions } from './serve-agent.ts';
