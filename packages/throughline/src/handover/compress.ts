import type { CompressionPolicy } from '../model/agent-context.ts';
import { makeCounter, type Counter } from './compression/counter.ts';
import { encodeSmallest, markdownOf, readHtml } from './compression/encode.ts';
import { extract } from './compression/extract.ts';
import { makeReport } from './compression/make-report.ts';
import type { Compressed, CompressOptions, FetchedItem } from './compression/report.ts';
import { rewritersAt, type RewriteRequest } from './compression/rewrite.ts';
import { takeRewrites } from './compression/take-rewrites.ts';
import {
  checkPolicy,
  shrinkable,
  startWork,
  total,
  yieldByPriority,
  type Work,
} from './compression/work.ts';

export type {
  Compressed,
  CompressedItem,
  CompressionReport,
  CompressOptions,
  FetchedItem,
  ItemReport,
  Outcome,
} from './compression/report.ts';
export type { CodeBody, ParseCode } from './compression/code.ts';
export type { Rewrite, RewriteRequest, RewriterKind } from './compression/rewrite.ts';

/**
 * Reduces fetched items as the policy asks and their priorities allow (draft-chang-agentproto-
 * context-interaction-00, section 5.2). In this order, and only until TargetRatio (tokens after ÷
 * before, over all items) is met: `discardable` items go, the content of `reference_only` ones goes,
 * `compressible` ones shrink. Shrinking follows LossTolerance: `none` writes JSON smaller without loss;
 * `low` keeps what answers the queries, unchanged, in order, each gap marked; `medium` and `high` take
 * over rewrites from outside before that. What must be preserved stays byte for byte, and when that
 * misses the ratio the report says by how much and why. Without a policy nothing is reduced.
 *
 * @throws ThroughlineError `unsupported` for a Strategy or LossTolerance that is not known, by its name;
 *   `invalid` for a TargetRatio that is no number above 0 and up to 1.
 */
export function compress(
  items: readonly FetchedItem[],
  policy: CompressionPolicy | undefined,
  options: CompressOptions = {},
): Compressed {
  const counter = makeCounter(options);
  const works = start(items, policy, options, counter);
  const before = total(works);
  const target = policy && Math.floor(policy.TargetRatio * before);
  if (policy !== undefined && target !== undefined) {
    yieldByPriority(works, policy, target);
    shrink({ works, policy, target, options, counter });
  }
  return {
    items: works.flatMap(({ item, unread, did, text, mediaType }) => {
      if (did === 'dropped') return [];
      if (did === 'reference' || unread !== undefined) return [{ item }];
      return [{ item, text, ...(mediaType !== undefined && { mediaType }) }];
    }),
    report: makeReport(works, policy, options, { before, target, tokenizer: counter.name }),
  };
}

/**
 * What to ask a summariser or neural compressor for: one request for each item that still has to shrink
 * once priorities have let go what they may and all that is shorter without loss is written so. HTML is
 * asked for as the Markdown that it became. Hand the answers to `compress` as `rewrites`. Empty where
 * LossTolerance is `none` or `low`, or nothing has to shrink.
 *
 * @throws as `compress` does.
 */
export function rewriteRequests(
  items: readonly FetchedItem[],
  policy: CompressionPolicy,
  options: CompressOptions = {},
): readonly RewriteRequest[] {
  const counter = makeCounter(options);
  const works = start(items, policy, options, counter);
  const target = Math.floor(policy.TargetRatio * total(works));
  yieldByPriority(works, policy, target);
  const run = { works, policy, target, options, counter };
  const requests = requestsFor(run);
  if (requests.length === 0 || encodeWithoutLoss(run)) return [];
  const left = new Map(works.map(({ item, after }) => [item.ContextID, after]));
  return requests.filter(({ contextId, budget }) => (left.get(contextId) ?? 0) > budget);
}

function start(
  items: readonly FetchedItem[],
  policy: CompressionPolicy | undefined,
  options: CompressOptions,
  counter: Counter,
): Work[] {
  if (policy !== undefined) checkPolicy(policy);
  const given = new Set(items.map(({ item }) => item.ContextID));
  const missing = (options.context?.ContextItems ?? [])
    .filter(({ ContextID }) => !given.has(ContextID))
    .map((item) => ({ item, unread: 'its content was not given' }));
  return [...items, ...missing].map((each) => startWork(each, policy, options, counter));
}

interface Run {
  readonly works: readonly Work[];
  readonly policy: CompressionPolicy;
  /** Tokens that all works together may have. */
  readonly target: number;
  readonly options: CompressOptions;
  readonly counter: Counter;
}

function requestsFor({ works, policy, target, options, counter }: Run): RewriteRequest[] {
  const kinds = rewritersAt(policy.LossTolerance);
  const open = shrinkable(works);
  const size = total(open);
  const budget = target - (total(works) - size);
  if (kinds.length === 0 || size <= budget || budget <= 0) return [];
  return open.map((work) => {
    const markdown = markdownOf(work);
    return {
      contextId: work.item.ContextID,
      mediaType: markdown === undefined ? work.item.MediaType : 'text/markdown',
      text: markdown ?? work.source,
      queries: queriesOf(options),
      budget: Math.floor((budget * work.after) / size),
      tokenizer: counter.name,
      pinned: work.pinned,
      kinds,
    };
  });
}

/** Writes what is shorter so without loss in that form; true when that is enough. */
function encodeWithoutLoss({ works, policy, target, counter }: Run): boolean {
  const open = shrinkable(works);
  const isEnough = (): boolean => total(works) <= target;
  const budget = target - (total(works) - total(open));
  const share = policy.LossTolerance === 'none' ? undefined : budget / total(open);
  encodeSmallest(open, counter, share);
  if (isEnough() || policy.LossTolerance === 'none') return isEnough();
  readHtml(open, counter);
  return isEnough();
}

function shrink(run: Run): void {
  const { works, policy, target, options, counter } = run;
  const open = shrinkable(works);
  const isOver = (): boolean => total(works) > target;
  if (!isOver()) return;
  const { rewrites = [] } = options;
  const requests = rewrites.length === 0 ? [] : requestsFor(run);
  if (encodeWithoutLoss(run) || policy.LossTolerance === 'none') return;
  takeRewrites(open, requests, rewrites, counter);
  if (!isOver()) return;
  const rest = open.filter(({ did }) => did !== 'rewritten');
  const budget = target - (total(works) - total(rest));
  extract(rest, budget, queriesOf(options), aboutOf(options), counter);
  for (const { did, found, notes } of rest) {
    if (found.because !== undefined) notes.push(`It is kept or left as a whole: ${found.because}.`);
    else if (did === 'reference') notes.push('Nothing of it was among what fits the budget.');
  }
}

const queriesOf = ({ queries, context }: CompressOptions): readonly string[] => {
  const asked = queries ?? context?.todoItems.map(({ description }) => description) ?? [];
  return asked.filter((query) => query.trim() !== '');
};

const aboutOf = ({ context }: CompressOptions): string =>
  context === undefined
    ? ''
    : [
        context.SubTaskName,
        ...context.EvaluationPolicy.SuccessCriteria.map(({ Description }) => Description),
      ].join('\n');
