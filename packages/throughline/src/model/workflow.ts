import { z } from 'zod';
import { compressionPolicySchema, contextTypes, priorities } from './agent-context.ts';
import { graderSpecSchema } from './grader.ts';
import { foreignId, shortText } from './ids.ts';
import { limits } from './limits.ts';

/**
 * How contexts are exchanged (draft-chang-agentproto-context-interaction-00, section 2.1): one round after
 * the other in the order of dependencies, or everything at once whose dependencies are met.
 */
export const interactions = [
  'SynchronousContextInteraction',
  'AsynchronousContextInteraction',
] as const;
export type Interaction = (typeof interactions)[number];

const needSchema = z.union([
  foreignId.transform((item) => ({ item })),
  z.strictObject({
    item: foreignId,
    /** How the item is used in this subtask; local to it. */
    role: shortText.optional(),
    note: shortText.optional(),
    /** How far it may be reduced for this subtask. Default: as it was offered or produced. */
    priority: z.enum(priorities).optional(),
  }),
]);

/** What a subtask puts out for others, by the name under which they need it. */
const producedSchema = z.strictObject({
  name: foreignId,
  description: shortText,
  type: z.enum(contextTypes).default('other'),
  priority: z.enum(priorities).default('compressible'),
});

/** One subtask of a plan. */
export const subtaskSchema = z.strictObject({
  id: foreignId,
  name: shortText,
  /** The goal that it serves. Default: its own name. */
  goal: shortText.optional(),
  /** Principal id of the agent. */
  agent: foreignId,
  /** Agents to replace it with when an attempt failed, in this order. */
  fallback: z.array(foreignId).max(8).default([]),
  /** Ids of the subtasks that must be completed first. */
  dependsOn: z.array(foreignId).max(64).default([]),
  /** Context items it gets: offered to the run, or produced by a subtask it depends on. */
  needs: z.array(needSchema).max(64).default([]),
  produces: z.array(producedSchema).max(limits.parts).default([]),
  todo: z
    .array(z.strictObject({ id: foreignId, description: shortText }))
    .min(1)
    .max(64),
  criteria: z
    .array(
      z.strictObject({
        id: foreignId,
        description: shortText,
        required: z.boolean().default(true),
        /** How the Master finds out for itself; without it the agent's evidence decides. */
        grade: graderSpecSchema.optional(),
      }),
    )
    .max(64)
    .default([]),
  /** ConfidenceThreshold. */
  confidence: z.number().min(0).max(1).default(0),
  /** `relaxed`: the agent is known to return no evaluation; the verdict then says so. */
  evaluation: z.enum(['strict', 'relaxed']).default('strict'),
  compression: compressionPolicySchema.optional(),
  timeoutSeconds: z.number().positive().max(86_400).default(300),
  /**
   * Whether the message may go out again when nobody knows if it arrived. Agents behind a hub know it
   * by its id and do it once; one that does not may do it twice. `false`: it is left `unresolved`.
   */
  repeatable: z.boolean().default(true),
  /** Attempts in all, the first included. */
  attempts: z.int().min(1).max(8).default(2),
});
export type Subtask = z.infer<typeof subtaskSchema>;

/** A plan written down: who does what, from which context, in which order, and when it is done. */
export const workflowSchema = z.strictObject({
  /** Where an editor finds the schema of such files. */
  $schema: z.string().max(limits.textBytes).optional(),
  name: shortText,
  description: shortText.default(''),
  /** Default: the Master's, which is asynchronous unless it was set otherwise. */
  interaction: z.enum(interactions).optional(),
  subtasks: z.array(subtaskSchema).min(1).max(256),
});
export type Workflow = z.infer<typeof workflowSchema>;
export type WorkflowInput = z.input<typeof workflowSchema>;
