export { connectOverA2a, type A2aConnectOptions } from './a2a-connection.ts';
export { checkPlan, type PlanGround } from './check-plan.ts';
export type {
  AgentConnection,
  AgentOutput,
  AgentTask,
  Connect,
  KnownAgent,
  OutgoingMessage,
  Place,
} from './connection.ts';
export type { Grader, GradeRequest } from './context.ts';
export type { OnEvent, RunEvent } from './events.ts';
export {
  createMaster,
  type Master,
  type MasterOptions,
  type RunOptions,
  type RunRequest,
} from './master.ts';
export type { OfferedContent } from './offer.ts';
export type { MasterPorts } from './ports.ts';
export type { RunReport, SubtaskReport } from './report.ts';
export {
  asWorkflow,
  parseWorkflow,
  workflowJsonSchema,
  workflowSchema,
  type Subtask,
  type Workflow,
  type WorkflowInput,
} from './workflow.ts';
