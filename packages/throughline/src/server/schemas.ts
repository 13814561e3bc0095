import { z } from 'zod';
import { idSchema } from '../model/ids.ts';
import { principalSchema } from '../model/principal.ts';

/** Media type as in RFC 9110, with parameters; it becomes a header again, so nothing else passes. */
export const mediaType = z
  .string()
  .max(255)
  .regex(
    /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:; ?[\w!#$&^.+-]+=(?:[\w!#$&^.+-]+|"[\w !#$&^.+/-]*"))*$/,
    {
      message: 'must be a media type such as text/plain',
    },
  );

/** The body as it came, bounded before by the limit on content. */
export const bytesBody = z.instanceof(Uint8Array<ArrayBufferLike>);

/** A key as an operator may see it again: never the secret. */
export const keySummarySchema = z.object({
  id: idSchema('key'),
  principal: principalSchema,
  label: z.string().exactOptional(),
  createdAt: z.string(),
  revoked: z.boolean(),
});
export type KeySummary = z.infer<typeof keySummarySchema>;
