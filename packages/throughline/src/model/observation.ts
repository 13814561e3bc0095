import { z } from 'zod';
import { envelopeSchema } from './envelope.ts';
import { digest, foreignId, idSchema, shortText, timestamp } from './ids.ts';
import { limits } from './limits.ts';
import { participantKind } from './participant.ts';
import { awaitingWhat, taskState } from './task.ts';

/** A party as a binding sees it; `principal` is its id in our domain where it has one. */
export const partySchema = z.object({
  kind: participantKind,
  name: shortText.optional(),
  url: shortText.optional(),
  principal: foreignId.optional(),
});
export type Party = z.infer<typeof partySchema>;

/** A piece of content by reference: what it is, never the bytes. */
export const resourceNoteSchema = z.object({
  /** Id given by the sender's envelope; absent: the hub makes one. */
  id: idSchema('resource').optional(),
  name: shortText.optional(),
  mediaType: z.string().max(255).optional(),
  size: z.int().nonnegative().optional(),
  digest: digest.optional(),
  locator: shortText.optional(),
});
export type ResourceNote = z.infer<typeof resourceNoteSchema>;

const where = {
  protocol: z.enum(['a2a', 'mcp', 'aci']),
  /** `server`: the observer runs the work; `client`: it asked for it and sees the answers. */
  side: z.enum(['server', 'client']),
  /** The server's URL. */
  endpoint: shortText,
  /** Protocol-local id of the Dialog (A2A contextId). */
  contextId: foreignId,
  client: partySchema,
  server: partySchema,
  envelope: envelopeSchema.optional(),
  /** The source's clock. */
  at: timestamp,
};

/**
 * What a binding saw, in our words and with nothing of the wire. The hub gives it a number, ids and
 * a principal; the graph turns it into statements.
 */
export const observationSchema = z.discriminatedUnion('kind', [
  z.object({
    ...where,
    /** A request to do something, from client to server. */
    kind: z.literal('message'),
    messageId: foreignId,
    /** Protocol-local id of the Task that it makes or continues; absent until known. */
    taskId: foreignId.optional(),
    objective: shortText.optional(),
    referenceTaskIds: z.array(foreignId).max(limits.referenceTaskIds),
    resources: z.array(resourceNoteSchema).max(limits.parts),
  }),
  z.object({
    ...where,
    /** A Task is in a state. A reply by message alone is one completed Task. */
    kind: z.literal('task'),
    taskId: foreignId,
    objective: shortText.optional(),
    state: taskState,
    awaiting: awaitingWhat.optional(),
    outcome: z.enum(['ok', 'error']).optional(),
  }),
  z.object({
    ...where,
    /** Something that a Task put out. */
    kind: z.literal('artifact'),
    taskId: foreignId,
    artifactId: foreignId,
    resource: resourceNoteSchema,
  }),
  z.object({ ...where, kind: z.literal('cancel-request'), taskId: foreignId }),
]);
export type Observation = z.infer<typeof observationSchema>;
