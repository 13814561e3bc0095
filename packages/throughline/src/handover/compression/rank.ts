import { acronymsIn } from './acronyms.ts';
import { answerShape, expansionsOf } from './expansions.ts';
import { rarity } from './rarity.ts';
import { isTypo, type Terms } from './terms.ts';

/** What the ranking looks at of one unit. */
export interface Rankable {
  readonly text: string;
  readonly tokens: number;
  /** Units of one block stand together in the list; blocks are numbered over all items. */
  readonly block: number;
  /** Description of the item and heading above the unit. */
  readonly title: string;
  /** Which item it is of; the units of one item stand together. */
  readonly item: number;
}

/** Weights, tuned on one half of the benchmark's data and reported on the other. */
const weights = {
  /** Saturation and length normalisation of BM25. */
  k1: 0.5,
  b: 1,
  /** A query term in the title, beside the one in the block. */
  title: 1.15,
  /** How much of the title the query names, beside what it names of it. */
  wholeTitle: 4,
  /** The block's score beside the unit's own. */
  block: 1.15,
  /** First unit of a block, as a share of the block's score. */
  lead: 0.32,
  /** The unit before in the same block. */
  neighbour: 0.25,
  /** How much of the query the unit says together with its title and the unit before it. */
  coverage: 0.3,
  /** What only the unit before says, beside what the unit or its title says. */
  before: 0.4,
  /** The beginning of an item, where it says what it is about; falls off over `openingLength` units. */
  opening: 0.1,
  openingLength: 12,
  /** A date, number or name where the query asks for one. */
  shape: 0.35,
  /** Names and numbers in the query count more. */
  proper: 0.3,
  /** Two neighbouring words of the query that stand together. */
  phrase: 0.35,
  /** Words in which texts answer what the query asks. */
  expansion: 0.6,
  /** Short form of what the query says in full, and the other way round. */
  acronym: 0.5,
  /** A word with the same beginning, or that goes on where the other ends. */
  kin: 0.3,
  /** A word that is not in the texts, but for one letter. */
  typo: 0.6,
  /** What is asked for in general: criteria, name of the subtask. */
  about: 0.1,
  /** How much long units are held back. */
  length: 0.087,
  lengthOffset: 33,
} as const;

/** Letters at the beginning that kin words share at least, and the share of the longer word. */
const kinLetters = 5;
const kinShare = 0.7;

/** Terms by number, in order. */
type Field = readonly number[];

interface Block {
  readonly title: Field;
  readonly units: readonly Field[];
  /** Place of its first unit. */
  readonly first: number;
  /** Terms of all its units. */
  readonly length: number;
}

/** Units with what queries need to know of them. */
export interface Index {
  readonly units: readonly Rankable[];
  readonly terms: Terms;
  readonly numbers: ReadonlyMap<string, number>;
  /** Terms by their first letter. */
  readonly byLetter: ReadonlyMap<string, readonly string[]>;
  readonly fields: readonly Field[];
  readonly blocks: readonly Block[];
  /** Place of each unit's block. */
  readonly blockOf: readonly number[];
  readonly unitIdf: Float64Array;
  readonly blockIdf: Float64Array;
  /** Terms of short forms, each with the terms of its long form. */
  readonly acronyms: readonly (readonly [readonly string[], readonly string[]])[];
  readonly unitLength: number;
  readonly blockLength: number;
}

export function makeIndex(units: readonly Rankable[], terms: Terms): Index {
  const numbers = new Map<string, number>();
  const number = (term: string): number => {
    let id = numbers.get(term);
    if (id === undefined) numbers.set(term, (id = numbers.size));
    return id;
  };
  const fieldOf = (text: string): Field => terms.of(text).map(number);
  const titles = new Map<string, Field>();
  const fields: Field[] = [];
  const blocks: { title: Field; units: Field[]; first: number; length: number }[] = [];
  const blockOf: number[] = [];
  let current: number | undefined;
  for (const [at, unit] of units.entries()) {
    let title = titles.get(unit.title);
    if (title === undefined) titles.set(unit.title, (title = fieldOf(unit.title)));
    if (unit.block !== current) blocks.push({ title, units: [], first: at, length: 0 });
    current = unit.block;
    const field = fieldOf(unit.text);
    fields.push(field);
    blockOf.push(blocks.length - 1);
    const block = blocks.at(-1);
    if (block === undefined) continue;
    block.units.push(field);
    block.length += field.length;
  }
  const sum = fields.reduce((total, { length }) => total + length, 0);
  return {
    units,
    terms,
    numbers,
    byLetter: Map.groupBy(numbers.keys(), (term) => term.charAt(0)),
    fields,
    blocks,
    blockOf,
    unitIdf: idf(
      fields.map((field) => [field]),
      numbers.size,
    ),
    blockIdf: idf(
      blocks.map((block) => [block.title, ...block.units]),
      numbers.size,
    ),
    acronyms: acronymsOf(units, terms),
    unitLength: sum / fields.length || 1,
    blockLength: sum / blocks.length || 1,
  };
}

function acronymsOf(units: readonly Rankable[], terms: Terms): Index['acronyms'] {
  const byShort = new Map<string, string>();
  for (const { text } of units) {
    for (const { short, long } of acronymsIn(text)) byShort.set(short, long);
  }
  return Array.from(byShort, ([short, long]) => [terms.of(short), terms.of(long)] as const);
}

/** Inverse document frequency of each term, as BM25 has it. */
function idf(documents: readonly (readonly Field[])[], size: number): Float64Array {
  const frequency = new Float64Array(size);
  const seenIn = new Int32Array(size).fill(-1);
  for (const [at, document] of documents.entries()) {
    for (const field of document) {
      for (const id of field) {
        if (seenIn[id] === at) continue;
        seenIn[id] = at;
        frequency[id] = (frequency[id] ?? 0) + 1;
      }
    }
  }
  const count = documents.length;
  return frequency.map((n) => Math.log(1 + (count - n + 0.5) / (n + 0.5)));
}

interface Query {
  /** Weight of each term number that counts. */
  readonly weights: ReadonlyMap<number, number>;
  /** 1 for each term number that has a weight: quicker to look at. */
  readonly counts: Uint8Array;
  /** Terms that stand for the same word of the query, of which only the best counts: that word. */
  readonly standsFor: ReadonlyMap<number, string>;
  /** Numbers of the terms that the query itself says. */
  readonly said: ReadonlySet<number>;
  readonly phrases: ReadonlySet<string>;
  readonly shape: RegExp | undefined;
}

function makeQuery(index: Index, text: string, about: string): Query {
  const { numbers, terms } = index;
  const said = terms.of(text);
  const byTerm = new Map(said.map((term) => [term, 1]));
  for (const [found] of text.matchAll(/[\p{L}\p{N}]+/gu)) {
    for (const term of terms.of(found)) if (byTerm.has(term)) byTerm.set(term, rarity(found));
  }
  for (const [, proper = ''] of text.matchAll(/(?:^|\s)["“'(]*(\p{Lu}[\p{L}\p{N}]*|\d+)/gu)) {
    for (const term of terms.of(proper)) {
      const weight = byTerm.get(term);
      if (weight !== undefined) byTerm.set(term, weight + weights.proper);
    }
  }
  const standsFor = new Map(said.map((term) => [term, term]));
  const add = (term: string, weight: number): boolean => {
    const isNew = !byTerm.has(term);
    if (isNew) byTerm.set(term, weight);
    return isNew;
  };
  for (const [term, word] of expansionsOf(text, said)) {
    if (add(term, weights.expansion)) standsFor.set(term, word);
  }
  for (const [term, weight] of likeTerms(index, said)) add(term, weight);
  for (const term of terms.of(about)) add(term, weights.about);
  const known = <Of>(of: ReadonlyMap<string, Of>): Map<number, Of> =>
    new Map(
      [...of].flatMap(([term, value]): [number, Of][] => {
        const id = numbers.get(term);
        return id === undefined ? [] : [[id, value]];
      }),
    );
  const saidIds = said.map((term) => numbers.get(term));
  const byNumber = known(byTerm);
  const counts = new Uint8Array(numbers.size);
  for (const id of byNumber.keys()) counts[id] = 1;
  return {
    weights: byNumber,
    counts,
    standsFor: known(standsFor),
    said: new Set(saidIds.filter((id) => id !== undefined)),
    phrases: new Set(saidIds.slice(1).map((id, at) => `${saidIds[at] ?? '?'} ${id ?? '?'}`)),
    shape: answerShape(text),
  };
}

/** Terms of the texts that stand for those of the query: misspelt, of the same kin, short or long forms. */
function* likeTerms(index: Index, said: readonly string[]): Generator<[string, number]> {
  const worded = [...new Set(said)].filter((term) => term.length >= kinLetters && !/\d/.test(term));
  for (const term of worded) {
    for (const known of index.byLetter.get(term.charAt(0)) ?? []) {
      if (!index.numbers.has(term) && isTypo(known, term)) yield [known, weights.typo];
      else if (isKin(known, term)) yield [known, weights.kin];
    }
  }
  const all = new Set(said);
  for (const [short, long] of index.acronyms) {
    if (long.length > 0 && long.every((term) => all.has(term))) {
      for (const term of short) yield [term, weights.acronym];
    } else if (short.length > 0 && short.every((term) => all.has(term))) {
      for (const term of long) yield [term, weights.acronym / long.length];
    }
  }
}

function isKin(a: string, b: string): boolean {
  if (!a.startsWith(b.slice(0, kinLetters))) return false;
  let shared = kinLetters;
  while (shared < a.length && a[shared] === b[shared]) shared += 1;
  return (
    shared === Math.min(a.length, b.length) || shared >= kinShare * Math.max(a.length, b.length)
  );
}

/** How often each term of the query is in a field. */
type Found = ReadonlyMap<number, number>;

const nothing: Found = new Map();

function foundIn(field: Field, query: Query): Found {
  const found = new Map<number, number>();
  for (const id of field) {
    if (query.counts[id] === 1) found.set(id, (found.get(id) ?? 0) + 1);
  }
  return found;
}

/** What is found in all units of each block. */
function foundInBlocks({ blocks, blockOf }: Index, inUnits: readonly Found[]): Found[] {
  const all = blocks.map(() => new Map<number, number>());
  for (const [at, found] of inUnits.entries()) {
    const block = all[blockOf[at] ?? 0];
    for (const [id, n] of found) block?.set(id, (block.get(id) ?? 0) + n);
  }
  return all;
}

/** BM25 of one field; of terms that stand for the same word, the best counts. */
function bm25(
  found: Found,
  length: number,
  query: Query,
  inverse: Float64Array,
  meanLength: number,
): number {
  const norm = weights.k1 * (1 - weights.b + (weights.b * length) / meanLength);
  const best = new Map<string, number>();
  let score = 0;
  for (const [id, n] of found) {
    const weight = query.weights.get(id) ?? 0;
    const gain = (weight * (inverse[id] ?? 0) * n * (weights.k1 + 1)) / (n + norm);
    const word = query.standsFor.get(id);
    const had = word === undefined ? 0 : (best.get(word) ?? 0);
    if (gain <= had) continue;
    score += gain - had;
    if (word !== undefined) best.set(word, gain);
  }
  return score;
}

function phraseScore(field: Field, found: Found, query: Query, inverse: Float64Array): number {
  if (query.phrases.size === 0 || found.size < 2) return 0;
  const met = new Set<string>();
  let score = 0;
  for (let at = 1; at < field.length; at++) {
    const [left, right] = [field[at - 1] ?? -1, field[at] ?? -1];
    if (query.counts[left] !== 1 || query.counts[right] !== 1) continue;
    const phrase = `${left} ${right}`;
    if (!query.phrases.has(phrase) || met.has(phrase)) continue;
    met.add(phrase);
    score += (weights.phrase * ((inverse[left] ?? 0) + (inverse[right] ?? 0))) / 2;
  }
  return score;
}

function blockScore(index: Index, block: Block, found: Found, query: Query): number {
  const { blockIdf, blockLength } = index;
  let score = bm25(found, block.length, query, blockIdf, blockLength);
  let [all, named] = [0, 0];
  for (const id of new Set(block.title)) {
    const inverse = blockIdf[id] ?? 0;
    score += weights.title * (query.weights.get(id) ?? 0) * inverse;
    all += inverse;
    if (query.said.has(id)) named += inverse;
  }
  if (named > 0) score += (weights.wholeTitle * named * named) / all;
  return score;
}

/** Sums what the query says and the unit, its title or the unit before it says too. */
function coverage(
  own: Found,
  title: Found,
  before: Found,
  { weights: asked }: Query,
  inverse: Float64Array,
): number {
  let sum = 0;
  for (const [id, weight] of asked) {
    const isSaid = own.has(id) || title.has(id);
    const share = isSaid ? 1 : before.has(id) ? weights.before : 0;
    sum += share * weight * (inverse[id] ?? 0);
  }
  return sum;
}

const most = (of: readonly number[]): number => of.reduce((a, b) => Math.max(a, b), 0) || 1;

/**
 * How likely each unit is to hold what the query asks for: BM25 of the unit and of its block, raised
 * by its title, its neighbour, names, phrases and the shape of an answer. Only the order means
 * something; without a word that counts, units come as they stand, the beginnings of blocks first.
 */
export function scores(index: Index, text: string, about = ''): Float64Array {
  const query = makeQuery(index, text, about);
  const { unitIdf, unitLength, blockOf } = index;
  const found = index.fields.map((field) => foundIn(field, query));
  const titles = index.blocks.map(({ title }) => foundIn(title, query));
  const own = index.fields.map((field, at) => {
    const its = found[at] ?? nothing;
    const score = bm25(its, field.length, query, unitIdf, unitLength);
    return score + phraseScore(field, its, query, unitIdf);
  });
  const inBlocks = foundInBlocks(index, found);
  const blocks = index.blocks.map((block, at) =>
    blockScore(index, block, inBlocks[at] ?? nothing, query),
  );
  const [mostOwn, mostBlock] = [most(own), most(blocks)];
  const saidSum =
    [...query.said].reduce(
      (sum, id) => sum + (query.weights.get(id) ?? 0) * (unitIdf[id] ?? 0),
      0,
    ) || 1;
  let begins = 0;
  return Float64Array.from(index.units, (unit, at) => {
    if (unit.item !== index.units[at - 1]?.item) begins = at;
    const place = blockOf[at] ?? 0;
    const isFirst = index.blocks[place]?.first === at;
    if (query.weights.size === 0) return isFirst ? 1 : 0;
    const block = (blocks[place] ?? 0) / mostBlock;
    const before = isFirst ? nothing : (found[at - 1] ?? nothing);
    const covered = coverage(
      found[at] ?? nothing,
      titles[place] ?? nothing,
      before,
      query,
      unitIdf,
    );
    const score =
      (own[at] ?? 0) / mostOwn +
      weights.block * block +
      (isFirst ? weights.lead * block : (weights.neighbour * (own[at - 1] ?? 0)) / mostOwn) +
      (weights.coverage * covered) / saidSum +
      weights.opening * Math.exp((begins - at) / weights.openingLength);
    const shaped = query.shape?.test(unit.text) === true ? score * (1 + weights.shape) : score;
    return shaped / (unit.tokens + weights.lengthOffset) ** weights.length;
  });
}
