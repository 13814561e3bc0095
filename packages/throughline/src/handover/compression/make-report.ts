import type { CompressionPolicy } from '../../model/agent-context.ts';
import { isOfContext, valuesAt, type PreservedField } from './preserve.ts';
import type { CompressionReport, CompressOptions, Outcome } from './report.ts';
import { total, type Work } from './work.ts';

/** Outcomes whose text is another one than the item's. */
const derived: readonly Outcome[] = ['encoded', 'extracted', 'rewritten'];

interface Sums {
  readonly before: number;
  readonly target: number | undefined;
  readonly tokenizer: string;
}

/** Says what became of each item, whether the target was met, and what of all that must stay is there. */
export function makeReport(
  works: readonly Work[],
  policy: CompressionPolicy | undefined,
  options: CompressOptions,
  { before, target, tokenizer }: Sums,
): CompressionReport {
  const after = total(works);
  const preserved = preservedFields(policy, options);
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
    unmatched: unmatchedPaths(works, policy, preserved, options),
  };
}

/** Paths under which neither the AgentContext, where there is one, nor any content has a value. */
function unmatchedPaths(
  works: readonly Work[],
  policy: CompressionPolicy | undefined,
  preserved: readonly PreservedField[],
  { context }: CompressOptions,
): string[] {
  const met = new Set([
    ...preserved.map(({ path }) => path),
    ...works.flatMap(({ holds }) => holds),
  ]);
  return (policy?.MustPreserveFields ?? []).filter(
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
