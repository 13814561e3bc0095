import { z } from 'zod';
import { digest, idSchema, shortText, timestamp } from './ids.ts';
import { relationshipType } from './relationship.ts';
import { selectorSchema } from './resource.ts';
import { basis } from './task.ts';

/** Extension URI in A2A `metadata`, `extensions` and the `A2A-Extensions` header; versioned. */
export const correlationExtension = 'https://throughline.dev/extensions/correlation/v1';

/** Prefix of the `_meta` key on MCP. */
export const correlationMetaKey = 'dev.throughline/correlation';

const alias = z.string().min(1).max(64);

/**
 * Correlation Metadata on the wire. Inside our own domain the ids are the public ones and nothing
 * is signed. Untrusted all the same: an id in it proves nothing and gives no right.
 */
export const envelopeSchema = z.object({
  v: z.literal(1),
  dialog: alias.optional(),
  activity: alias.optional(),
  origin: alias.optional(),
  task: alias.optional(),
  resources: z
    .array(
      z.object({
        id: alias,
        name: shortText.optional(),
        mediaType: z.string().max(255).optional(),
        digest: digest.optional(),
        uri: shortText.optional(),
        selector: selectorSchema.optional(),
        /** Index of the part that carries it by value. */
        part: z.int().nonnegative().optional(),
      }),
    )
    .max(64)
    .optional(),
  relationships: z
    .array(
      z.object({
        /** Absent: the relationship is shown, its type withheld. */
        type: relationshipType.optional(),
        from: alias,
        to: alias,
        role: shortText.optional(),
      }),
    )
    .max(128)
    .optional(),
  assertions: z
    .array(
      z.object({
        id: idSchema('assertion').or(alias),
        about: alias,
        says: z.string().max(64),
        basis,
        asOf: timestamp.optional(),
        /** Seconds. */
        ttl: z.int().positive().optional(),
        cause: alias.optional(),
      }),
    )
    .max(64)
    .optional(),
  after: z.int().nonnegative().optional(),
  manifest: z
    .object({
      resources: z.int().nonnegative(),
      relationships: z.int().nonnegative(),
      assertions: z.int().nonnegative(),
    })
    .optional(),
  sig: z.string().optional(),
});
export type Envelope = z.infer<typeof envelopeSchema>;
