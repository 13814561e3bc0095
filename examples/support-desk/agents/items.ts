/** Context items and outputs that the desk's agents exchange: their names and shapes. */
import { z } from 'zod';
import { subQuestionSchema } from '../sub-questions.ts';

const text = z.string().max(20_000);

export const spanSchema = z.object({
  documentId: text,
  quote: text,
  start: z.number().int().nonnegative(),
  end: z.number().int().nonnegative(),
  card: text.exactOptional(),
  internal: z.boolean(),
});
const passageSchema = spanSchema.extend({ question: text, intent: text });

/** `questions`: what the desk wants looked up. */
export const questionsSchema = z.array(subQuestionSchema).max(500);

/** `holdings`: products, no numbers and no balances. */
export const holdingsSchema = z.object({
  cards: z.array(z.object({ card: text, opened: text })).max(100),
  accounts: z.array(z.object({ class: text, level: text })).max(100),
});

/** `terms`: the sentences that decide what purchases earn. */
export const termsSchema = z.object({ terms: z.array(spanSchema).max(1_000) });

/** `passages`: spans that bear on the questions, and what procedures say. */
export const passagesSchema = z.object({
  passages: z.array(passageSchema).max(500),
  procedures: z.array(passageSchema).max(500),
});

/** `transactions`: what the account checker and, for its sums, the case writer get. */
export const transactionsSchema = z.object({
  transactions: z
    .array(
      z.object({
        transaction_id: text,
        card: text,
        amount: text,
        category: text,
        merchant: text,
        date: text,
        status: text,
        rewards_earned: text,
      }),
    )
    .max(10_000),
  cards: z.array(z.object({ card: text, opened: text })).max(100),
});

/** `first name`: null for somebody the bank does not know. */
export const firstNameSchema = z.object({ firstName: text.nullable() });
