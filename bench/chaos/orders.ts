import { createHash } from 'node:crypto';
import { z } from 'zod';

/** What a caller asks the clerk for. */
export const orderSchema = z.object({
  name: z.string().max(100),
  steps: z.int().min(1).max(8),
  pauseMs: z.int().nonnegative().max(2_000),
});
export type Order = z.infer<typeof orderSchema>;

/** Follows from the order alone, so that whoever looks later knows what must be there. */
export const contentOf = ({ name }: Order, step: number): string =>
  `Step ${step} of ${name}: ${createHash('sha256').update(`${name} ${step}`).digest('hex')}`;

export const digestOf = (text: string): string =>
  `sha-256:${createHash('sha256').update(text).digest('hex')}`;
