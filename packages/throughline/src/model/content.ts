import { z } from 'zod';
import { digest, idSchema } from './ids.ts';

/** A piece of offloaded content: stable URI without a secret, checked by its digest. */
export const contentRefSchema = z.object({
  resource: idSchema('resource'),
  /** ContextURI. */
  uri: z.url(),
  mediaType: z.string().max(255),
  /** Bytes. */
  size: z.int().nonnegative(),
  digest,
});
export type ContentRef = z.infer<typeof contentRefSchema>;

/** Where a read token travels in a part's metadata, keyed by ContextID (beside the draft's schema). */
export const contentAccessSchema = z.record(
  z.string(),
  z.object({ digest, size: z.int().nonnegative(), token: z.string() }),
);
export type ContentAccess = z.infer<typeof contentAccessSchema>;

/** Key of that object in A2A part metadata. */
export const contentAccessKey = 'https://throughline.dev/extensions/aci/v1';
