import { choose, type Choosable } from './choose.ts';
import type { Counter } from './counter.ts';
import { makeIndex, scores } from './rank.ts';
import { cutCsv, cutJson, cutJsonLines, minifyJson, wholeUnit } from './structured.ts';
import { makeTerms } from './terms.ts';
import { withGaps, type Cut, type Unit } from './units.ts';
import { leaveReference, total, type Work } from './work.ts';

interface Span {
  readonly work: Work;
  readonly cut: Cut;
  /** Place of its first unit among those of all works. */
  readonly from: number;
  /** How the work stands when nothing is left out. */
  readonly full: Pick<Work, 'text' | 'after' | 'did' | 'strategy' | 'mediaType'>;
}

/** The most of a text's budget that its outline may take. */
const outlineShare = 0.75;

/** Rounds in which the budget given out is brought down to what the texts really take. */
const rounds = 6;

/**
 * Keeps of all works together what ranks best for the queries, until the budget is full. Nothing is
 * cut inside a unit, order stays, gaps are marked.
 */
export function extract(
  works: readonly Work[],
  budget: number,
  queries: readonly string[],
  about: string,
  counter: Counter,
): void {
  const { spans, units, must } = layOut(works, counter, budget);
  const index = makeIndex(units, makeTerms());
  const rankings = (queries.length > 0 ? queries : ['']).map((query) =>
    ranking(scores(index, query, queries.length > 0 ? about : '')),
  );
  let limit = budget;
  for (let round = 0; round < rounds; round++) {
    const kept = choose(units, rankings, limit, must);
    for (const span of spans) settle(span, kept, counter);
    const over = total(works) - budget;
    if (over <= 0 || limit <= 0) return;
    limit -= over * 2 ** round;
  }
}

interface LaidOut {
  readonly spans: readonly Span[];
  readonly units: readonly (Unit & Choosable)[];
  /** Places of units that hold a pinned fact, or are an outline that fits. */
  readonly must: readonly number[];
}

/** The units of all works in one row. */
function layOut(works: readonly Work[], counter: Counter, budget: number): LaidOut {
  const spans: Span[] = [];
  const units: (Unit & Choosable)[] = [];
  const must: number[] = [];
  let blocks = 0;
  const all = total(works);
  for (const [item, work] of works.entries()) {
    const cut = cutOf(work, counter);
    const from = units.length;
    const mark = counter.count(cut.mark);
    const { text, after, did, strategy, mediaType } = work;
    const full = { text, after, did, strategy, ...(mediaType !== undefined && { mediaType }) };
    spans.push({ work, cut, from, full });
    for (const unit of cut.units) {
      units.push({
        ...unit,
        item,
        mark,
        block: blocks + unit.block,
        title: `${work.item.Description} ${unit.title}`,
        along: unit.along.map((at) => at + from),
      });
    }
    for (const at of unitsWith(cut, work.pinned)) must.push(at + from);
    for (const at of outlineWithin(cut, (outlineShare * budget * work.after) / all))
      must.push(at + from);
    blocks += (cut.units.at(-1)?.block ?? 0) + 1;
  }
  return { spans, units, must };
}

/** The outline of a text, where it takes no more than so many tokens. */
function outlineWithin({ outline = [], units }: Cut, most: number): readonly number[] {
  const frames = outline.flatMap((at) => units[at]?.along ?? []);
  const tokens = [...new Set([...outline, ...frames])].reduce(
    (sum, at) => sum + (units[at]?.tokens ?? 0),
    0,
  );
  return tokens <= most ? outline : [];
}

function ranking(of: Float64Array): number[] {
  return Array.from(of.keys()).toSorted((a, b) => (of[b] ?? 0) - (of[a] ?? 0) || a - b);
}

function cutOf(work: Work, { count }: Counter): Cut {
  const { found, cut, source, asCsv } = work;
  if (cut !== undefined) return cut;
  if (found.kind === 'json') {
    return asCsv === undefined
      ? cutJson(minifyJson(source), count)
      : { ...cutCsv(asCsv, count), mediaType: 'text/csv' };
  }
  if (found.kind === 'csv') return cutCsv(source, count);
  if (found.kind === 'json-lines') return cutJsonLines(source, count);
  return wholeUnit(source, count);
}

/** Writes down what is kept of one work. */
function settle(
  { work, cut, from, full }: Span,
  kept: ReadonlySet<number>,
  counter: Counter,
): void {
  const places = placesIn(cut, from, kept);
  const frames = cut.units.filter(({ frame }) => frame === true).length;
  delete work.leftOut;
  delete work.mediaType;
  if (places.length === cut.units.length) {
    Object.assign(work, full);
    return;
  }
  const leftOut = {
    units: cut.units.length - frames - places.filter((at) => cut.units[at]?.frame !== true).length,
    of: cut.units.length - frames,
    gaps: withGaps(places, cut.units.length).filter((at) => at === undefined).length,
  };
  if (places.length === 0) {
    leaveReference(work);
    Object.assign(work, { leftOut });
    return;
  }
  const pieces = cut.join(places);
  const text = pieces.join('');
  if (!work.pinned.every((fact) => text.includes(fact))) {
    Object.assign(work, { text: work.source, after: work.before, did: 'kept', strategy: 'none' });
    return;
  }
  Object.assign(work, {
    text,
    after: counter.countJoined(pieces),
    did: 'extracted',
    strategy: cut.strategy ?? 'bm25',
    leftOut,
    ...(cut.mediaType !== undefined && { mediaType: cut.mediaType }),
  });
}

/** Units that hold a fact, or a part of it where it reaches over several. */
function unitsWith(cut: Cut, facts: readonly string[]): number[] {
  if (facts.length === 0) return [];
  const text = cut.units.map((unit) => unit.text).join('');
  const ranges = facts.flatMap((fact) => {
    const from = text.indexOf(fact);
    return from === -1 ? [] : [[from, from + fact.length] as const];
  });
  let at = 0;
  return cut.units.flatMap((unit, place) => {
    const from = at;
    at += unit.text.length;
    return ranges.some(([start, end]) => start < at && end > from) ? [place] : [];
  });
}

const placesIn = (cut: Cut, from: number, kept: ReadonlySet<number>): number[] =>
  [...cut.units.keys()].filter((at) => kept.has(from + at));
