import type { AgentContext, CompressionPolicy, ContextItem } from '../model/agent-context.ts';

export interface AgentContextInput {
  /** Principal id and name of the agent it is for. */
  readonly agent: { readonly id: string; readonly name: string };
  readonly subtask: { readonly id: string; readonly name: string };
  /** Aliases, never the ids of sibling agents or other subtasks. */
  readonly dependencies: readonly string[];
  readonly items: readonly ContextItem[];
  readonly todo: readonly { readonly id: string; readonly description: string }[];
  readonly criteria: readonly {
    readonly id: string;
    readonly description: string;
    readonly required: boolean;
  }[];
  /** ConfidenceThreshold. */
  readonly confidence: number;
  readonly compression?: CompressionPolicy | undefined;
}

/**
 * AgentContext before execution (draft-chang-agentproto-context-interaction-00, section 5.2): every
 * item at 0, no key information, an empty evaluation.
 */
export function makeAgentContext(input: AgentContextInput): AgentContext {
  return {
    AgentID: input.agent.id,
    AgentName: input.agent.name,
    SubTaskID: input.subtask.id,
    SubTaskName: input.subtask.name,
    Dependencies: [...input.dependencies],
    ContextItems: input.items.map((item) => ({ ...item })),
    ...(input.compression && { CompressionPolicy: input.compression }),
    todoItems: input.todo.map(({ id, description }) => ({ itemID: id, description })),
    ItemStateUpdates: input.todo.map(({ id }) => ({ itemID: id, state: 0 })),
    KeyInformation: [],
    EvaluationPolicy: {
      SuccessCriteria: input.criteria.map(({ id, description, required }) => ({
        CriterionID: id,
        Description: description,
        Required: required,
      })),
      ConfidenceThreshold: input.confidence,
    },
    EvaluationResult: { Status: '', Confidence: 0, CriterionResults: [], FailureReason: '' },
    Optional: ['LastUpdated', 'CompressionPolicy'],
  };
}
