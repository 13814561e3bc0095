import { z } from 'zod';
import { idSchema } from './ids.ts';

/** What one model used, as those say who called it. */
export const usageSchema = z.object({
  model: z.string().min(1).max(255),
  inputTokens: z.int().nonnegative(),
  outputTokens: z.int().nonnegative(),
  /** In the unit of the prices that were set; absent where no price is known. */
  money: z.number().nonnegative().exactOptional(),
});
export type Usage = z.infer<typeof usageSchema>;

/** Models that one hand-over may name, at most. */
export const usageLimit = 32;

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
  /** What the agent says that its models used for it. */
  usage: z.array(usageSchema).max(usageLimit).exactOptional(),
});
/** The texts that a hand-over's figures were counted on. */
export const handoverTextsSchema = z.object({
  sent: z.string(),
  fullHistory: z.string(),
  returned: z.string().exactOptional(),
});
export type HandoverTexts = z.infer<typeof handoverTextsSchema>;

export type Handover = z.infer<typeof handoverSchema>;
