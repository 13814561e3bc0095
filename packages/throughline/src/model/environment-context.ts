import { z } from 'zod';
import { shortText, timestamp } from './ids.ts';

/**
 * EnvironmentContext, which draft-chang-agentproto-context-interaction-00 leaves for later: when and where
 * a task is asked for, and what must be kept to there.
 */
export const environmentContextSchema = z.object({
  /** With the offset of the zone. */
  time: timestamp,
  /** IANA time zone, such as `Europe/Lisbon`. */
  zone: shortText,
  /** BCP 47 language tag. */
  locale: shortText,
  place: z
    .object({
      name: shortText.exactOptional(),
      /** ISO 3166-1 alpha-2. */
      country: z
        .string()
        .regex(/^[A-Z]{2}$/)
        .exactOptional(),
      latitude: z.number().min(-90).max(90).exactOptional(),
      longitude: z.number().min(-180).max(180).exactOptional(),
      /** Of both, in metres. */
      accuracy: z.number().nonnegative().exactOptional(),
    })
    .exactOptional(),
  /** Such as `quiet hours` or `no video`. */
  constraints: z.array(shortText).max(32),
});
export type EnvironmentContext = z.infer<typeof environmentContextSchema>;
export const environmentContextMediaType = 'application/vnd.throughline.environment-context+json';
