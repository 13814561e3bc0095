import { z } from 'zod';
import { keyInformationSchema } from './agent-context.ts';
import { contentRefSchema } from './content.ts';
import { criterionGradeSchema } from './grader.ts';
import { foreignId, timestamp } from './ids.ts';
import { taskContextSchema } from './task-context.ts';
import { compressionSchema, spendingSchema, usageSchema } from './usage.ts';

/** How a subtask of a run stands. */
export const subtaskStatuses = [
  'waiting',
  'running',
  /** Its agent asked something that nobody has answered yet. */
  'awaiting',
  /** Held back until the run is resumed. */
  'suspended',
  'completed',
  'failed',
  /** Nobody knows what became of it, and it may not be done twice. */
  'unresolved',
  /** Something that it waits for will never be there. */
  'skipped',
  'cancelled',
] as const;
export const subtaskStatus = z.enum(subtaskStatuses);
export type SubtaskStatus = z.infer<typeof subtaskStatus>;

/** How a run stands: the last three are its end. */
export const runStatuses = [
  'running',
  'awaiting-input',
  'suspended',
  'completed',
  'failed',
  'cancelled',
] as const;
export type RunStatus = (typeof runStatuses)[number];

/** What came of asking one's child to stop: it decides for itself. */
export const stopAnswers = ['stopped', 'already-over', 'declined', 'unreachable'] as const;
export type StopAnswer = (typeof stopAnswers)[number];

/** What a later requirement may mean for a subtask. */
export const decisions = ['keep', 'modify', 'suspend', 'cancel', 'replace'] as const;
export type Decision = (typeof decisions)[number];

/** Something that a run can't go on without being told. */
export const questionSchema = z.object({
  id: foreignId,
  /** Absent: the Master itself asks, about a limit. */
  subtask: foreignId.optional(),
  /** In the agent's own words where an agent asks. */
  text: z.string(),
  askedAt: timestamp,
});
export type Question = z.infer<typeof questionSchema>;

const tokensSchema = z.object({
  handedOver: z.int(),
  fullHistory: z.int(),
  returned: z.int(),
});

const attemptReportSchema = z.object({
  agent: foreignId,
  dialog: z.string(),
  task: z.string(),
  outcome: z.enum(['answered', 'failed', 'unresolved', 'stopped']).optional(),
  reason: z.string().optional(),
  /** Nobody reached the agent yet: since when, and why. */
  notReached: z.object({ since: timestamp, reason: z.string() }).optional(),
  /** What came of the request to stop it. */
  stop: z.enum(stopAnswers).optional(),
  /** Tokens of the hand-over, counted by us. */
  tokens: z
    .object({ sent: z.int(), fullHistory: z.int(), returned: z.int().optional() })
    .optional(),
  /** What the agent says that its models used. */
  usage: z.array(usageSchema),
  /** What the agent says that its local compression left. */
  compression: compressionSchema.exactOptional(),
});

const subtaskReportSchema = z.object({
  id: foreignId,
  name: z.string(),
  status: subtaskStatus,
  attempts: z.array(attemptReportSchema),
  keyInformation: z.array(keyInformationSchema),
  /** Evaluation Outputs: beside the agent's own evaluation, never over it. */
  verdict: z
    .object({
      ok: z.boolean(),
      reasons: z.array(z.string()),
      relaxed: z.array(z.string()),
      /** What graders found of single criteria. */
      criteria: z.array(criterionGradeSchema).optional(),
    })
    .optional(),
  outputs: z.array(z.object({ name: z.string(), ref: contentRefSchema })),
  withheld: z.array(z.string()),
  /** Over all its attempts. */
  spent: spendingSchema,
  /** Of the latest attempt. */
  tokens: z
    .object({ sent: z.int(), fullHistory: z.int(), returned: z.int().optional() })
    .optional(),
});

/** How a run stands, for those who asked for it. */
export const runReportSchema = z.object({
  runId: z.string(),
  /** A2A task of the request. */
  requestTask: foreignId,
  activity: z.string(),
  dialog: z.string(),
  task: z.string(),
  status: z.enum(runStatuses),
  /** Why it ended before its plan did, or why it is left to be resumed. */
  reason: z.string().optional(),
  /** Nothing is left to do. */
  done: z.boolean(),
  taskContext: taskContextSchema,
  subtasks: z.array(subtaskReportSchema),
  questions: z.array(questionSchema),
  /** Later requirements, each with what was decided because of it. */
  interruptions: z.array(
    z.object({
      id: foreignId,
      at: timestamp,
      resource: z.string(),
      decisions: z.array(z.object({ subtask: foreignId, decision: z.enum(decisions) })),
      added: z.array(foreignId),
    }),
  ),
  /** Over all attempts. */
  tokens: tokensSchema,
  /** What models used: agents' as they say, and the planner's. */
  usage: z.object({
    inputTokens: z.int(),
    outputTokens: z.int(),
    /** In the unit of the prices; absent where no price is known. */
    money: z.number().optional(),
    byAgent: z.record(z.string(), usageSchema.omit({ model: true })),
  }),
  /** Over all attempts, with what the Master's own models used. */
  spent: spendingSchema,
  spentByAgent: z.record(z.string(), spendingSchema),
});
export type RunReport = z.infer<typeof runReportSchema>;
export type SubtaskReport = RunReport['subtasks'][number];
