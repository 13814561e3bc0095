import { z } from 'zod';
import { idSchema, shortText, timestamp } from './ids.ts';
import { principalSchema } from './principal.ts';

export const keyRequestSchema = z.object({
  principal: principalSchema,
  label: shortText.exactOptional(),
});
export type KeyRequest = z.input<typeof keyRequestSchema>;

/** A key as its tenant's operators may see it again: never the secret. */
export const keySummarySchema = z.object({
  id: idSchema('key'),
  principal: principalSchema,
  label: shortText.exactOptional(),
  createdAt: timestamp,
  revoked: z.boolean(),
});
export type KeySummary = z.infer<typeof keySummarySchema>;

/** The key itself is in this answer and nowhere else. */
export const madeKeySchema = z.object({ id: idSchema('key'), key: z.string() });
export type MadeKey = z.infer<typeof madeKeySchema>;
