import type { Message, Part } from '@a2a-js/sdk';
import { agentContextMediaType } from '../../model/agent-context.ts';
import { contentAccessKey } from '../../model/content.ts';

/**
 * A message whose AgentContext bears its media type. A2A 0.3 knows none for data, so that a message which
 * comes from there says by its extensions, or by what rides beside the data, what it is.
 */
export function withContextType(message: Message): Message {
  const isNamed = message.extensions.includes(contentAccessKey) || hasAccess(message.metadata);
  const isContext = ({ content, mediaType, metadata }: Part): boolean =>
    content?.$case === 'data' && mediaType === '' && (isNamed || hasAccess(metadata));
  if (!message.parts.some(isContext)) return message;
  const parts = message.parts.map((part) =>
    isContext(part) ? { ...part, mediaType: agentContextMediaType } : part,
  );
  return { ...message, parts };
}

const hasAccess = (metadata: Message['metadata']): boolean =>
  metadata?.[contentAccessKey] !== undefined;
