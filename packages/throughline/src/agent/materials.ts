import {
  compress,
  rewriteRequests,
  type Compressed,
  type CompressOptions,
  type FetchedItem,
  type Rewrite,
} from '../handover/compress.ts';
import { isText } from '../handover/media.ts';
import type { AgentContext } from '../model/agent-context.ts';
import { charsetOf, decodeText } from './decode-text.ts';
import type { FetchedContent } from './handler.ts';
import type { Rewriter } from './rewriter.ts';
import type { CodeReader } from './tree-sitter.ts';

export interface MaterialsOptions extends Pick<CompressOptions, 'queries' | 'pinned'> {
  readonly fetch: (contextId: string) => Promise<FetchedContent>;
  /** Asked where LossTolerance lets texts be rewritten. */
  readonly rewriters?: readonly Rewriter[] | undefined;
  /** Makes outlines of code. Default: code stays whole or leaves its reference. */
  readonly code?: CodeReader | undefined;
  readonly signal: AbortSignal;
  /** Told of a rewriter that failed: extraction then does its work. */
  readonly fault: (error: unknown) => void;
}

/** Fetches the items that are text and reduces them as the policy asks and their priorities allow. */
export async function readMaterials(
  context: AgentContext,
  { fetch, rewriters = [], code, signal, fault, ...asked }: MaterialsOptions,
): Promise<Compressed> {
  const items: FetchedItem[] = [];
  for (const item of context.ContextItems) {
    items.push(await fetched(item.ContextID, item.MediaType, fetch));
  }
  const { CompressionPolicy: policy } = context;
  const parseCode = await code?.(context.ContextItems.map(({ MediaType }) => MediaType));
  const options: CompressOptions = { ...asked, context, parseCode };
  if (policy === undefined || rewriters.length === 0) return compress(items, policy, options);
  const rewrites: Rewrite[] = [];
  for (const request of rewriteRequests(items, policy, options)) {
    const rewriter = rewriters.find(({ kind }) => request.kinds.includes(kind));
    if (rewriter === undefined) continue;
    try {
      rewrites.push(await rewriter.rewrite(request, signal));
    } catch (error) {
      signal.throwIfAborted();
      fault(error);
    }
  }
  return compress(items, policy, { ...options, rewrites });
}

async function fetched(
  contextId: string,
  declared: string,
  fetch: MaterialsOptions['fetch'],
): Promise<FetchedItem> {
  const { item, bytes } = await fetch(contextId);
  if (!isText(declared)) return { item, bytes };
  const isExact = item.Priority === 'must_preserve';
  const text = decodeText(bytes, declared, { fatal: true, ignoreBOM: isExact });
  if (text !== undefined) return { item, text };
  const legible = isExact ? undefined : decodeText(bytes, declared);
  if (legible === undefined) return { item, bytes };
  return { item, text: legible, note: `Bytes that are no ${charsetOf(declared)} stand as \uFFFD.` };
}
