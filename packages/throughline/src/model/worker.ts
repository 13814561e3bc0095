import { z } from 'zod';
import { foreignId } from './ids.ts';

/** A process of an agent says that it is alive. */
export const beatSchema = z.object({
  /** The process, by a name of its own that no other one ever has. */
  worker: foreignId,
  /**
   * Where it serves, by a name that only one living process can have: host and port that it listens
   * on. Another process that was there before is then known to be gone.
   */
  seat: foreignId.exactOptional(),
});
export type Beat = z.infer<typeof beatSchema>;

/** What it is told. */
export const pulseSchema = z.object({
  /** Seconds for which it counts as alive from now on. */
  seconds: z.int().positive(),
  /** Whether tasks of its agent wait for a process to take them up. */
  due: z.boolean(),
});
export type Pulse = z.infer<typeof pulseSchema>;

/** A process asks for tasks that a process which is gone left. */
export const takingSchema = z.object({
  worker: foreignId,
  /** New for each taking; a taking whose answer was lost is asked for again under the same name. */
  taking: foreignId,
});
export type Taking = z.infer<typeof takingSchema>;
