import type { CompressionPolicy } from '../model/agent-context.ts';
import { makeCounter, type Counter } from './compression/counter.ts';
import { encodeSmallest, markdownOf, readHtml } from './compression/encode.ts';
import { extract } from './compression/extract.ts';
import { isOfContext, valuesAt, type PreservedField } from './compression/preserve.ts';
import type {
  Compressed,
  CompressionReport,
  CompressOptions,
  FetchedItem,
  Outcome,
} from './compression/report.ts';
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
    shrink(works, policy, target, options, counter);
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
  const requests = requestsFor(works, policy, target, options, counter);
  if (requests.length === 0 || encodeWithoutLoss(works, policy, target, counter)) return [];
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

function requestsFor(
  works: readonly Work[],
  policy: CompressionPolicy,
  target: number,
  options: CompressOptions,
  { name }: Counter,
): RewriteRequest[] {
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
      tokenizer: name,
      pinned: work.pinned,
      kinds,
    };
  });
}

/** Writes what is shorter so without loss in that form; true when that is enough. */
function encodeWithoutLoss(
  works: readonly Work[],
  policy: CompressionPolicy,
  target: number,
  counter: Counter,
): boolean {
  const open = shrinkable(works);
  const isEnough = (): boolean => total(works) <= target;
  const budget = target - (total(works) - total(open));
  const share = policy.LossTolerance === 'none' ? undefined : budget / total(open);
  encodeSmallest(open, counter, share);
  if (isEnough() || policy.LossTolerance === 'none') return isEnough();
  readHtml(open, counter);
  return isEnough();
}

function shrink(
  works: readonly Work[],
  policy: CompressionPolicy,
  target: number,
  options: CompressOptions,
  counter: Counter,
): void {
  const open = shrinkable(works);
  const isOver = (): boolean => total(works) > target;
  if (!isOver()) return;
  const { rewrites = [] } = options;
  const requests =
    rewrites.length === 0 ? [] : requestsFor(works, policy, target, options, counter);
  if (encodeWithoutLoss(works, policy, target, counter)) return;
  if (policy.LossTolerance === 'none') return;
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

/** Outcomes whose text is another one than the item's. */
const derived: readonly Outcome[] = ['encoded', 'extracted', 'rewritten'];

interface Sums {
  readonly before: number;
  readonly target: number | undefined;
  readonly tokenizer: string;
}

function makeReport(
  works: readonly Work[],
  policy: CompressionPolicy | undefined,
  options: CompressOptions,
  { before, target, tokenizer }: Sums,
): CompressionReport {
  const after = total(works);
  const preserved = preservedFields(policy, options);
  const unmatched = policy === undefined ? [] : unmatchedPaths(works, policy, preserved, options);
  return {
    tokenizer,
    before,
    after,
    ...(target !== undefined && { target }),
    items: works.map((work) => ({
      contextId: work.item.ContextID,
      priority: work.item.Priority,
      before: work.before,
      after: work.after,
      did: work.did,
      strategy: work.strategy,
      ...(derived.includes(work.did) && { derivedFrom: work.item.ContextURI }),
      ...(work.leftOut && { leftOut: work.leftOut }),
      ...(work.unread !== undefined && { unread: work.unread }),
      notes: work.notes,
    })),
    ...(target !== undefined && after > target && { missed: whyMissed(works, policy, target) }),
    pinned: [...new Set(options.pinned ?? [])].map((fact) => ({
      fact,
      in: works.filter(({ text }) => text.includes(fact)).map(({ item }) => item.ContextID),
    })),
    preserved,
    unmatched,
  };
}

/** Paths under which neither the AgentContext, where there is one, nor any content has a value. */
function unmatchedPaths(
  works: readonly Work[],
  policy: CompressionPolicy,
  preserved: readonly PreservedField[],
  { context }: CompressOptions,
): string[] {
  const met = new Set([
    ...preserved.map(({ path }) => path),
    ...works.flatMap(({ holds }) => holds),
  ]);
  return policy.MustPreserveFields.filter(
    (path) => !met.has(path) && (context !== undefined || !isOfContext(path)),
  );
}

function preservedFields(
  policy: CompressionPolicy | undefined,
  { context }: CompressOptions,
): PreservedField[] {
  return (policy?.MustPreserveFields ?? [])
    .filter(isOfContext)
    .map((path) => ({ path, values: valuesAt(context, path) }))
    .filter(({ values }) => values.length > 0);
}

function whyMissed(
  works: readonly Work[],
  policy: CompressionPolicy | undefined,
  target: number,
): string {
  const sum = (of: (work: Work) => boolean): number => total(works.filter(of));
  const preserved = sum(({ item }) => item.Priority === 'must_preserve');
  const held = sum(({ item, holds }) => holds.length > 0 && item.Priority !== 'must_preserve');
  const pinned = sum(
    ({ item, pinned: facts, did }) =>
      facts.length > 0 && did !== 'reference' && item.Priority !== 'must_preserve',
  );
  const rest = sum(
    ({ item, holds, pinned: facts }) =>
      item.Priority === 'compressible' && holds.length === 0 && facts.length === 0,
  );
  const reasons = [
    preserved > 0 && `must_preserve items have ${preserved} tokens`,
    held > 0 && `items with fields of MustPreserveFields have ${held}`,
    pinned > 0 && `items with pinned facts have ${pinned}`,
    rest > 0 &&
      (policy?.LossTolerance === 'none'
        ? `compressible items have ${rest} and LossTolerance none lets them shrink only without loss`
        : `what is left of compressible items has ${rest}`),
  ].filter((reason) => reason !== false);
  return `${total(works) - target} tokens over the target of ${target}: ${reasons.join('; ')}`;
}
