import { ThroughlineError } from '../errors.ts';
import type { CompressionPolicy, ContextItem } from '../model/agent-context.ts';
import { countTokens, type CountTokens, tokenizerName } from './count-tokens.ts';

/** An item whose content is at hand. */
export interface FetchedItem {
  readonly item: ContextItem;
  readonly text: string;
}

export interface ItemReport {
  readonly contextId: string;
  readonly priority: ContextItem['Priority'];
  readonly before: number;
  readonly after: number;
  /** `kept` byte for byte; `reference` leaves URI and description; `dropped` leaves nothing. */
  readonly did: 'kept' | 'reference' | 'dropped';
}

export interface CompressionReport {
  readonly tokenizer: string;
  readonly before: number;
  readonly after: number;
  readonly items: readonly ItemReport[];
  /** Why the ratio was missed, and by how much; absent when it was met or none was asked. */
  readonly missed?: string;
}

export interface Compressed {
  /** In the order given; `text` is absent where only the reference is left. */
  readonly items: readonly { readonly item: ContextItem; readonly text?: string }[];
  readonly report: CompressionReport;
}

/** What each priority lets go of, in the order in which it goes. */
const yields = [
  ['discardable', 'dropped'],
  ['reference_only', 'reference'],
] as const satisfies readonly (readonly [ContextItem['Priority'], ItemReport['did']])[];

const strategies: readonly string[] = ['target_ratio'];

/**
 * Reduces fetched items as the policy asks and their priorities allow: `discardable` items go first,
 * then the content of `reference_only` ones. Every other item stays byte for byte; when that misses
 * TargetRatio (tokens after ÷ before, over all items) the report says by how much. Without a policy
 * nothing is reduced.
 *
 * @throws ThroughlineError `unsupported` for a Strategy that is not known, by its name.
 */
export function compress(
  items: readonly FetchedItem[],
  policy: CompressionPolicy | undefined,
  count: CountTokens = countTokens,
  tokenizer: string = tokenizerName,
): Compressed {
  if (policy !== undefined && !strategies.includes(policy.Strategy)) {
    throw new ThroughlineError(
      'unsupported',
      `Compression strategy “${policy.Strategy}” is not known; use ${strategies.join(' or ')}.`,
      { details: { strategy: policy.Strategy } },
    );
  }
  const sizes = items.map(({ text }) => count(text));
  const before = sizes.reduce((sum, size) => sum + size, 0);
  const target = (policy?.TargetRatio ?? 1) * before;
  const did: ItemReport['did'][] = items.map(() => 'kept');
  let after = before;
  for (const [priority, what] of yields) {
    for (const [at, { item }] of items.entries()) {
      if (after <= target || item.Priority !== priority) continue;
      did[at] = what;
      after -= sizes[at] ?? 0;
    }
  }
  const reports = items.map(({ item }, at): ItemReport => ({
    contextId: item.ContextID,
    priority: item.Priority,
    before: sizes[at] ?? 0,
    after: did[at] === 'kept' ? (sizes[at] ?? 0) : 0,
    did: did[at] ?? 'kept',
  }));
  return {
    items: items.flatMap(({ item, text }, at) =>
      did[at] === 'dropped' ? [] : [did[at] === 'kept' ? { item, text } : { item }],
    ),
    report: {
      tokenizer,
      before,
      after,
      items: reports,
      ...(after > target && {
        missed: `${after - Math.floor(target)} tokens over the target of ${Math.floor(target)}: what is left is must_preserve or compressible, and is kept whole`,
      }),
    },
  };
}
