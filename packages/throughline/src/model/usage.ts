import { z } from 'zod';
import { idSchema, shortText } from './ids.ts';

/** Of one claim, so that sums of claims stay exact. */
const claimedTokens = z.int().nonnegative().max(1_000_000_000_000);

/** What one model used, as those say who called it. */
export const usageSchema = z.object({
  model: z.string().min(1).max(255),
  inputTokens: claimedTokens,
  outputTokens: claimedTokens,
  /** In the unit of the prices that were set; absent where no price is known. */
  money: z.number().nonnegative().exactOptional(),
});
export type Usage = z.infer<typeof usageSchema>;

/** Models that one hand-over may name, at most. */
export const usageLimit = 32;

/** What local compression was given and what it left, in tokens, as the agent says itself. */
export const compressionSchema = z.object({
  tokenizer: z.string().min(1).max(255),
  before: claimedTokens,
  after: claimedTokens,
  /** Why the ratio that was asked for was missed, and by how much. */
  missed: shortText.exactOptional(),
});
export type Compression = z.infer<typeof compressionSchema>;

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
  compression: compressionSchema.exactOptional(),
});
/** The texts that a hand-over's figures were counted on. */
export const handoverTextsSchema = z.object({
  sent: z.string(),
  fullHistory: z.string(),
  returned: z.string().exactOptional(),
});
export type HandoverTexts = z.infer<typeof handoverTextsSchema>;

export type Handover = z.infer<typeof handoverSchema>;

/** What models of a Master's own used for one run, its planner's and its graders', summed by model. */
export const runUsageSchema = z.object({
  /** The run's Task. */
  run: idSchema('task'),
  usage: z.array(usageSchema).max(2 * usageLimit),
});
export type RunUsage = z.infer<typeof runUsageSchema>;

/** What several hand-overs come to, and models with them. */
export const spendingSchema = z.object({
  handovers: z.int(),
  sent: z.int(),
  fullHistory: z.int(),
  returned: z.int(),
  /** Of those hand-overs whose agents say so; absent where none does. */
  compressed: z.object({ before: z.int(), after: z.int() }).exactOptional(),
  inputTokens: z.int(),
  outputTokens: z.int(),
  /** Of what is priced, in the unit of the prices; absent where nothing is. */
  money: z.number().exactOptional(),
  /** Tokens of models that no price is known for. */
  unpriced: z.int(),
});
export type Spending = z.infer<typeof spendingSchema>;

/** The figures of a hand-over that are summed. */
export type Counted = Partial<
  Pick<Handover, 'sent' | 'fullHistory' | 'returned' | 'usage' | 'compression'>
>;

/** Sums; `own` is what models used beside the hand-overs. */
export function spendingOf(handovers: readonly Counted[], own: readonly Usage[] = []): Spending {
  const used = [...own, ...handovers.flatMap(({ usage = [] }) => usage)];
  const compressed = handovers.flatMap(({ compression }) => compression ?? []);
  const priced = used.flatMap(({ money }) => money ?? []);
  return {
    handovers: handovers.filter(({ sent }) => sent !== undefined).length,
    sent: sum(handovers, ({ sent = 0 }) => sent),
    fullHistory: sum(handovers, ({ fullHistory = 0 }) => fullHistory),
    returned: sum(handovers, ({ returned = 0 }) => returned),
    ...(compressed.length > 0 && {
      compressed: {
        before: sum(compressed, ({ before }) => before),
        after: sum(compressed, ({ after }) => after),
      },
    }),
    inputTokens: sum(used, ({ inputTokens }) => inputTokens),
    outputTokens: sum(used, ({ outputTokens }) => outputTokens),
    ...(priced.length > 0 && { money: sum(priced, (each) => each) }),
    unpriced: sum(used, ({ money, inputTokens, outputTokens }) =>
      money === undefined ? inputTokens + outputTokens : 0,
    ),
  };
}

const sum = <T>(all: readonly T[], of: (each: T) => number): number =>
  all.reduce((total, each) => total + of(each), 0);
