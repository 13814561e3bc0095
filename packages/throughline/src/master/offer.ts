import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import { contextTypes, priorities } from '../model/agent-context.ts';
import { contentRefSchema } from '../model/content.ts';
import { foreignId, shortText } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { MasterPorts } from './ports.ts';
import type { RunItem } from './run-state.ts';

/** A context item offered to a run; its content by value, or where it is offloaded already. */
const offeredContentSchema = z.object({
  name: foreignId,
  type: z.enum(contextTypes),
  mediaType: z.string().min(1).max(255),
  description: shortText,
  priority: z.enum(priorities).default('compressible'),
  role: shortText.optional(),
  note: shortText.optional(),
  content: z.union([z.string(), z.instanceof(Uint8Array), contentRefSchema]),
});
export type OfferedContent = z.input<typeof offeredContentSchema>;

/**
 * Offloads what is offered to a run, each piece once.
 *
 * @throws ThroughlineError `invalid` naming the field, `too-large` naming the item.
 */
export async function offload(
  ports: Pick<MasterPorts, 'newId' | 'putContent'>,
  activity: string,
  offered: readonly OfferedContent[],
): Promise<RunItem[]> {
  const parsed = z.array(offeredContentSchema).max(1_024).safeParse(offered);
  if (!parsed.success) {
    throw new ThroughlineError(
      'invalid',
      `The offered context is not valid:\n${z.prettifyError(parsed.error)}`,
    );
  }
  const items: RunItem[] = [];
  for (const each of parsed.data) {
    const { name, type, mediaType, description, priority, role, note, content } = each;
    const ref =
      typeof content === 'string' || content instanceof Uint8Array
        ? await put(ports, activity, { name, mediaType, content })
        : content;
    items.push({
      name,
      ref,
      ...(role !== undefined && { role }),
      ...(note !== undefined && { note }),
      item: {
        ContextID: ref.resource,
        ContextType: type,
        MediaType: mediaType,
        ContextURI: ref.uri,
        Description: description,
        Priority: priority,
      },
    });
  }
  return items;
}

function put(
  ports: Pick<MasterPorts, 'newId' | 'putContent'>,
  activity: string,
  { name, mediaType, content }: { name: string; mediaType: string; content: string | Uint8Array },
): ReturnType<MasterPorts['putContent']> {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  if (bytes.length > limits.contentBytes) {
    throw new ThroughlineError(
      'too-large',
      `Context item ${name} has ${bytes.length} bytes; at most ${limits.contentBytes} can be offered.`,
    );
  }
  return ports.putContent({ activity, resource: ports.newId('resource'), mediaType, bytes });
}
