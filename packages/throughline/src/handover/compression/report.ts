import type { AgentContext, ContextItem } from '../../model/agent-context.ts';
import type { CountTokens } from '../count-tokens.ts';
import type { ParseCode } from './code.ts';
import type { PreservedField } from './preserve.ts';
import type { Rewrite } from './rewrite.ts';

/**
 * An item with what was got of it: text, bytes that are no text, or nothing and why. A note on how
 * the text was read is passed on in the report.
 */
export type FetchedItem =
  | { readonly item: ContextItem; readonly text: string; readonly note?: string }
  | { readonly item: ContextItem; readonly bytes: Uint8Array }
  | { readonly item: ContextItem; readonly unread: string };

export interface CompressOptions {
  /**
   * The AgentContext that the items are of. Its todo items are the queries, its success criteria and
   * the name of the subtask what is asked for in general; fields that the policy preserves are read
   * from it, and items of it that were not given are reported as not read.
   */
  readonly context?: AgentContext;
  /** Questions that the texts are read for; they share the budget. Default: the todo items. */
  readonly queries?: readonly string[];
  /** Facts that must survive byte for byte wherever a text has them; never an empty string. */
  readonly pinned?: readonly string[];
  /** Answers of a summariser or neural compressor to `rewriteRequests`. */
  readonly rewrites?: readonly Rewrite[];
  /** Finds the declarations in code; without it code stays whole or leaves its reference. */
  readonly parseCode?: ParseCode | undefined;
  readonly count?: CountTokens;
  /** Name of `count` in the report. */
  readonly tokenizer?: string;
}

/**
 * What became of an item: `kept` byte for byte; `encoded` the same data in fewer tokens; `extracted`
 * parts of it, unchanged; `rewritten` by a plug-in; `reference` only URI and description; `dropped`
 * nothing.
 */
export type Outcome = 'kept' | 'encoded' | 'extracted' | 'rewritten' | 'reference' | 'dropped';

export interface ItemReport {
  readonly contextId: string;
  readonly priority: ContextItem['Priority'];
  readonly before: number;
  readonly after: number;
  readonly did: Outcome;
  /** By what: `bm25`, `outline`, `json`, `csv`, `toon`, `markdown`, name of a rewriter; `none`. */
  readonly strategy: string;
  /** ContextURI of the item that the text was derived from, where it is no longer that item's own. */
  readonly derivedFrom?: string;
  /** Of how many units (sentences, rows, blocks) how many were left out, in how many gaps. */
  readonly leftOut?: { readonly units: number; readonly of: number; readonly gaps: number };
  /** Why the content, or part of it, was not read. Its tokens are not in any sum. */
  readonly unread?: string;
  /** What else a reader should know: why it stayed whole, why a rewrite was refused. */
  readonly notes: readonly string[];
}

export interface CompressionReport {
  readonly tokenizer: string;
  readonly before: number;
  readonly after: number;
  /** Tokens that the policy leaves; absent without a policy. */
  readonly target?: number;
  readonly items: readonly ItemReport[];
  /** Why the ratio was missed, and by how much; absent when it was met or none was asked. */
  readonly missed?: string;
  /** Each pinned fact with the ContextIDs of the texts that still have it. */
  readonly pinned: readonly { readonly fact: string; readonly in: readonly string[] }[];
  /** Fields that MustPreserveFields names, verbatim from the AgentContext. */
  readonly preserved: readonly PreservedField[];
  /** Paths of MustPreserveFields under which nothing was found. */
  readonly unmatched: readonly string[];
}

export interface CompressedItem {
  readonly item: ContextItem;
  /** Absent where only the reference is left. The item's ContextURI gets the whole back. */
  readonly text?: string;
  /** Form of the text where it is no longer the item's MediaType. */
  readonly mediaType?: string;
}

export interface Compressed {
  /** In the order given. */
  readonly items: readonly CompressedItem[];
  readonly report: CompressionReport;
}
