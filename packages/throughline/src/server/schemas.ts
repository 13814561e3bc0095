import { z } from 'zod';

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
