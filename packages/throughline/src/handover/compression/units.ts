/** The smallest piece that is kept or left out as a whole. */
export interface Unit {
  /** Joined in order, the texts of all units are the text. */
  readonly text: string;
  readonly tokens: number;
  /** Which block (paragraph, table, list) of the text it belongs to, counted from 0. */
  readonly block: number;
  /** Title above it: the nearest heading. */
  readonly title: string;
  /** Places of units that come along when this one is kept: a table's header, a call's result. */
  readonly along: readonly number[];
  /** Comes only along with others. */
  readonly frame?: boolean;
}

/** A text cut into units. */
export interface Cut {
  readonly units: readonly Unit[];
  /** Form of the text where it is no longer the item's MediaType. */
  readonly mediaType?: string;
  /** How the units are chosen, for the report. Default: `bm25`. */
  readonly strategy?: string;
  /** Places of units that stand for the whole: kept first where they leave room for more. */
  readonly outline?: readonly number[];
  /** What stands for a gap, with what sets it off. */
  readonly mark: string;
  /** Pieces that, joined, are the kept units in order, each gap marked. */
  readonly join: (kept: readonly number[]) => readonly string[];
}

/** Stands where something was left out: one token of its own in o200k_base. */
export const gapMark = '[…]';

/** Places that are kept, counted from `from`, with undefined where something between them is left out. */
export function withGaps(
  kept: readonly number[],
  count: number,
  from = 0,
): readonly (number | undefined)[] {
  let next = from;
  const places = kept.flatMap((at) => {
    if (at < from) return [];
    const isGap = at > next;
    next = at + 1;
    return isGap ? [undefined, at] : [at];
  });
  return next < count ? [...places, undefined] : places;
}
