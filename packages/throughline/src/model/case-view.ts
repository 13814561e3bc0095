import { z } from 'zod';
import { activitySchema } from './activity.ts';
import { assertionSchema, conflictSchema } from './assertion.ts';
import { dialogSchema } from './dialog.ts';
import { foreignId, idSchema, timestamp } from './ids.ts';
import { participantSchema } from './participant.ts';
import { relationshipSchema } from './relationship.ts';
import { resourceSchema } from './resource.ts';
import { taskSchema } from './task.ts';
import { handoverSchema } from './usage.ts';

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
  counts: z.object({
    activities: z.int(),
    dialogs: z.int(),
    tasks: z.int(),
    resources: z.int(),
    relationships: z.int(),
  }),
  /** Tasks that are neither final nor being worked on, or whose outcome nobody knows. */
  stuck: z.int(),
});
export type CaseSummary = z.infer<typeof caseSummarySchema>;

/** The wave as far as the viewer may see it. */
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
