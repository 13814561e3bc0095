/** What the examples' agents do with texts where no model does it: rank sentences by their words. */
import MiniSearch from 'minisearch';

/** A sentence of a paragraph, with what it is about. */
export interface Passage {
  readonly contextId: string;
  readonly title: string;
  readonly quote: string;
}

const common = new Set(
  'a an the of in on at to for and or is are was were be been did does do has have had it its by with from as that this which who whom whose what when where why how many much #1 #2 #3'.split(
    ' ',
  ),
);

const termsOf = (text: string): string[] =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .split(/[^\p{L}\p{N}#]+/u)
    .filter((term) => term !== '' && !common.has(term));

/** The passages that say most of what is asked, the best first. */
export function best<Of extends Passage>(
  question: string,
  passages: readonly Of[],
  most: number,
): Of[] {
  const index = new MiniSearch<Passage & { id: number }>({
    fields: ['title', 'quote'],
    tokenize: termsOf,
    processTerm: (term) => term.replace(/(?:ing|ed|es|s|d)$/, ''),
  });
  index.addAll(passages.map((passage, id) => ({ ...passage, id })));
  return index
    .search(question, { prefix: (term) => term.length > 4, boost: { title: 1.5 } })
    .slice(0, most)
    .flatMap(({ id }) => passages[Number(id)] ?? []);
}

/** Names in a passage that were not asked with: what the next question may mean by its placeholder. */
export function newNames(passage: Passage, asked: string): string {
  const known = new Set(termsOf(asked));
  const names =
    passage.quote.match(/\p{Lu}[\p{L}\p{N}.'-]*(?: (?:of |the )?\p{Lu}[\p{L}\p{N}.'-]*)*/gu) ?? [];
  return names.filter((name) => termsOf(name).some((term) => !known.has(term))).join(' ');
}
