import { z } from 'zod';
import { digest, foreignId } from './ids.ts';
import { limits } from './limits.ts';

/**
 * A message asks to come in: may this caller use this context and these tasks, and was the message
 * here before? Decided and written before anything runs.
 */
export const admissionRequestSchema = z.object({
  /** The agent that was addressed: its principal id. */
  agent: foreignId,
  messageId: foreignId,
  contextId: foreignId.optional(),
  taskId: foreignId.optional(),
  referenceTaskIds: z.array(foreignId).max(limits.referenceTaskIds),
  /** The agent's process that it came to: when that is gone, another one need not wait for it. */
  worker: foreignId.optional(),
  /** Bytes of the message's JSON, which must fit into the task that it continues. */
  bytes: z.int().min(0).optional(),
  /** Id of the push config that it brings along, which its sender must be allowed to have there. */
  pushConfig: foreignId.optional(),
  /** Of parts, contextId, taskId and references, so that a changed payload is noticed. */
  payload: digest,
});
export type AdmissionRequest = z.infer<typeof admissionRequestSchema>;

export const admissionSchema = z.discriminatedUnion('kind', [
  /** Go on: the context is the caller's (just issued when `issued`). */
  z.object({ kind: z.literal('new'), contextId: foreignId, issued: z.boolean() }),
  /** The same message again: answer with what the first one led to, do nothing anew. */
  z.object({
    kind: z.literal('replay'),
    contextId: foreignId,
    taskId: foreignId.optional(),
    /** The message-only reply, as the binding stored it. */
    reply: z.unknown().optional(),
  }),
]);
export type Admission = z.infer<typeof admissionSchema>;
