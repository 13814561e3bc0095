import { z } from 'zod';
import { idSchema } from './ids.ts';

/** Tokens of one hand-over; both counted texts are kept so that anyone can count again. */
export const handoverSchema = z.object({
  task: idSchema('task'),
  dialog: idSchema('dialog'),
  agent: z.string(),
  /** Names of what the selection left out. */
  withheld: z.array(z.string()),
  tokenizer: z.string(),
  /** On the bytes that went out, contents delivered by reference included. */
  sent: z.int().nonnegative(),
  /** What handing over the whole transcript would have been at that moment. */
  fullHistory: z.int().nonnegative(),
  returned: z.int().nonnegative().optional(),
});
/** The texts that a hand-over's figures were counted on. */
export const handoverTextsSchema = z.object({
  sent: z.string(),
  fullHistory: z.string(),
  returned: z.string().exactOptional(),
});
export type HandoverTexts = z.infer<typeof handoverTextsSchema>;

export type Handover = z.infer<typeof handoverSchema>;
