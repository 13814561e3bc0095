import { acronymsIn } from './acronyms.ts';
import { answerShape, expansionsOf } from './expansions.ts';
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
  title: 1.5,
  /** The query names the whole title. */
  wholeTitle: 3,
  /** The block's score beside the unit's own. */
  block: 1.15,
  /** First unit of a block, as a share of the block's score. */
  lead: 0.32,
  /** The unit before in the same block. */
  neighbour: 0.25,
  /** The beginning of an item, where it says what it is about; falls off over `openingLength` units. */
  opening: 0.1,
  openingLength: 12,
  /** A date, number or name where the query asks for one. */
  shape: 0.46,
  /** Names and numbers in the query count more. */
  proper: 0.5,
  /** Two neighbouring words of the query that stand together. */
  phrase: 0.35,
  /** Words in which texts answer what the query asks. */
  expansion: 0.5,
  /** Short form of what the query says in full, and the other way round. */
  acronym: 0.5,
  /** A word with the same beginning. */
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

interface Field {
  /** Terms by number, in order. */
  readonly ids: readonly number[];
}

interface Block extends Field {
  readonly title: readonly number[];
  readonly first: number;
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
  const idsOf = (text: string): number[] => terms.of(text).map(number);
  const titles = new Map<string, number[]>();
  const fields: Field[] = [];
  const blocks: { ids: number[]; title: number[]; first: number }[] = [];
  const blockOf: number[] = [];
  let current: number | undefined;
  for (const [at, unit] of units.entries()) {
    let title = titles.get(unit.title);
    if (title === undefined) titles.set(unit.title, (title = idsOf(unit.title)));
    if (unit.block !== current) blocks.push({ ids: [], title, first: at });
    current = unit.block;
    const ids = idsOf(unit.text);
    fields.push({ ids });
    const block = blocks.at(-1);
    for (const id of ids) block?.ids.push(id);
    blockOf.push(blocks.length - 1);
  }
  const mean = (of: readonly Field[]): number =>
    of.reduce((sum, { ids }) => sum + ids.length, 0) / Math.max(1, of.length) || 1;
  return {
    units,
    terms,
    numbers,
    byLetter: Map.groupBy(numbers.keys(), (term) => term.charAt(0)),
    fields,
    blocks,
    blockOf,
    unitIdf: idf(
      fields.map(({ ids }) => ids),
      numbers.size,
    ),
    blockIdf: idf(
      blocks.map(({ ids, title }) => [...title, ...ids]),
      numbers.size,
    ),
    acronyms: acronymsOf(units, terms),
    unitLength: mean(fields),
    blockLength: mean(blocks),
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
function idf(documents: readonly (readonly number[])[], size: number): Float64Array {
  const frequency = new Float64Array(size);
  const seenIn = new Int32Array(size).fill(-1);
  for (const [at, ids] of documents.entries()) {
    for (const id of ids) {
      if (seenIn[id] === at) continue;
      seenIn[id] = at;
      frequency[id] = (frequency[id] ?? 0) + 1;
    }
  }
  const count = documents.length;
  return frequency.map((n) => Math.log(1 + (count - n + 0.5) / (n + 0.5)));
}

interface Query {
  /** Weight of each term number that counts. */
  readonly weights: ReadonlyMap<number, number>;
  /** Numbers of the terms that the query itself says. */
  readonly said: ReadonlySet<number>;
  readonly phrases: ReadonlySet<string>;
  readonly shape: RegExp | undefined;
}

function makeQuery(index: Index, text: string, about: string): Query {
  const { numbers, terms } = index;
  const said = terms.of(text);
  const byTerm = new Map(said.map((term) => [term, 1]));
  for (const [, proper = ''] of text.matchAll(/(?:^|\s)["“'(]*(\p{Lu}[\p{L}\p{N}]*|\d+)/gu)) {
    for (const term of terms.of(proper)) {
      if (byTerm.has(term)) byTerm.set(term, 1 + weights.proper);
    }
  }
  const add = (term: string, weight: number): void => {
    if (!byTerm.has(term)) byTerm.set(term, weight);
  };
  for (const term of expansionsOf(text, said)) add(term, weights.expansion);
  for (const [term, weight] of likeTerms(index, said)) add(term, weight);
  for (const term of terms.of(about)) add(term, weights.about);
  const known = [...byTerm].flatMap(([term, weight]): [number, number][] => {
    const id = numbers.get(term);
    return id === undefined ? [] : [[id, weight]];
  });
  const saidIds = said.map((term) => numbers.get(term));
  return {
    weights: new Map(known),
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
  return shared >= kinShare * Math.max(a.length, b.length);
}

/** BM25 of one field. */
function bm25({ ids }: Field, query: Query, inverse: Float64Array, meanLength: number): number {
  const found = new Map<number, number>();
  for (const id of ids) {
    if (query.weights.has(id)) found.set(id, (found.get(id) ?? 0) + 1);
  }
  const norm = weights.k1 * (1 - weights.b + (weights.b * ids.length) / meanLength);
  let score = 0;
  for (const [id, n] of found) {
    const weight = query.weights.get(id) ?? 0;
    score += (weight * (inverse[id] ?? 0) * n * (weights.k1 + 1)) / (n + norm);
  }
  return score;
}

function phraseScore({ ids }: Field, query: Query, inverse: Float64Array): number {
  if (query.phrases.size === 0) return 0;
  const found = new Set<string>();
  let score = 0;
  for (let at = 1; at < ids.length; at++) {
    const [left, right] = [ids[at - 1] ?? -1, ids[at] ?? -1];
    if (!query.said.has(left) || !query.said.has(right)) continue;
    const phrase = `${left} ${right}`;
    if (!query.phrases.has(phrase) || found.has(phrase)) continue;
    found.add(phrase);
    score += (weights.phrase * ((inverse[left] ?? 0) + (inverse[right] ?? 0))) / 2;
  }
  return score;
}

function blockScore(index: Index, block: Block, query: Query): number {
  let score = bm25(block, query, index.blockIdf, index.blockLength);
  const title = new Set(block.title);
  for (const id of title) {
    const weight = query.weights.get(id) ?? 0;
    score += weights.title * weight * (index.blockIdf[id] ?? 0);
  }
  if (title.size > 0 && [...title].every((id) => query.said.has(id))) {
    const sum = [...title].reduce((total, id) => total + (index.blockIdf[id] ?? 0), 0);
    score += weights.wholeTitle * sum;
  }
  return score;
}

const most = (of: readonly number[]): number => of.reduce((a, b) => Math.max(a, b), 0) || 1;

/**
 * How likely each unit is to hold what the query asks for: BM25 of the unit and of its block, raised
 * by its title, its neighbour, names, phrases and the shape of an answer. Only the order means
 * something; without a word that counts, units come as they stand, the beginnings of blocks first.
 */
export function scores(index: Index, text: string, about = ''): Float64Array {
  const query = makeQuery(index, text, about);
  const own = index.fields.map(
    (field) =>
      bm25(field, query, index.unitIdf, index.unitLength) +
      phraseScore(field, query, index.unitIdf),
  );
  const blocks = index.blocks.map((block) => blockScore(index, block, query));
  const [mostOwn, mostBlock] = [most(own), most(blocks)];
  let begins = 0;
  return Float64Array.from(index.units, (unit, at) => {
    if (unit.item !== index.units[at - 1]?.item) begins = at;
    if (query.weights.size === 0) return index.blocks[index.blockOf[at] ?? 0]?.first === at ? 1 : 0;
    const place = index.blockOf[at] ?? 0;
    const isFirst = index.blocks[place]?.first === at;
    const block = (blocks[place] ?? 0) / mostBlock;
    const score =
      (own[at] ?? 0) / mostOwn +
      weights.block * block +
      (isFirst ? weights.lead * block : (weights.neighbour * (own[at - 1] ?? 0)) / mostOwn) +
      weights.opening * Math.exp((begins - at) / weights.openingLength);
    const shaped = query.shape?.test(unit.text) === true ? score * (1 + weights.shape) : score;
    return shaped / (unit.tokens + weights.lengthOffset) ** weights.length;
  });
}
