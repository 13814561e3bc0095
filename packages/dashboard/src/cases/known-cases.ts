import type { CaseSummary } from 'throughline/model';

/** What the page knows of the list: the latest ones, as far down as it has asked. */
export interface KnownCases {
  /** Latest change first. */
  readonly cases: readonly CaseSummary[];
  /** Where older ones begin; absent when all are known. */
  readonly cursor?: string;
}

export interface CasePage {
  readonly cases: readonly CaseSummary[];
  readonly cursor?: string;
}

/** Older cases, put below. */
export function withOlder(known: KnownCases, page: CasePage): KnownCases {
  const seen = new Set(known.cases.map(({ activity }) => activity));
  const cases = [...known.cases, ...page.cases.filter(({ activity }) => !seen.has(activity))];
  return page.cursor === undefined ? { cases } : { cases, cursor: page.cursor };
}

/**
 * The list after its newest part was read again. A case that should be in that part and is not has
 * gone; one that is further down stays as it was known.
 */
export function withNewest(known: KnownCases, page: CasePage): KnownCases {
  const oldest = page.cases.at(-1)?.updatedAt;
  if (page.cursor === undefined || oldest === undefined) return { cases: page.cases };
  const fresh = new Set(page.cases.map(({ activity }) => activity));
  const end = Date.parse(oldest);
  const below = known.cases.filter(
    (each) => !fresh.has(each.activity) && Date.parse(each.updatedAt) <= end,
  );
  const cases = [...page.cases, ...below];
  const cursor = below.length === 0 ? page.cursor : known.cursor;
  return cursor === undefined ? { cases } : { cases, cursor };
}

/** Whether the newest part reaches down to something known and unchanged, so that no gap is left. */
export function reaches(known: KnownCases, page: CasePage): boolean {
  if (page.cursor === undefined || known.cases.length === 0) return true;
  const before = new Map(known.cases.map((each) => [each.activity, each.updatedAt]));
  const last = page.cases.at(-1);
  return last !== undefined && before.get(last.activity) === last.updatedAt;
}
