import { z } from 'zod';
import { foreignId, shortText } from './ids.ts';

/** Characters of a pattern, at most. */
const patternLength = 1_024;

/** What is looked at: an output by its name, or what the agent told of one item. Default: all it told. */
const gradedSchema = z
  .union([z.strictObject({ output: foreignId }), z.strictObject({ item: foreignId })])
  .optional();
export type Graded = z.infer<typeof gradedSchema>;

/**
 * How it is found out whether a criterion is met. The same grader serves both layers of evaluation: an
 * agent that checks itself, and the Master that checks the agent.
 */
export const graderSpecSchema = z.discriminatedUnion('by', [
  /** JSON that a JSON Schema accepts. */
  z.strictObject({
    by: z.literal('schema'),
    of: gradedSchema,
    schema: z.record(z.string(), z.unknown()),
  }),
  /** Text in which a pattern (RE2's syntax, which takes linear time) is found, or, with `absent`, is not. */
  z.strictObject({
    by: z.literal('pattern'),
    of: gradedSchema,
    pattern: z.string().min(1).max(patternLength),
    ignoreCase: z.boolean().default(false),
    absent: z.boolean().default(false),
  }),
  /** JSON with `citations` of `contextId` and `quote`: each quote must stand in the item that it names. */
  z.strictObject({
    by: z.literal('citations'),
    of: gradedSchema,
    /** Citations that there must be. */
    least: z.int().min(1).max(1_024).default(1),
  }),
  /** A language model is asked, with the criterion's description or this question. */
  z.strictObject({ by: z.literal('model'), of: gradedSchema, question: shortText.optional() }),
  /** A function that the process knows by this name. */
  z.strictObject({ by: z.literal('function'), name: foreignId }),
]);
export type GraderSpec = z.infer<typeof graderSpecSchema>;
/** A grader that needs nothing but the result. */
export type PureGraderSpec = Extract<GraderSpec, { by: 'schema' | 'pattern' | 'citations' }>;
export const isPure = (spec: GraderSpec): spec is PureGraderSpec =>
  spec.by === 'schema' || spec.by === 'pattern' || spec.by === 'citations';
export type GraderSpecInput = z.input<typeof graderSpecSchema>;

/** One passage that shows something, as answers with citations hold it. */
export const citationSchema = z.object({ contextId: z.string().min(1), quote: z.string().min(1) });
export type Citation = z.infer<typeof citationSchema>;

/** Whether one criterion is met, and how that was found out. */
export const criterionGradeSchema = z.object({
  id: z.string(),
  ok: z.boolean(),
  /** `schema`, `pattern`, `citations`, or name of the function or model. */
  by: z.string(),
  reason: z.string(),
  /** ContextIDs and names of outputs that were looked at. */
  evidence: z.array(z.string()),
});
export type CriterionGrade = z.infer<typeof criterionGradeSchema>;
