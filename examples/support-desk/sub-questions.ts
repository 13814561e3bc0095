/** From an opening message and what the customer holds to the questions worth looking up. */
import { z } from 'zod';
import type { Holdings } from './bank.ts';
import type { Ask } from './intent.ts';
import { intents } from './intents.ts';
import { heldProducts, mentionedProducts, products, renameProducts } from './products.ts';
import type { Product, ProductKind } from './products.ts';

/** One question put to the knowledge documents. */
export const subQuestionSchema = z.object({
  text: z.string().max(20_000),
  /** Only documents of this product (its slug), of the procedures, or of everything. */
  about: z.union([
    z.object({ product: z.string().max(200) }),
    z.literal('procedures'),
    z.literal('anything'),
  ]),
  /** The kind of request it was derived from; `message` for the customer's own words. */
  intent: z.string().max(200),
});
export type SubQuestion = z.infer<typeof subQuestionSchema>;

/** A message read: what it is about, before anything is looked up. */
export interface Reading {
  intents: string[];
  mentioned: Product[];
  held: Product[];
  /** Kinds of product the customer wants to choose from. */
  wanted: ProductKind[];
}

const kindWords: [RegExp, ProductKind][] = [
  [/\bbusiness (?:credit )?cards?\b/i, 'business-credit-card'],
  [
    /\bbusiness (?:checking )?accounts?\b|\bbusiness checking\b|\bstartups?\b/i,
    'business-checking',
  ],
  [/\bbusiness savings?\b/i, 'business-savings'],
  [/(?<!business )(?<!non-)\bcredit cards?\b/i, 'credit-card'],
  [/(?<!business )\bchecking accounts?\b/i, 'checking'],
  [/(?<!business )\bsavings? accounts?\b/i, 'savings'],
];

const kindNames: Record<ProductKind, string> = {
  'credit-card': 'credit card',
  'business-credit-card': 'business credit card',
  checking: 'checking account',
  'business-checking': 'business checking account',
  savings: 'savings account',
  'business-savings': 'business savings account',
  service: 'service',
};

/** Intents, products and kinds recognised in a message. Pure: the same input, the same reading. */
export function readMessage(message: string, holdings: Holdings): Reading {
  const mentioned = mentionedProducts(message);
  // A name says which product, never what is wanted: "Crypto-Cash Back" is no word of cash back.
  const plain = renameProducts(message, (product) => kindNames[product.kind]);
  const unnamed = renameProducts(message, () => '…');
  const recognised = intents
    .filter((intent) => intent.when.every((pattern) => pattern.test(plain)))
    .filter((intent) => intent.unless === undefined || !intent.unless.test(plain));
  return {
    intents: recognised.map((intent) => intent.name),
    mentioned,
    held: heldProducts(holdings),
    wanted: kindWords.filter(([pattern]) => pattern.test(unnamed)).map(([, kind]) => kind),
  };
}

const isCard = (product: Product): boolean => product.kind.endsWith('credit-card');

/** The products a question concerns: those named, or else those held. */
function concerned(reading: Reading, fits: (product: Product) => boolean): Product[] {
  const named = reading.mentioned.filter(fits);
  return named.length > 0 ? named : reading.held.filter(fits);
}

const fits: Record<'cards' | 'checking' | 'savings', (product: Product) => boolean> = {
  cards: isCard,
  checking: (product) => product.kind.endsWith('checking'),
  savings: (product) => product.kind.endsWith('savings'),
};

/** What a question is put to: one group of documents, or one product after the other. */
function targets(ask: Ask, reading: Reading): SubQuestion['about'][] {
  if (ask.of === 'procedures' || ask.of === 'anything') return [ask.of];
  const kinds = ask.kinds ?? reading.wanted;
  const found =
    ask.of === 'choice'
      ? products().filter((product) => kinds.includes(product.kind))
      : concerned(reading, fits[ask.of]);
  return found.map((product) => ({ product: product.slug }));
}

function sentences(message: string): string[] {
  const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });
  return [...segmenter.segment(message)].map((part) => part.segment.trim());
}

/**
 * The sub-questions of a message, most telling first: those of each recognised intent, put to
 * the products it concerns, then the products named, then the customer's own sentences, so that
 * a request no intent knows is still searched for in its own words.
 */
export function deriveSubQuestions(message: string, holdings: Holdings): SubQuestion[] {
  const reading = readMessage(message, holdings);
  const derived = intents
    .filter((intent) => reading.intents.includes(intent.name))
    .flatMap((intent) =>
      intent.ask.flatMap((ask) =>
        targets(ask, reading).map((about) => ({ text: ask.text, about, intent: intent.name })),
      ),
    );
  const named = reading.mentioned.map((product): SubQuestion => ({
    text: `${product.name} at a glance getting started`,
    about: { product: product.slug },
    intent: 'product named',
  }));
  const own = [message, ...sentences(message).filter((text) => text.split(/\s+/).length > 5)];
  const words = own.map((text): SubQuestion => ({ text, about: 'anything', intent: 'message' }));
  const all = [...derived, ...named, ...words];
  const seen = new Set<string>();
  return all.filter((question) => {
    const key = JSON.stringify([question.text, question.about]);
    return seen.has(key) ? false : seen.add(key) !== undefined;
  });
}
