import { z } from 'zod';
import { agentContextSchema, contextItemSchema } from '../model/agent-context.ts';
import { contentRefSchema } from '../model/content.ts';
import { foreignId, idSchema, timestamp } from '../model/ids.ts';
import { taskContextSchema } from '../model/task-context.ts';
import { workflowSchema } from './workflow.ts';
import { ThroughlineError } from '../errors.ts';

/** A context item of the run: offered at its start, or put out by a subtask. */
const runItemSchema = z.object({
  name: z.string(),
  item: contextItemSchema,
  ref: contentRefSchema,
  /** Tells how it is used where it was offered; a subtask's own role goes before it. */
  role: z.string().optional(),
  note: z.string().optional(),
  /** Subtask that put it out. */
  producedBy: z.string().optional(),
});
export type RunItem = z.infer<typeof runItemSchema>;

const verdictSchema = z.object({
  ok: z.boolean(),
  reasons: z.array(z.string()),
  relaxed: z.array(z.string()),
});

const outputSchema = z.object({
  name: z.string(),
  ref: contentRefSchema,
  /** Id of the `output-of` edge, where the Master is the one who asserts it. */
  edge: idSchema('relationship').optional(),
});
export type Output = z.infer<typeof outputSchema>;

/** One invocation of an agent for a subtask. Every id in it is written down before it is used. */
const attemptSchema = z.object({
  agent: foreignId,
  dialog: idSchema('dialog'),
  task: idSchema('task'),
  messageId: foreignId,
  /** Ids of the edges that say where it belongs, by what they are for. */
  edges: z.record(z.string(), idSchema('relationship')),
  /** What earlier attempt it goes on from (same agent) or replaces (another one). */
  after: z
    .object({
      relation: z.enum(['continuation-of', 'replaces']),
      dialog: idSchema('dialog'),
      task: idSchema('task'),
    })
    .optional(),
  deadline: timestamp,
  context: agentContextSchema,
  /** Names of the items handed over, and of those withheld. */
  items: z.array(z.string()),
  withheld: z.array(z.string()),
  /** Tasks of the attempts that were over when this one was decided, for the full history. */
  before: z.array(z.string()).default([]),
  /** The graph knows of it: it is not said again. */
  asserted: z.boolean().default(false),
  /** What the agent calls its task. */
  local: z.object({ contextId: z.string(), taskId: z.string().optional() }).optional(),
  /** How the task ended at the agent, and what it put out; written before it is acted on. */
  outcome: z.enum(['answered', 'failed', 'unresolved']).optional(),
  outputs: z.array(outputSchema).default([]),
  returned: agentContextSchema.optional(),
  /** Paths of what the agent added to its context where it may not. */
  dropped: z.array(z.string()).default([]),
  verdict: verdictSchema.optional(),
  reason: z.string().optional(),
  tokens: z
    .object({ sent: z.int(), fullHistory: z.int(), returned: z.int().optional() })
    .optional(),
});
export type Attempt = z.infer<typeof attemptSchema>;

const subtaskStatuses = [
  'waiting',
  'running',
  'completed',
  'failed',
  'unresolved',
  'skipped',
] as const;

const subtaskStateSchema = z.object({
  status: z.enum(subtaskStatuses),
  attempts: z.array(attemptSchema),
});
export type SubtaskState = z.infer<typeof subtaskStateSchema>;

/** Everything a Master decided about one run; enough for another process to go on from. */
const runStateSchema = z.object({
  v: z.literal(1),
  id: z.string(),
  /** A2A task of the request. */
  requestTask: foreignId,
  activity: idSchema('activity'),
  dialog: idSchema('dialog'),
  task: idSchema('task'),
  query: z.string(),
  workflow: workflowSchema,
  taskContext: taskContextSchema,
  items: z.array(runItemSchema),
  subtasks: z.record(z.string(), subtaskStateSchema),
});
export type RunState = z.infer<typeof runStateSchema>;

/** A run as it was stored. @throws ThroughlineError `damaged`. */
export function asRunState(value: unknown): RunState {
  const parsed = runStateSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new ThroughlineError(
    'damaged',
    `The stored run is not in the form that this version writes: ${z.prettifyError(parsed.error)}`,
  );
}
