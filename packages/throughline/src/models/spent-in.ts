import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';

const spentSchema = z.object({
  usage: z.object({
    inputTokens: z.int().min(0),
    outputTokens: z.int().min(0),
    estimated: z.literal(true).exactOptional(),
  }),
});

/** What a model used that gave no answer, where its error says so. */
export const spentIn = (error: unknown): z.infer<typeof spentSchema> | undefined =>
  error instanceof ThroughlineError ? spentSchema.safeParse(error.details).data : undefined;
