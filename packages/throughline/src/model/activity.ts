import { z } from 'zod';
import { idSchema, shortText, text } from './ids.ts';

/** What a case is filed under: `ticket`, `team`, `severity`. */
export const labelName = z.string().regex(/^[a-z][a-z0-9._-]{0,63}$/, {
  message: 'must be a name in small letters such as ticket, at most 64 characters',
});
const labelValue = text(255).min(1);
/** Without a value the label is taken off. */
export const labelSchema = z.object({ name: labelName, value: labelValue.optional() });
export type Label = z.infer<typeof labelSchema>;

/** Labels that one case may hold. */
export const maxLabels = 32;

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
  labels: z.record(labelName, labelValue).optional(),
  /** Everything that people wrote in it was destroyed; its shape stays. */
  erased: z.boolean().optional(),
});
export type Activity = z.infer<typeof activitySchema>;
