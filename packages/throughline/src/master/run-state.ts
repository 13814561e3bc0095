import { z } from 'zod';
import { agentContextSchema, contextItemSchema } from '../model/agent-context.ts';
import { contentRefSchema } from '../model/content.ts';
import { criterionGradeSchema } from '../model/grader.ts';
import { management } from '../model/dialog.ts';
import { foreignId, idSchema, timestamp } from '../model/ids.ts';
import {
  decisions,
  questionSchema,
  runStatuses,
  stopAnswers,
  subtaskStatus,
  type RunStatus,
  type SubtaskStatus,
} from '../model/run.ts';
import { taskContextSchema } from '../model/task-context.ts';
import { compressionSchema, usageLimit, usageSchema } from '../model/usage.ts';
import { workflowSchema } from '../model/workflow.ts';
import { ThroughlineError } from '../errors.ts';

/** Content of an item. */
const itemRefSchema = contentRefSchema.extend({
  /** It lies in another store than the hub's; by this name it is spoken of. */
  foreign: foreignId.exactOptional(),
});
export type ItemRef = z.infer<typeof itemRefSchema>;

/** A context item of the run: offered at its start, or put out by a subtask. */
const runItemSchema = z.object({
  name: z.string(),
  item: contextItemSchema,
  ref: itemRefSchema,
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
  criteria: z.array(criterionGradeSchema).optional(),
});

const outputSchema = z.object({
  name: z.string(),
  ref: contentRefSchema,
  /** Id of the `output-of` edge, where the Master is the one who asserts it. */
  edge: idSchema('relationship').optional(),
});
export type Output = z.infer<typeof outputSchema>;

/** What an agent asked in the middle of its work, and what it was told. */
const askedSchema = questionSchema.omit({ subtask: true }).extend({
  answer: z
    .object({
      ref: contentRefSchema,
      /** Message that brings it to the agent. */
      messageId: foreignId,
      /** Message or call that brought it to us, so that it is not taken twice. */
      by: z.string(),
      edge: idSchema('relationship'),
      /** The agent has it. */
      sent: z.boolean().default(false),
    })
    .optional(),
});
export type Asked = z.infer<typeof askedSchema>;

/** That an attempt is to end before it is over, because of what, and what follows. */
const stopSchema = z.object({
  /** Id of the interruption that it is because of. */
  because: z.string().optional(),
  follows: z.enum(['again', 'suspended', 'cancelled', 'failed']),
  /** What came of asking the agent. */
  answer: z.enum(stopAnswers).optional(),
});
export type Stop = z.infer<typeof stopSchema>;

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
  /** Where its agent is reached; absent where that takes a credential, which is never kept. */
  address: z.object({ url: z.string(), behind: z.literal('hub').exactOptional() }).optional(),
  /** With whom its Dialog is opened; written before the graph is told. */
  opened: z.object({ participant: idSchema('participant'), managed: management }).optional(),
  /** Id of the trace that its message went out under, where there was one. */
  trace: z.string().optional(),
  /** Its message is on the way, as far as anybody knows. */
  asserted: z.boolean().default(false),
  /** Nobody reached the agent yet. */
  notReached: z.object({ since: timestamp, reason: z.string() }).optional(),
  /** Resource with the requirement in force when it was decided; absent: the request's own. */
  requirement: idSchema('resource').optional(),
  questions: z.array(askedSchema).default([]),
  stop: stopSchema.optional(),
  /** What the agent calls its task. */
  local: z.object({ contextId: z.string(), taskId: z.string().optional() }).optional(),
  /** How the task ended at the agent, and what it put out; written before it is acted on. */
  outcome: z.enum(['answered', 'failed', 'unresolved', 'stopped']).optional(),
  outputs: z.array(outputSchema).default([]),
  returned: agentContextSchema.optional(),
  /** Paths of what the agent added to its context where it may not. */
  dropped: z.array(z.string()).default([]),
  verdict: verdictSchema.optional(),
  reason: z.string().optional(),
  tokens: z
    .object({ sent: z.int(), fullHistory: z.int(), returned: z.int().optional() })
    .optional(),
  /** What the agent says that its models used. */
  usage: z.array(usageSchema).max(usageLimit).default([]),
  /** What it says that its local compression left. */
  compression: compressionSchema.optional(),
});
export type Attempt = z.infer<typeof attemptSchema>;

const subtaskStateSchema = z.object({
  status: subtaskStatus,
  attempts: z.array(attemptSchema),
  /** How many attempts do not count any more: they were for an earlier requirement. */
  past: z.int().default(0),
  /** Who makes the next attempt, where that was decided otherwise than by the plan. */
  next: foreignId.optional(),
});
export type SubtaskState = z.infer<typeof subtaskStateSchema>;

/** A later requirement, and what was decided because of it. */
const interruptionSchema = z.object({
  id: foreignId,
  at: timestamp,
  /** Names of the items that hold it: as it came, and its transcript. */
  items: z.array(z.string()),
  /** What it modifies: a Resource, or the run's Task. */
  modifies: z.string(),
  decisions: z.array(
    z.object({ subtask: foreignId, decision: z.enum(decisions), agent: foreignId.optional() }),
  ),
  added: z.array(foreignId),
  /** Tasks under way or over that it is an input to, each with the id of its edge. */
  inputs: z.array(z.object({ task: idSchema('task'), edge: idSchema('relationship') })),
  edges: z.object({ modifies: idSchema('relationship'), derived: idSchema('relationship') }),
  /** Assertion that says so in the graph; absent: not said yet. */
  cause: idSchema('assertion').optional(),
});
export type Interruption = z.infer<typeof interruptionSchema>;

/** How often one run may be interrupted. */
export const mostInterruptions = 256;

export const limitNames = ['tokens', 'seconds', 'money'] as const;
export type LimitName = (typeof limitNames)[number];

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
  /** Process that drives it, or drove it last. */
  driver: z.string().optional(),
  /** Goes up with each decision from outside, so that one made on older grounds is made anew. */
  revision: z.int().default(0),
  /** Up to which of them the driver has seen. */
  heeded: z.int().default(0),
  interruptions: z.array(interruptionSchema).max(mostInterruptions).default([]),
  /** Nothing new is begun until it is resumed. */
  suspended: z.boolean().default(false),
  /** It could not go on, and nobody tries until it is resumed. */
  left: z.object({ at: timestamp, reason: z.string() }).optional(),
  /** Messages of the user that let it go on. */
  released: z.array(foreignId).default([]),
  /** It ends before its plan does. */
  ending: z.object({ status: z.enum(['failed', 'cancelled']), reason: z.string() }).optional(),
  /** What the Master itself asked, about a limit. */
  questions: z
    .array(questionSchema.extend({ limit: z.enum(limitNames), by: z.string().optional() }))
    .default([]),
  /** How often a limit was raised by its own amount. */
  raised: z.partialRecord(z.enum(limitNames), z.int()).default({}),
  /** What models of the Master's own used: the planner's, the graders'. */
  planning: z.array(usageSchema).default([]),
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

const openStatuses: readonly SubtaskStatus[] = ['waiting', 'running', 'awaiting', 'suspended'];

/** Something may still happen to it. */
export const isOpen = ({ status }: Pick<SubtaskState, 'status'>): boolean =>
  openStatuses.includes(status);

/** Nothing is left to do. */
export const isDone = (state: RunState): boolean => !Object.values(state.subtasks).some(isOpen);

/** The attempt that is not over, if there is one. */
export function openAttempt({ attempts }: SubtaskState): Attempt | undefined {
  const last = attempts.at(-1);
  return last?.outcome === undefined ? last : undefined;
}

/** Resource of an item by its name. */
export const resourceOf = (state: RunState, name: string | undefined): string | undefined =>
  state.items.find((item) => item.name === name)?.ref.resource;

/** Something is under way, whether or not anything new may be begun. */
export const isUnderWay = ({ subtasks }: RunState): boolean =>
  Object.values(subtasks).some(({ status }) => status === 'running');

/** How a run stands, from how its subtasks do. */
export function runStatus(state: RunState): RunStatus {
  if (isDone(state)) {
    if (state.ending !== undefined) return state.ending.status;
    const overall = state.taskContext.OverallStatus;
    return runStatuses.find((each) => each === overall) ?? 'failed';
  }
  if (state.left !== undefined) return 'suspended';
  if (isUnderWay(state)) {
    return state.suspended && state.ending === undefined ? 'suspended' : 'running';
  }
  if (openQuestions(state).length > 0) return 'awaiting-input';
  const mayBegin = Object.values(state.subtasks).some(({ status }) => status === 'waiting');
  return mayBegin && !state.suspended ? 'running' : 'suspended';
}

export type OpenQuestion = z.infer<typeof questionSchema>;

/** What nobody has answered yet, oldest first. */
export function openQuestions(state: RunState): OpenQuestion[] {
  const asked = Object.entries(state.subtasks).flatMap(([subtask, { status, attempts }]) =>
    status === 'awaiting'
      ? (attempts.at(-1)?.questions ?? [])
          .filter(({ answer }) => answer === undefined)
          .map(({ id, text, askedAt }) => ({ id, subtask, text, askedAt }))
      : [],
  );
  const own = isDone(state)
    ? []
    : state.questions
        .filter(({ by }) => by === undefined)
        .map(({ id, text, askedAt }) => ({ id, text, askedAt }));
  return [...asked, ...own].toSorted((a, b) => Date.parse(a.askedAt) - Date.parse(b.askedAt));
}
