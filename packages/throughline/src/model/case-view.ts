import { z } from 'zod';
import { activitySchema } from './activity.ts';
import { assertionSchema, conflictSchema } from './assertion.ts';
import { dialogSchema } from './dialog.ts';
import { foreignId, idSchema, shortText, timestamp } from './ids.ts';
import { limits } from './limits.ts';
import { participantSchema } from './participant.ts';
import { relationshipSchema } from './relationship.ts';
import { resourceSchema } from './resource.ts';
import { stuckTaskSchema, taskModifierSchema, taskSchema } from './task.ts';
import { handoverSchema, runUsageSchema } from './usage.ts';

/** A line in the list of cases. */
export const caseSummarySchema = z.object({
  activity: idSchema('activity'),
  /** Protocol-local id of the initial Dialog: what the initiator calls the case. */
  contextId: foreignId.optional(),
  objective: z.string().optional(),
  owner: foreignId.optional(),
  openedAt: timestamp,
  updatedAt: timestamp,
  closed: z.boolean(),
  erased: z.boolean().optional(),
  labels: activitySchema.shape.labels,
  counts: z.object({
    activities: z.int(),
    dialogs: z.int(),
    tasks: z.int(),
    resources: z.int(),
    relationships: z.int(),
  }),
  /** Tasks that are neither final nor being worked on, or whose outcome nobody knows. */
  stuck: z.int(),
  /** Tasks that ended badly, with an error too, and that nothing replaced or continued; absent: none. */
  failed: z.int().exactOptional(),
  /** Whose step it is that stuck ones go on, as far as it is known; the first few. */
  whose: z
    .array(z.object({ participant: idSchema('participant'), name: z.string().exactOptional() }))
    .exactOptional(),
});
export type CaseSummary = z.infer<typeof caseSummarySchema>;

/** Which cases; all that is given must hold. */
export const caseQuerySchema = z.object({
  /** Words of which each stands in an objective or a label of it. */
  text: shortText.exactOptional(),
  /** `name=value`, or `name` alone for any value. */
  label: shortText.exactOptional(),
  /** A principal's id, a URL, or `prt_…`. */
  participant: shortText.exactOptional(),
  /** True: only those in which something is stuck. */
  stuck: z.boolean().exactOptional(),
  cursor: z.string().max(2_048).exactOptional(),
  pageSize: z.int().min(1).max(limits.pageSize).default(20),
});
export type CaseQuery = z.input<typeof caseQuerySchema>;

export const casePageSchema = z.object({
  cases: z.array(caseSummarySchema),
  /** Ask again with it; a page with few or no cases may have one, since search is bounded. */
  cursor: z.string().exactOptional(),
});
export type CasePage = z.infer<typeof casePageSchema>;

/**
 * The wave as far as the viewer may see it, each list in the order in which things began. Cases that
 * were merged into it are part of it.
 */
export const caseViewSchema = z.object({
  summary: caseSummarySchema,
  activities: z.array(activitySchema),
  participants: z.array(participantSchema),
  dialogs: z.array(dialogSchema),
  tasks: z.array(taskSchema),
  resources: z.array(resourceSchema),
  relationships: z.array(relationshipSchema),
  conflicts: z.array(conflictSchema),
  handovers: z.array(handoverSchema),
  /** What models of Masters themselves used, beside the hand-overs. */
  runs: z.array(runUsageSchema).exactOptional(),
  /** Tasks that don't go on, with whose step it is; as many as the summary counts. */
  stuck: z.array(stuckTaskSchema).exactOptional(),
  /** What stands beside the states of the tasks. */
  modifiers: z.array(taskModifierSchema).exactOptional(),
  /** It holds more than is looked at together; the rest is in its timeline. */
  truncated: z.literal(true).exactOptional(),
});
export type CaseView = z.infer<typeof caseViewSchema>;

export const timelinePageSchema = z.object({
  assertions: z.array(assertionSchema),
  /** Ask again after this sequence number; absent at the end. */
  next: z.int().optional(),
});
export type TimelinePage = z.infer<typeof timelinePageSchema>;

/** Why an object is here: the steps from it up to the Activity, or between two objects. */
export const explanationSchema = z.object({
  from: z.string(),
  to: z.string(),
  steps: z.array(
    z.object({
      from: z.string(),
      relation: z.string(),
      to: z.string(),
      /** The edge was followed against its direction. */
      inverse: z.boolean(),
      role: z.string().optional(),
      note: z.string().optional(),
      assertion: z.string().optional(),
    }),
  ),
  /** Objects named in the steps, in words for people. */
  labels: z.record(z.string(), z.string()),
});
export type Explanation = z.infer<typeof explanationSchema>;
