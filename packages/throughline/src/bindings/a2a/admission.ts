import { Message, Part, Role, type SendMessageRequest } from '@a2a-js/sdk';
import { z } from 'zod';
import { ThroughlineError } from '../../errors.ts';
import { admissionRequestSchema, type AdmissionRequest } from '../../model/admission.ts';
import { utf8Length } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import { withContextType } from './context-parts.ts';
import { sha256, sortedJson } from './digest.ts';

const messageSchema = z.object({
  role: z.literal(Role.ROLE_USER, { error: 'must be ROLE_USER' }),
  parts: z
    .array(
      z.custom<Part>(
        (part) =>
          typeof part === 'object' &&
          part !== null &&
          'content' in part &&
          part.content !== undefined,
        'must hold one of text, raw, url, data',
      ),
    )
    .min(1)
    .max(limits.parts),
});

function invalid(error: z.ZodError): ThroughlineError {
  const [issue] = error.issues;
  const field = ['message', ...(issue?.path ?? [])].join('.');
  return new ThroughlineError('invalid', `${field}: ${issue?.message ?? 'is malformed'}`, {
    details: { field },
  });
}

/** The message of a request; throws `invalid` when it has none or one that no agent could use. */
export function messageOf(request: SendMessageRequest): Message {
  const { message } = request;
  if (message === undefined) throw new ThroughlineError('invalid', 'message: is missing');
  const parsed = messageSchema.safeParse(message);
  if (!parsed.success) throw invalid(parsed.error);
  if (bytesOf(message) > limits.messageBytes) {
    const what = `message: is over ${limits.messageBytes} bytes as JSON; send what is large by reference`;
    throw new ThroughlineError('too-large', what, { details: { limit: limits.messageBytes } });
  }
  return withContextType(message);
}

/** Whatever it came in: the size that it is stored in. */
const bytesOf = (message: Message): number => utf8Length(JSON.stringify(Message.toJSON(message)));

/** What the hub is asked before anything runs. Throws `invalid` naming the field at fault. */
export function admissionRequest(
  message: Message,
  agent: string,
  { pushConfig, worker }: { pushConfig: string | undefined; worker: string | undefined },
): AdmissionRequest {
  const { messageId, contextId, taskId, referenceTaskIds } = message;
  const payload = sha256(
    sortedJson({
      parts: message.parts.map((part) => Part.toJSON(part)),
      contextId,
      taskId,
      referenceTaskIds,
    }),
  );
  const parsed = admissionRequestSchema.safeParse({
    agent,
    messageId,
    ...(contextId === '' ? {} : { contextId }),
    ...(taskId === '' ? {} : { taskId }),
    referenceTaskIds,
    bytes: bytesOf(message),
    ...(pushConfig === undefined ? {} : { pushConfig }),
    ...(worker === undefined ? {} : { worker }),
    payload,
  });
  if (parsed.success) return parsed.data;
  throw invalid(parsed.error);
}
