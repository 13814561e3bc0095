import type { CompressionPolicy } from '../../model/agent-context.ts';

/** What may rewrite at which tolerance: a compressor only leaves words out, a summariser writes anew. */
const allowed: Readonly<Record<CompressionPolicy['LossTolerance'], readonly RewriterKind[]>> = {
  none: [],
  low: [],
  medium: ['compressor'],
  high: ['compressor', 'summariser'],
};

export type RewriterKind = 'compressor' | 'summariser';

/** Kinds of rewriting that a tolerance allows; for `none` and `low` there are none. */
export const rewritersAt = (
  tolerance: CompressionPolicy['LossTolerance'],
): readonly RewriterKind[] => allowed[tolerance];

/**
 * One text for a rewriter outside: a summariser or a neural token compressor. Whoever calls one sends
 * this and hands the answer to `compress`, which accepts or refuses it.
 */
export interface RewriteRequest {
  readonly contextId: string;
  readonly mediaType: string;
  readonly text: string;
  /** What it is read for, one question each. */
  readonly queries: readonly string[];
  /** Tokens that the answer may have. */
  readonly budget: number;
  readonly tokenizer: string;
  /** Facts that must come back byte for byte. */
  readonly pinned: readonly string[];
  readonly kinds: readonly RewriterKind[];
}

export interface Rewrite {
  readonly contextId: string;
  readonly kind: RewriterKind;
  /** What made it: name of the model or service, for the report. */
  readonly by: string;
  readonly text: string;
  /** Characters of the request's text that the rewriter read; fewer than all is said in the report. */
  readonly read: number;
}

/**
 * Why a rewrite is refused, or undefined when it is accepted: its kind is allowed, it is not empty, it
 * is within the budget, all pinned facts are in it byte for byte, and a compressor added no word.
 */
export function refusalOf(
  request: RewriteRequest,
  rewrite: Rewrite,
  tokens: number,
): string | undefined {
  if (!request.kinds.includes(rewrite.kind)) return `a ${rewrite.kind} is not allowed here`;
  if (rewrite.text.trim() === '') return 'it is empty';
  if (tokens > request.budget) return `it has ${tokens} tokens, ${request.budget} were asked for`;
  const lost = request.pinned.filter((fact) => !rewrite.text.includes(fact));
  if (lost.length > 0) return `it lost ${lost.length} pinned facts: ${JSON.stringify(lost[0])}`;
  if (rewrite.kind === 'compressor' && !isSubsequence(rewrite.text, request.text)) {
    return 'it has words that are not in the text, or in another order';
  }
  return undefined;
}

const words = (text: string): readonly string[] => text.match(/[\p{L}\p{N}]+/gu) ?? [];

function isSubsequence(part: string, whole: string): boolean {
  const all = words(whole);
  let at = 0;
  for (const word of words(part)) {
    while (at < all.length && all[at] !== word) at += 1;
    if (at === all.length) return false;
    at += 1;
  }
  return true;
}
