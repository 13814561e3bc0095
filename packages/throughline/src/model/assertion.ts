import { z } from 'zod';
import { labelSchema } from './activity.ts';
import { dialogEndReason, dialogState, localContextSchema, management } from './dialog.ts';
import { digest, foreignId, idSchema, shortText, timestamp } from './ids.ts';
import { participantKind } from './participant.ts';
import { relationshipType } from './relationship.ts';
import { selectorSchema } from './resource.ts';
import { awaitingWhat, basis, taskState } from './task.ts';

/** What an assertion says about one object; the only way anything changes. */
export const statementSchema = z.discriminatedUnion('says', [
  z.object({
    says: z.literal('participant.known'),
    kind: participantKind,
    name: shortText.optional(),
    url: shortText.optional(),
  }),
  z.object({
    says: z.literal('activity.opened'),
    initiator: idSchema('participant').optional(),
    objective: shortText.optional(),
  }),
  z.object({ says: z.literal('activity.closed') }),
  z.object({ says: z.literal('activity.reopened') }),
  z.object({ says: z.literal('activity.labelled'), label: labelSchema }),
  /** From here on nobody can read what people wrote in it. */
  z.object({ says: z.literal('activity.erased') }),
  z.object({
    says: z.literal('dialog.opened'),
    activity: idSchema('activity'),
    /** The one that invokes comes first; one alone: who invokes is not known. */
    participants: z.array(idSchema('participant')).min(1).max(64),
    objective: shortText.optional(),
    managed: management,
  }),
  z.object({
    says: z.literal('dialog.state'),
    state: dialogState,
    reason: dialogEndReason.optional(),
    inferred: z.boolean().optional(),
  }),
  z.object({
    says: z.literal('dialog.bound'),
    local: localContextSchema,
    /** The Dialog was known by another protocol-local id before, and goes on under this one. */
    rebind: z.boolean().optional(),
  }),
  z.object({ says: z.literal('dialog.joined'), participant: idSchema('participant') }),
  z.object({ says: z.literal('dialog.left'), participant: idSchema('participant') }),
  z.object({
    says: z.literal('task.defined'),
    dialog: idSchema('dialog'),
    objective: shortText.optional(),
  }),
  z.object({
    says: z.literal('task.bound'),
    localId: foreignId,
    /** As for a Dialog. */
    rebind: z.boolean().optional(),
  }),
  z.object({
    says: z.literal('task.state'),
    state: taskState,
    awaiting: awaitingWhat.optional(),
    outcome: z.enum(['ok', 'error']).optional(),
  }),
  z.object({ says: z.literal('task.cancel-requested') }),
  z.object({ says: z.literal('task.unresolved'), resolved: z.boolean().optional() }),
  z.object({
    says: z.literal('resource.known'),
    activity: idSchema('activity'),
    name: shortText.optional(),
    mediaType: z.string().max(255).optional(),
    size: z.int().nonnegative().optional(),
    digest: digest.optional(),
    locator: shortText.optional(),
  }),
  z.object({
    says: z.literal('relationship.asserted'),
    type: relationshipType,
    from: z.string().max(64),
    to: z.string().max(64),
    role: shortText.optional(),
    note: shortText.optional(),
    selector: selectorSchema.optional(),
  }),
  z.object({ says: z.literal('relationship.revoked') }),
]);
export type Statement = z.infer<typeof statementSchema>;

/**
 * Fields a person may have written, by what they stand in. They are content: encrypted under the
 * case's key wherever they are kept, so that erasing the key leaves the shape alone.
 */
export const contentFields = [
  'name',
  'url',
  'objective',
  'local',
  'localId',
  'locator',
  'role',
  'note',
  'selector',
  'label',
  'labels',
] as const;

/** A statement on its way in: not numbered yet. */
export const draftSchema = z.object({
  /** Id of the object it is about. */
  about: z.string().max(64),
  statement: statementSchema,
  basis: basis.default('reported'),
  /** When its source says it was so; never orders anything. */
  assertedAt: timestamp.optional(),
  cause: idSchema('assertion').optional(),
});
export type Draft = z.infer<typeof draftSchema>;
export type DraftInput = z.input<typeof draftSchema>;

export const assertionSchema = draftSchema.extend({
  id: idSchema('assertion'),
  /** The domain's next number; the graph is the fold in this order. */
  seq: z.int().positive(),
  /** Activity whose key covers the content in it; absent for Participants. */
  activity: idSchema('activity').optional(),
  /** Participant id, or `hub`. */
  source: z.string(),
  recordedAt: timestamp,
  /** The source's clock was so many milliseconds ahead of ours and was clipped. */
  skewMs: z.int().optional(),
});
export type Assertion = z.infer<typeof assertionSchema>;

/** An assertion that would break a rule: kept, not applied. */
export const conflictSchema = z.object({
  assertion: idSchema('assertion'),
  seq: z.int().positive(),
  about: z.string(),
  rule: z.enum([
    'cycle',
    'second-producer',
    'second-parent',
    'final-state',
    'illegal-step',
    'endpoints',
    'unknown-object',
    'duplicate',
    'needs-selector',
    /** A protocol-local id claims an object that is bound to another one. */
    'needs-rebind',
    'tool-invokes',
    'other-activity',
    /** Of a Task's state or lineage between Tasks, said by one who is not in their Dialogs. */
    'unverified',
  ]),
  message: z.string(),
});
export type Conflict = z.infer<typeof conflictSchema>;
