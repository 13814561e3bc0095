import type { Unit } from './units.ts';

/** A unit among those of all items. */
export interface Choosable extends Pick<Unit, 'tokens' | 'along' | 'frame'> {
  /** Which item it is of; the units of one item stand together. */
  readonly item: number;
  /** Tokens of the mark of one gap in that item. */
  readonly mark: number;
}

/**
 * Fills a budget of tokens with units, the marks of gaps included. Queries take turns: whichever has
 * spent least takes its best unit that still fits, so none starves the others. What must stay is taken
 * first, fit or not.
 *
 * @param rankings For each query, the places of all units, the best first.
 * @returns Places of what is kept.
 */
export function choose(
  units: readonly Choosable[],
  rankings: readonly (readonly number[])[],
  budget: number,
  must: readonly number[],
): ReadonlySet<number> {
  const selection = makeSelection(units);
  for (const at of must) selection.add(at, Number.POSITIVE_INFINITY);
  const open = new Set(rankings.map((ranking) => ({ next: ranking.values(), spent: 0 })));
  while (open.size > 0) {
    const turn = [...open].reduce((least, each) => (each.spent < least.spent ? each : least));
    const { value: place, done } = turn.next.next();
    if (done === true || selection.tokens() >= budget) open.delete(turn);
    else if (units[place]?.frame !== true) turn.spent += selection.add(place, budget);
  }
  return selection.kept;
}

interface Selection {
  readonly kept: ReadonlySet<number>;
  tokens(): number;
  /** Adds a unit and all that comes along, if it fits; tells what that cost. */
  add(place: number, budget: number): number;
}

function makeSelection(units: readonly Choosable[]): Selection {
  const kept = new Set<number>();
  const keptOf = new Map<number, number>();
  /** Places that were too much together with what comes along: a large group is looked at once. */
  const tooMuch = new Set<number>();
  let tokens = 0;
  const isGap = (item: number, at: number): boolean => units[at]?.item === item && !kept.has(at);
  /** Cost of one more unit: its own tokens, and a gap less or more beside it. */
  const keep = (at: number): number => {
    const unit = units[at];
    if (unit === undefined) return 0;
    const others = keptOf.get(unit.item) ?? 0;
    const beside = Number(isGap(unit.item, at - 1)) + Number(isGap(unit.item, at + 1));
    kept.add(at);
    keptOf.set(unit.item, others + 1);
    return unit.tokens + unit.mark * (others === 0 ? beside : beside - 1);
  };
  const letGo = (at: number): void => {
    const item = units[at]?.item ?? -1;
    kept.delete(at);
    keptOf.set(item, (keptOf.get(item) ?? 1) - 1);
  };
  return {
    kept,
    tokens: () => tokens,
    add: (place, budget) => {
      const unit = units[place];
      if (unit === undefined || tooMuch.has(place)) return 0;
      if (tokens + unit.tokens - unit.mark > budget) return 0;
      const missing = closure(units, place, kept);
      const cost = missing.reduce((sum, at) => sum + keep(at), 0);
      if (tokens + cost <= budget) {
        tokens += cost;
        return cost;
      }
      for (const at of missing) letGo(at);
      for (const at of circle(units, place)) tooMuch.add(at);
      return 0;
    },
  };
}

/** The unit and all that comes along with it, over any number of steps, as far as not yet kept. */
function closure(units: readonly Choosable[], place: number, kept: ReadonlySet<number>): number[] {
  const found = new Set<number>();
  const stack = [place];
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    if (found.has(at) || kept.has(at)) continue;
    found.add(at);
    stack.push(...(units[at]?.along ?? []));
  }
  return [...found];
}

/** All that a unit comes along with and that come along with it: it alone, or the pieces of one call. */
function circle(units: readonly Choosable[], place: number): readonly number[] {
  const found = [place];
  for (;;) {
    const next = units[found.at(-1) ?? place]?.along.find((at) => units[at]?.frame !== true);
    if (next === place) return found;
    if (next === undefined || found.length > units.length) return [place];
    found.push(next);
  }
}
