import { z } from 'zod';
import { idSchema, shortText } from './ids.ts';

/**
 * The root of an interaction wave (context and correlation model, Terminology). `initiator` is the
 * AIE, `firstNext` the FNE, both absent where upstream is withheld or unmanaged.
 */
export const activitySchema = z.object({
  id: idSchema('activity'),
  initiator: idSchema('participant').optional(),
  firstNext: idSchema('participant').optional(),
  initialDialog: idSchema('dialog').optional(),
  objective: shortText.optional(),
  closed: z.boolean(),
});
export type Activity = z.infer<typeof activitySchema>;
