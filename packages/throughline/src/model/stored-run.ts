import { z } from 'zod';
import { foreignId } from './ids.ts';

/** A run's decisions as they are kept. */
export const storedRunSchema = z.object({
  state: z.unknown(),
  version: z.int(),
  /** The process that drives it, by its name; absent: none that is alive. */
  driver: foreignId.exactOptional(),
});
export type StoredRun = z.infer<typeof storedRunSchema>;

/** A run that was driven by a process which is gone. */
export const leftRunSchema = z.object({
  id: foreignId,
  /** Name of the process that is gone. */
  driver: foreignId,
});
export type LeftRun = z.infer<typeof leftRunSchema>;
