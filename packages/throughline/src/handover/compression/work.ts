import { ThroughlineError } from '../../errors.ts';
import {
  compressionPolicySchema,
  type CompressionPolicy,
  type ContextItem,
} from '../../model/agent-context.ts';
import { isText } from '../media.ts';
import { cutCode } from './code.ts';
import type { Counter } from './counter.ts';
import { isValidJson, kindOfText, looksBinary, type KindFound } from './kinds.ts';
import { isOfContext, isOfItems, valuesAt } from './preserve.ts';
import { cutProse } from './prose.ts';
import type { CompressOptions, FetchedItem, ItemReport, Outcome } from './report.ts';
import { csvColumns } from './structured.ts';
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
  /** Paths of fields that the policy preserves and that stand in it: then it stays as it is. */
  readonly holds: readonly string[];
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
  leftOut?: ItemReport['leftOut'];
}

/** What a policy may name, by its field. */
const named = {
  Strategy: ['target_ratio'],
  LossTolerance: compressionPolicySchema.shape.LossTolerance.options,
} as const satisfies Partial<Record<keyof CompressionPolicy, readonly string[]>>;

/**
 * @throws ThroughlineError `unsupported` for a Strategy or LossTolerance that is not known, `invalid` for a
 *   TargetRatio out of range or MustPreserveFields that are no list of paths.
 */
export function checkPolicy(policy: CompressionPolicy): void {
  for (const field of ['Strategy', 'LossTolerance'] as const) {
    const known: readonly string[] = named[field];
    if (known.includes(policy[field])) continue;
    throw new ThroughlineError(
      'unsupported',
      `CompressionPolicy.${field} “${policy[field]}” is not known; use ${known.join(' or ')}.`,
      { details: { path: `CompressionPolicy.${field}`, value: policy[field] } },
    );
  }
  const { success, error } = compressionPolicySchema.safeParse(policy);
  if (success) return;
  const path = error.issues[0]?.path[0] === 'TargetRatio' ? 'TargetRatio' : 'MustPreserveFields';
  throw new ThroughlineError(
    'invalid',
    path === 'TargetRatio'
      ? `CompressionPolicy.TargetRatio is ${String(policy.TargetRatio)}; it is a number, tokens after ÷ before: above 0 and up to 1, where 1 lets everything stay.`
      : 'CompressionPolicy.MustPreserveFields is no list of paths, such as ["ContextItems[].Description"].',
    { details: { path: `CompressionPolicy.${path}` } },
  );
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
    const nothing = { pinned: [], holds: [], text: '', after: 0, strategy: 'none' };
    return { ...base, ...nothing, did: 'reference', ...(unread !== undefined && { unread }) };
  }
  const { text, note } = fetched;
  const notes = note === undefined ? [] : [note];
  const isReducible = policy !== undefined && policy.TargetRatio < 1;
  const found = policy === undefined ? base.found : kindOfText(item, text);
  const pinned = (options.pinned ?? []).filter((fact) => fact !== '' && text.includes(fact));
  const mayBeCut = item.Priority === 'compressible' || pinned.length > 0;
  const isLossy = isReducible && policy.LossTolerance !== 'none';
  const cut = isLossy && mayBeCut ? cutAsItStands(found, fetched, options, counter) : undefined;
  const before = cut?.tokens ?? counter.count(text);
  return {
    ...base,
    notes,
    source: text,
    before,
    found: cut === undefined ? found : { kind: found.kind },
    pinned,
    holds: fieldsIn(found.kind, text, policy),
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

/** The fields of the contents' own that the policy preserves and this text has. */
function fieldsIn(
  kind: KindFound['kind'],
  text: string,
  policy: CompressionPolicy | undefined,
): readonly string[] {
  const paths = (policy?.MustPreserveFields ?? []).filter((path) => !isOfContext(path));
  if (paths.length === 0) return [];
  if (kind === 'csv') {
    const columns = new Set(csvColumns(text));
    return paths.filter((path) => columns.has(path));
  }
  const values = kind === 'json' ? [text] : kind === 'json-lines' ? text.split('\n') : [];
  const parsed = values.filter(isValidJson).map((json): unknown => JSON.parse(json));
  return paths.filter((path) => parsed.some((value) => valuesAt(value, path).length > 0));
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
      if (work.holds.length > 0 || work.pinned.length > 0) continue;
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
      work.holds.length === 0 &&
      work.item.Priority !== 'must_preserve' &&
      (work.item.Priority === 'compressible' || work.pinned.length > 0),
  );
