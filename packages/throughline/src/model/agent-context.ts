import { z } from 'zod';

export const contextTypes = [
  'document',
  'graph',
  'video',
  'image',
  'audio',
  'code',
  'table',
  'dataset',
  'text',
  'other',
] as const;

export const priorities = [
  'must_preserve',
  'compressible',
  'reference_only',
  'discardable',
] as const;

/** Status of an evaluation; empty before execution. */
export const evaluationStatuses = ['', 'passed', 'failed', 'partial', 'not_evaluated'] as const;

export const contextItemSchema = z.object({
  ContextID: z.string().min(1),
  ContextType: z.enum(contextTypes),
  MediaType: z.string(),
  ContextURI: z.string(),
  Description: z.string(),
  Priority: z.enum(priorities),
});
export type ContextItem = z.infer<typeof contextItemSchema>;

export const compressionPolicySchema = z.object({
  Strategy: z.string(),
  TargetRatio: z.number().gt(0).lte(1),
  LossTolerance: z.enum(['none', 'low', 'medium', 'high']),
  MustPreserveFields: z.array(z.string()),
});
export type CompressionPolicy = z.infer<typeof compressionPolicySchema>;

export const itemStateSchema = z.looseObject({ itemID: z.string(), state: z.literal([0, 1]) });
export const keyInformationSchema = z.looseObject({
  itemID: z.string(),
  outputabstract: z.string(),
});

export const criterionResultSchema = z.looseObject({
  CriterionID: z.string(),
  Status: z.enum(evaluationStatuses),
  EvidenceRefs: z.array(z.string()),
  TraceRefs: z.array(z.string()),
});

export const evaluationResultSchema = z.looseObject({
  Status: z.enum(evaluationStatuses),
  Confidence: z.number().min(0).max(1),
  CriterionResults: z.array(criterionResultSchema),
  FailureReason: z.string(),
});
export type EvaluationResult = z.infer<typeof evaluationResultSchema>;

/**
 * AgentContext of draft-chang-agentproto-context-interaction-00, section 5.2; names as printed.
 * Unknown fields inside the parts that an agent may write survive a round trip.
 */
export const agentContextSchema = z.object({
  AgentID: z.string().min(1),
  AgentName: z.string(),
  SubTaskID: z.string().min(1),
  SubTaskName: z.string(),
  Dependencies: z.array(z.string()),
  ContextItems: z.array(contextItemSchema),
  CompressionPolicy: compressionPolicySchema.optional(),
  todoItems: z.array(z.object({ itemID: z.string().min(1), description: z.string() })),
  ItemStateUpdates: z.array(itemStateSchema),
  KeyInformation: z.array(keyInformationSchema),
  EvaluationPolicy: z.object({
    SuccessCriteria: z.array(
      z.object({ CriterionID: z.string(), Description: z.string(), Required: z.boolean() }),
    ),
    ConfidenceThreshold: z.number().min(0).max(1),
  }),
  EvaluationResult: evaluationResultSchema,
  LastUpdated: z.string().optional(),
  Optional: z.array(z.enum(['LastUpdated', 'CompressionPolicy'])),
});
export type AgentContext = z.infer<typeof agentContextSchema>;

/** Media type of an AgentContext as one part of a message or artifact. */
export const agentContextMediaType = 'application/vnd.aci.agent-context+json';

/** The only fields that an invoked agent may change. */
export const agentWritable = [
  'ItemStateUpdates',
  'KeyInformation',
  'EvaluationResult',
  'LastUpdated',
] as const satisfies readonly (keyof AgentContext)[];
