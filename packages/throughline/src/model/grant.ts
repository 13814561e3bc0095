import { z } from 'zod';
import { foreignId, idSchema, timestamp } from './ids.ts';

/** Operations on a context that an owner may grant; none of them can be granted on. */
export const grantOperations = ['get', 'list', 'send', 'cancel', 'subscribe', 'push'] as const;
export const grantOperation = z.enum(grantOperations);
export type GrantOperation = z.infer<typeof grantOperation>;

export const grantRequestSchema = z.object({
  /** Principal id in the same tenant. */
  grantee: foreignId,
  operations: z.array(grantOperation).min(1).max(grantOperations.length),
  /** History from this sequence number on; 0 is all of it. */
  fromSequence: z.int().nonnegative().default(0),
  expiresAt: timestamp.optional(),
});
export type GrantRequest = z.input<typeof grantRequestSchema>;

export const grantSchema = grantRequestSchema.extend({
  id: idSchema('grant'),
  contextId: foreignId,
  tenant: foreignId,
  grantedBy: foreignId,
  revoked: z.boolean(),
});
export type Grant = z.infer<typeof grantSchema>;
