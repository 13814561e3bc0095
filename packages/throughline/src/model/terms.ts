import { z } from 'zod';

/** How a hub treats contexts and what is in them, as it tells its clients. */
export const termsSchema = z.object({
  /** `refuse`: only ids that were issued here; `adopt`: a client may bring its own. */
  contextPolicy: z.enum(['refuse', 'adopt']),
  /** Seconds that an unused context is kept. */
  contextSeconds: z.int().positive().exactOptional(),
  /** Seconds that the record of a task or reply that is over is kept; absent: as long as its case. */
  taskSeconds: z.int().positive().exactOptional(),
  /** Seconds that what was written in a case is kept after its last change; absent: for good. */
  historySeconds: z.int().positive().exactOptional(),
});
export type Terms = z.infer<typeof termsSchema>;

/** What a pass of the sweeper did. */
export const sweptSchema = z.object({
  contexts: z.int(),
  tasks: z.int(),
  replies: z.int(),
  cases: z.int(),
  /** Pieces of offloaded content whose bytes were deleted. */
  contents: z.int(),
  /** There is more to do at once. */
  more: z.boolean(),
});
export type Swept = z.infer<typeof sweptSchema>;
