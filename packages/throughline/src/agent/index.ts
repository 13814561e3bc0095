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
  WorkIo,
} from './handler.ts';
export type { AgentPorts } from './ports.ts';
export { cardOf, serveAgent, type ServeAgentOptions } from './serve-agent.ts';
