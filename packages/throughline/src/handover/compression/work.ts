import { ThroughlineError } from '../../errors.ts';
import type { CompressionPolicy, ContextItem } from '../../model/agent-context.ts';
import { isText } from '../media.ts';
import { cutCode } from './code.ts';
import type { Counter } from './counter.ts';
import { kindOfText, looksBinary, type KindFound } from './kinds.ts';
import { isOfContext, isOfItems, valuesAt } from './preserve.ts';
import { cutProse } from './prose.ts';
import type { CompressOptions, FetchedItem, Outcome } from './report.ts';
import type { Cut } from './units.ts';

/** One item on its way through a compression. */
export interface Work {
  readonly item: ContextItem;
  /** What it was; empty when it was not read. */
  readonly source: string;
  readonly before: number;
  found: KindFound;
  readonly unread?: string;
  /** Pinned facts that the source has. */
  readonly pinned: readonly string[];
  /** A field that the policy preserves stands in it: it stays as it is. */
  readonly holds: string | undefined;
  readonly notes: string[];
  /** The source in units, where it can be cut as it stands. */
  cut?: Cut;
  /** HTML as Markdown. */
  markdown?: string;
  /** JSON as CSV, where that is the same. */
  asCsv?: string;
  text: string;
  after: number;
  did: Outcome;
  strategy: string;
  mediaType?: string;
  leftOut?: { readonly units: number; readonly of: number; readonly gaps: number };
}

const strategies: readonly string[] = ['target_ratio'];

/** @throws ThroughlineError `unsupported` for an unknown Strategy, `invalid` for a TargetRatio out of range. */
export function checkPolicy(policy: CompressionPolicy): void {
  if (!strategies.includes(policy.Strategy)) {
    throw new ThroughlineError(
      'unsupported',
      `Compression strategy “${policy.Strategy}” is not known; use ${strategies.join(' or ')}.`,
      { details: { strategy: policy.Strategy } },
    );
  }
  const ratio = policy.TargetRatio;
  if (!(ratio > 0 && ratio <= 1)) {
    throw new ThroughlineError(
      'invalid',
      `CompressionPolicy.TargetRatio is ${ratio}; it is tokens after ÷ before: above 0 and up to 1, where 1 lets everything stay.`,
      { details: { path: 'CompressionPolicy.TargetRatio' } },
    );
  }
}

export function startWork(
  fetched: FetchedItem,
  policy: CompressionPolicy | undefined,
  options: CompressOptions,
  counter: Counter,
): Work {
  const { item } = fetched;
  const base = { item, source: '', before: 0, found: { kind: 'whole' } as const, notes: [] };
  const unread = whyUnread(fetched);
  if (unread !== undefined || !('text' in fetched)) {
    const nothing = { pinned: [], holds: undefined, text: '', after: 0, strategy: 'none' };
    return { ...base, ...nothing, did: 'reference', ...(unread !== undefined && { unread }) };
  }
  const { text } = fetched;
  const isReducible = policy !== undefined && policy.TargetRatio < 1;
  const found = isReducible ? kindOfText(item, text) : base.found;
  const pinned = (options.pinned ?? []).filter((fact) => fact !== '' && text.includes(fact));
  const mayBeCut = item.Priority === 'compressible' || pinned.length > 0;
  const isLossy = isReducible && policy.LossTolerance !== 'none';
  const cut = isLossy && mayBeCut ? cutAsItStands(found, fetched, options, counter) : undefined;
  const before = cut?.tokens ?? counter.count(text);
  return {
    ...base,
    source: text,
    before,
    found: cut === undefined ? found : { kind: found.kind },
    pinned,
    holds: found.kind === 'json' ? fieldIn(text, policy) : undefined,
    ...(cut && { cut }),
    text,
    after: before,
    did: 'kept',
    strategy: 'none',
  };
}

/** Units of a text that can be cut without being turned into another form first. */
function cutAsItStands(
  { kind }: KindFound,
  { item, text }: { readonly item: ContextItem; readonly text: string },
  { parseCode }: CompressOptions,
  counter: Counter,
): (Cut & { readonly tokens: number }) | undefined {
  if (kind === 'prose') return cutProse(text, counter);
  const bodies = kind === 'code' ? parseCode?.(item.MediaType, text) : undefined;
  return bodies && cutCode(text, bodies, counter);
}

function whyUnread(fetched: FetchedItem): string | undefined {
  const { item } = fetched;
  if ('unread' in fetched) return fetched.unread;
  const isDeclared = isText(item.MediaType);
  if ('bytes' in fetched) {
    return isDeclared
      ? `${fetched.bytes.length} bytes that are no text, though ${item.MediaType} is declared`
      : `${item.MediaType} is not read as text`;
  }
  return looksBinary(fetched.text) && item.Priority !== 'must_preserve'
    ? `binary content, though ${item.MediaType} is declared`
    : undefined;
}

/** The first field of the contents' own that the policy preserves and this JSON has. */
function fieldIn(json: string, policy: CompressionPolicy | undefined): string | undefined {
  const paths = (policy?.MustPreserveFields ?? []).filter((path) => !isOfContext(path));
  if (paths.length === 0) return undefined;
  const value: unknown = JSON.parse(json);
  return paths.find((path) => valuesAt(value, path).length > 0);
}

/** What each priority lets go of, in the order in which it goes. */
const yields = [
  ['discardable', 'dropped'],
  ['reference_only', 'reference'],
] as const satisfies readonly (readonly [ContextItem['Priority'], Outcome])[];

/**
 * Lets `discardable` items go, then the content of `reference_only` ones, until the target is met. An
 * item with a fact or field that must stay does not go; where the policy preserves a field of the
 * items themselves, a discardable one leaves its reference.
 */
export function yieldByPriority(
  works: readonly Work[],
  policy: CompressionPolicy,
  target: number,
): void {
  const keepsItems = policy.MustPreserveFields.some(isOfItems);
  let after = total(works);
  for (const [priority, outcome] of yields) {
    for (const work of works) {
      if (after <= target) return;
      if (work.item.Priority !== priority || work.unread !== undefined) continue;
      if (work.holds !== undefined || work.pinned.length > 0) continue;
      after -= work.after;
      leaveReference(work, keepsItems ? 'reference' : outcome);
    }
  }
}

export function leaveReference(work: Work, did: 'reference' | 'dropped' = 'reference'): void {
  work.text = '';
  work.after = 0;
  work.did = did;
  work.strategy = 'none';
}

export const total = (works: readonly Work[]): number =>
  works.reduce((sum, { after }) => sum + after, 0);

/** Works that may be shortened: compressible ones, and others that could not go because of a fact. */
export const shrinkable = (works: readonly Work[]): Work[] =>
  works.filter(
    (work) =>
      work.did === 'kept' &&
      work.unread === undefined &&
      work.holds === undefined &&
      work.item.Priority !== 'must_preserve' &&
      (work.item.Priority === 'compressible' || work.pinned.length > 0),
  );
