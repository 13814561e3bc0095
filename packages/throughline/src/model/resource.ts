import { z } from 'zod';
import { digest, idSchema, shortText } from './ids.ts';

/** W3C FragmentSelector: `conformsTo` names the fragment syntax, `value` is the fragment. */
export const selectorSchema = z.object({
  conformsTo: z.enum([
    'http://www.w3.org/TR/media-frags/',
    'http://tools.ietf.org/rfc/rfc5147',
    'http://tools.ietf.org/rfc/rfc7111',
    'http://tools.ietf.org/rfc/rfc6901',
    'http://tools.ietf.org/rfc/rfc9110',
  ]),
  value: shortText,
});
export type Selector = z.infer<typeof selectorSchema>;

/** Stable identity, local meaning: how it is used is said on the edges to it. */
export const resourceSchema = z.object({
  id: idSchema('resource'),
  activity: idSchema('activity'),
  name: shortText.optional(),
  mediaType: z.string().max(255).optional(),
  /** Bytes. */
  size: z.int().nonnegative().optional(),
  digest: digest.optional(),
  /** Where the bytes are; never holds a credential. */
  locator: shortText.optional(),
});
export type Resource = z.infer<typeof resourceSchema>;
