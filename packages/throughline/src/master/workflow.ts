import { parseDocument } from 'yaml';
import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import { compressionPolicySchema, contextTypes, priorities } from '../model/agent-context.ts';
import { foreignId, shortText } from '../model/ids.ts';
import { limits } from '../model/limits.ts';

/** Bytes of a workflow file, at most. */
const workflowBytes = 262_144;

const needSchema = z.union([
  foreignId.transform((item) => ({ item })),
  z.strictObject({
    item: foreignId,
    /** How the item is used in this subtask; local to it. */
    role: shortText.optional(),
    note: shortText.optional(),
  }),
]);

/** What a subtask puts out for others, by the name under which they need it. */
const producedSchema = z.strictObject({
  name: foreignId,
  description: shortText,
  type: z.enum(contextTypes).default('other'),
  priority: z.enum(priorities).default('compressible'),
});

const subtaskSchema = z.strictObject({
  id: foreignId,
  name: shortText,
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
  name: shortText,
  description: shortText.default(''),
  subtasks: z.array(subtaskSchema).min(1).max(256),
});
export type Workflow = z.infer<typeof workflowSchema>;
export type WorkflowInput = z.input<typeof workflowSchema>;

/** JSON Schema of a workflow file, for editors and for other implementations. */
export function workflowJsonSchema(): Record<string, unknown> {
  return z.toJSONSchema(workflowSchema, { io: 'input' });
}

/**
 * Reads a workflow file (YAML, so also JSON).
 *
 * @throws ThroughlineError `too-large`, or `invalid` with every place that is wrong.
 */
export function parseWorkflow(text: string): Workflow {
  if (text.length > workflowBytes) {
    throw new ThroughlineError(
      'too-large',
      `A workflow file holds at most ${workflowBytes} bytes.`,
    );
  }
  const document = parseDocument(text, { version: '1.2', uniqueKeys: true });
  const [problem] = document.errors;
  if (problem !== undefined) {
    throw new ThroughlineError('invalid', `The workflow is not YAML: ${problem.message}`);
  }
  return asWorkflow(document.toJS({ maxAliasCount: 100 }));
}

/** Checks a workflow given as a value. @throws ThroughlineError `invalid`. */
export function asWorkflow(value: unknown): Workflow {
  const parsed = workflowSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new ThroughlineError(
    'invalid',
    `The workflow is not valid:\n${z.prettifyError(parsed.error)}`,
  );
}
