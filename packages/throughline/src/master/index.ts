export { connectOverA2a, type A2aConnectOptions } from './a2a-connection.ts';
export { lastOutputs, type MasterAnswer } from './answer.ts';
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
export type { Asking, Grader, GradeRequest, OnQuestion, RunLimits } from './context.ts';
export { describeEvent } from './describe-event.ts';
export type { ForeignStores } from './foreign.ts';
export { localEngine, type DriveRun, type RunEngine } from './engine.ts';
export type { OnEvent, PlannedSubtask, RunEvent } from './events.ts';
export {
  redoWhatDepends,
  type InterruptInput,
  type Replanned,
  type Replanner,
  type ReplanRequest,
} from './interrupt.ts';
export {
  createMaster,
  type Cancelled,
  type Interrupted,
  type Master,
  type MasterOptions,
  type RunOptions,
  type RunRequest,
  type StartedRun,
  type StoppedWork,
  type UserMessage,
} from './master.ts';
export {
  masterAgent,
  type AskedMessage,
  type AskedRun,
  type AskedTask,
  type MasterAgent,
  type MasterAgentOptions,
} from './master-agent.ts';
export { modelPlanner, modelReplanner, type ModelPlannerOptions } from './model-planner.ts';
export type { OfferedContent } from './offer.ts';
export { contextTypeOf, inputsOf, offerMessage } from './offer-message.ts';
export { plannedBy, type Planner, type PlanRequest } from './planner.ts';
export type { MasterPorts, RunLeases, RunStore } from './ports.ts';
export type { RunProgress, SubtaskProgress } from './progress.ts';
export type { Answer } from './questions.ts';
export {
  collectDevice,
  collectEnvironment,
  offerSurroundings,
  surroundingNames,
} from './surroundings.ts';
export type { Price, Prices } from './usage.ts';
export { asWorkflow, parseWorkflow } from './workflow.ts';
export type { RunReport, SubtaskReport } from '../model/run.ts';
export {
  interactions,
  workflowSchema,
  type Interaction,
  type Subtask,
  type Workflow,
  type WorkflowInput,
} from '../model/workflow.ts';
