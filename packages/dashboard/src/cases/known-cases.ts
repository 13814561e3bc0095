import type { CaseSummary } from 'throughline/model';

/** What the page knows of the list: the latest ones, as far down as it has asked. */
export interface KnownCases {
  /** Latest change first. */
  readonly cases: readonly CaseSummary[];
  /** Where older ones begin; absent when all are known. */
  readonly cursor?: string;
  /** Those in which something is stuck, of all that there are. */
  readonly stuck?: Stuck;
}

export interface Stuck {
  readonly cases: readonly CaseSummary[];
  /** There are more than were asked for. */
  readonly isCut: boolean;
}

/** Every case that is known, each once. */
export const allOf = ({ cases, stuck }: KnownCases): CaseSummary[] => [
  ...new Map([...cases, ...(stuck?.cases ?? [])].map((each) => [each.activity, each])).values(),
];

export interface CasePage {
  readonly cases: readonly CaseSummary[];
  readonly cursor?: string;
}

/** Older cases, put below. */
export function withOlder(known: KnownCases, page: CasePage): KnownCases {
  const seen = new Set(known.cases.map(({ activity }) => activity));
  const cases = [...known.cases, ...page.cases.filter(({ activity }) => !seen.has(activity))];
  return { ...stuckOf(known), cases, ...(page.cursor !== undefined && { cursor: page.cursor }) };
}

/**
 * The list after its newest part was read again. A case that should be in that part and is not has
 * gone; one that is further down stays as it was known.
 */
export function withNewest(known: KnownCases, page: CasePage): KnownCases {
  const oldest = page.cases.at(-1)?.updatedAt;
  const stuck = stuckOf(known);
  if (page.cursor === undefined || oldest === undefined) return { ...stuck, cases: page.cases };
  const fresh = new Set(page.cases.map(({ activity }) => activity));
  const end = Date.parse(oldest);
  const below = known.cases.filter(
    (each) => !fresh.has(each.activity) && Date.parse(each.updatedAt) <= end,
  );
  const cases = [...page.cases, ...below];
  const cursor = below.length === 0 ? page.cursor : known.cursor;
  return { ...stuck, cases, ...(cursor !== undefined && { cursor }) };
}

const stuckOf = ({ stuck }: KnownCases): Pick<KnownCases, 'stuck'> =>
  stuck === undefined ? {} : { stuck };

/** Whether the newest part reaches down to something known and unchanged, so that no gap is left. */
export function reaches(known: KnownCases, page: CasePage): boolean {
  if (page.cursor === undefined || known.cases.length === 0) return true;
  const before = new Map(known.cases.map((each) => [each.activity, each.updatedAt]));
  const last = page.cases.at(-1);
  return last !== undefined && before.get(last.activity) === last.updatedAt;
}
