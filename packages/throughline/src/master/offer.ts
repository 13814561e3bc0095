import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import { contextTypes, priorities } from '../model/agent-context.ts';
import { contentRefSchema, type ContentRef } from '../model/content.ts';
import { digest, foreignId, shortText, timestamp } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import { sha256, type ContentsOptions } from './contents.ts';
import { checkForeign, readForeign } from './foreign.ts';
import type { MasterPorts } from './ports.ts';
import type { ItemRef, RunItem } from './run-state.ts';

/** Content in another store; what is not said of it is found out. */
const elsewhereSchema = z.strictObject({
  /** ContextURI, handed over as it is. */
  uri: z.url().max(2_048),
  digest: digest.exactOptional(),
  /** Bytes. */
  size: z.int().min(0).max(limits.contentBytes).exactOptional(),
  /** When that store stops serving it, where that is known. */
  expiresAt: timestamp.exactOptional(),
});
type Elsewhere = z.output<typeof elsewhereSchema>;

/** A context item offered to a run; its content by value, where it is offloaded already, or elsewhere. */
const offeredContentSchema = z.object({
  name: foreignId,
  type: z.enum(contextTypes),
  mediaType: z.string().min(1).max(255),
  description: shortText,
  priority: z.enum(priorities).default('compressible'),
  role: shortText.optional(),
  note: shortText.optional(),
  content: z.union([z.string(), z.instanceof(Uint8Array), contentRefSchema, elsewhereSchema]),
});
export type OfferedContent = z.input<typeof offeredContentSchema>;

type Parsed = z.output<typeof offeredContentSchema>;

interface Ground extends Partial<ContentsOptions> {
  readonly ports: Pick<MasterPorts, 'newId' | 'putContent'>;
  readonly activity: string;
}

/**
 * Offloads what is offered to a run, each piece once. What lies in another store stays there, or is taken
 * into the hub's, as the Master's policy says; all of it is looked at before any of it is put.
 *
 * @throws ThroughlineError `invalid` naming the field, `too-large`, and for what lies elsewhere also
 *   `damaged`, `gone`, `not-found`, `unavailable`, naming the item.
 */
export async function offload(
  ports: Ground['ports'],
  activity: string,
  offered: readonly OfferedContent[],
  beside: Partial<ContentsOptions> = {},
): Promise<RunItem[]> {
  const ground = { ...beside, ports, activity };
  const parsed = z.array(offeredContentSchema).max(1_024).safeParse(offered);
  if (!parsed.success) {
    throw new ThroughlineError(
      'invalid',
      `The offered context is not valid:\n${z.prettifyError(parsed.error)}`,
    );
  }
  for (const { name, content } of parsed.data) {
    if (isElsewhere(content)) checkForeign(ground.stores, name, content.uri);
  }
  const items: RunItem[] = [];
  for (const each of parsed.data) items.push(asItem(each, await refOf(ground, each)));
  return items;
}

function asItem(
  { name, type, mediaType, description, priority, role, note }: Parsed,
  ref: ItemRef,
): RunItem {
  return {
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
  };
}

const isElsewhere = (content: Parsed['content']): content is Elsewhere =>
  typeof content === 'object' && 'uri' in content && !('resource' in content);

async function refOf(ground: Ground, { name, mediaType, content }: Parsed): Promise<ItemRef> {
  if (isElsewhere(content)) return elsewhere(ground, { name, mediaType, at: content });
  const isByValue = typeof content === 'string' || content instanceof Uint8Array;
  return isByValue ? put(ground, { name, mediaType, content }) : content;
}

/** Read once where it is to be taken, or where its digest or size is not known yet. */
async function elsewhere(
  ground: Ground,
  { name, mediaType, at }: { name: string; mediaType: string; at: Elsewhere },
): Promise<ItemRef> {
  const { stores, self = '', ports } = ground;
  const { uri, expiresAt } = at;
  let { digest: known, size } = at;
  if (known === undefined || size === undefined || stores?.policy === 'take') {
    const most = size ?? limits.contentBytes;
    const { bytes } = await readForeign(stores, { name, uri, size: most, self });
    const found = sha256(bytes);
    if ((known ?? found) !== found || (size ?? bytes.length) !== bytes.length) {
      throw new ThroughlineError(
        'damaged',
        `Context item ${name} is not what its digest and size say; it is not handed over.`,
      );
    }
    if (stores?.policy === 'take') return put(ground, { name, mediaType, content: bytes });
    [known, size] = [found, bytes.length];
  }
  return {
    resource: ports.newId('resource'),
    uri,
    mediaType,
    size,
    digest: known,
    ...(expiresAt !== undefined && { expiresAt }),
    foreign: name,
  };
}

function put(
  { ports, activity }: Ground,
  { name, mediaType, content }: { name: string; mediaType: string; content: string | Uint8Array },
): Promise<ContentRef> {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  if (bytes.length > limits.contentBytes) {
    throw new ThroughlineError(
      'too-large',
      `Context item ${name} has ${bytes.length} bytes; at most ${limits.contentBytes} can be offered.`,
    );
  }
  return ports.putContent({ activity, resource: ports.newId('resource'), mediaType, bytes });
}
