import { z } from 'zod';
import { foreignId, text } from './ids.ts';

/** Text that becomes part of a header: visible ASCII and blanks, nothing that could end the line. */
const headerText = (maxLength: number) =>
  z
    .string()
    .max(maxLength)
    .regex(/^[\x20-\x7e]*$/, { message: 'must be visible ASCII' });

/**
 * Where somebody wants to be told of what becomes of a task. `token` and `authentication` are
 * secrets of whoever asked: kept sealed, given back to nobody else but the agent that sends.
 */
export const pushConfigSchema = z.object({
  /** Chosen by whoever asked; distinct among that principal's for this task. */
  id: foreignId,
  taskId: foreignId,
  /** What may be called is the sender's to judge, when it is written and at each sending. */
  url: text(8_192).min(1),
  token: headerText(2_048).optional(),
  authentication: z
    .object({
      scheme: z.string().regex(/^[\w!#$%&'*+.^`|~-]{1,64}$/, { message: 'must be an auth scheme' }),
      credentials: headerText(8_192),
    })
    .optional(),
  /** Version of the protocol that it was asked in: decides the form of what is sent. */
  protocolVersion: z.string().max(8),
  /** Principal id of whoever asked; set by the hub. */
  owner: foreignId.optional(),
});
export type PushConfig = z.infer<typeof pushConfigSchema>;
