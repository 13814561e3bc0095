/** The bank's products, read off the document ids, and which of them a message speaks of. */
import type { Holdings } from './bank.ts';
import { documents } from './knowledge.ts';

/** What a product is, as customers tell them apart when they choose one. */
export type ProductKind =
  | 'credit-card'
  | 'business-credit-card'
  | 'checking'
  | 'business-checking'
  | 'savings'
  | 'business-savings'
  | 'service';

/** A product with documents of its own. */
export interface Product {
  /** The part of the document ids that all its documents share. */
  slug: string;
  /** Its name in lower case, for example `gold rewards card`. */
  name: string;
  /** The name without the words all products share, for example `gold`. */
  core: string;
  kind: ProductKind;
}

const folders: [string, ProductKind][] = [
  ['business_checking_accounts_', 'business-checking'],
  ['business_credit_cards_', 'business-credit-card'],
  ['business_savings_accounts_', 'business-savings'],
  ['checking_accounts_', 'checking'],
  ['credit_cards_', 'credit-card'],
  ['savings_accounts_', 'savings'],
  ['buy_now_pay_later_', 'service'],
  ['everyone_pay_', 'service'],
  ['personal_subscriptions_', 'service'],
];

/** Folders of procedures that hold for every product of a kind. */
const procedures =
  /^(bank_accounts|customer_support)_|\(general\)|_account_logistics$|_card_replacements$/;
/** Folders about a facility that comes with several products. */
const facilities = /virtual_card_management|automatic_sweep_program|joint_business_holders/;

/** The group a document belongs to: its id without prefix and number. */
export function groupOf(documentId: string): string {
  return documentId.replace(/^doc_/, '').replace(/_\d+$/, '');
}

/** Whether a document describes a procedure rather than one product. */
export function isProcedure(documentId: string): boolean {
  return procedures.test(groupOf(documentId));
}

function productOf(slug: string): Product | undefined {
  const folder = folders.find(([prefix]) => slug.startsWith(prefix));
  if (folder === undefined || procedures.test(slug)) return undefined;
  const name = slug.slice(folder[0].length).replaceAll('_', ' ');
  const core = name.replaceAll(/ \((checking|savings)\)| (account|rewards card|card|saver)\b/g, '');
  return { slug, name, core, kind: facilities.test(slug) ? 'service' : folder[1] };
}

let catalogue: Product[] | undefined;

/** All products, longest name first. */
export function products(): readonly Product[] {
  catalogue ??= [...new Set([...documents().keys()].map(groupOf))]
    .flatMap((slug) => productOf(slug) ?? [])
    .toSorted((a, b) => b.core.length - a.core.length || a.slug.localeCompare(b.slug));
  return catalogue;
}

/** The product a card or account of the bank's database is. */
export function heldProduct(label: string, accountClass?: string): Product | undefined {
  const name = label.toLowerCase().replace(/ account$/, '');
  const kinds: Record<string, ProductKind> = {
    checking: 'checking',
    saving: 'savings',
    savings: 'savings',
    business_checking: 'business-checking',
    business_saving: 'business-savings',
  };
  const kind = accountClass === undefined ? undefined : kinds[accountClass];
  return products().find((product) =>
    accountClass === undefined
      ? product.kind.endsWith('credit-card') && product.name === label.toLowerCase()
      : product.kind === kind && product.core === name,
  );
}

/** Everything the customer holds, as products. */
export function heldProducts(holdings: Holdings): Product[] {
  return [
    ...holdings.cards.flatMap((held) => heldProduct(held.card) ?? []),
    ...holdings.accounts.flatMap((held) => heldProduct(held.level, held.class) ?? []),
  ];
}

const suffixes: [RegExp, readonly ProductKind[]][] = [
  [/^ ?(rewards card|rewards|card|credit card)\b/, ['credit-card', 'business-credit-card']],
  [/^ (checking|\(checking\))/, ['checking', 'business-checking']],
  [/^ (savings?|saver)\b/, ['savings', 'business-savings']],
  [/^ account\b/, ['checking', 'savings', 'business-checking', 'business-savings']],
];

/** Which of several products with one name is meant: by the word after it, then by the message. */
function choose(named: Product[], after: string, message: string): Product | undefined {
  const suffix = suffixes.find(([pattern]) => pattern.test(after));
  const fitting = named.filter((product) => suffix?.[1].includes(product.kind) ?? true);
  const plain = fitting.length === 1 ? fitting[0] : undefined;
  // A bare colour or metal is no product name; two words, or a word of the bank's own, are.
  const distinctive = /[ -]|ecocard/.test(named[0]?.core ?? '');
  if (suffix === undefined && !distinctive) return undefined;
  if (plain !== undefined) return plain;
  const prefix = /\bbusiness\b/.test(message) ? 'business-' : '';
  const kind =
    /\bsavings?\b/.test(message) && !/\bchecking\b/.test(message) ? 'savings' : 'checking';
  const wishes = [`${prefix}${kind}`, kind, `${prefix}savings`, 'savings'];
  return wishes.flatMap((wish) => fitting.find((product) => product.kind === wish) ?? [])[0];
}

/** A product named in a message. */
interface Mention {
  at: number;
  end: number;
  product: Product;
}

function mentions(text: string): Mention[] {
  let message = text.toLowerCase();
  const found: Mention[] = [];
  for (const core of new Set(products().map((product) => product.core))) {
    const named = products().filter((product) => product.core === core);
    const escaped = core.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
    const pattern = new RegExp(String.raw`\b${escaped}(?!\w)`, 'g');
    for (const match of message.matchAll(pattern)) {
      const after = message.slice(match.index + core.length);
      const product = choose(named, after, message);
      const suffix = suffixes.map(([word]) => word.exec(after)?.[0].length ?? 0);
      const end = match.index + core.length + Math.max(0, ...suffix);
      if (product !== undefined) found.push({ at: match.index, end, product });
    }
    // Longer names come first: what they took is not read again as a shorter one.
    message = message.replaceAll(pattern, (match) => '_'.repeat(match.length));
  }
  return found.toSorted((a, b) => a.at - b.at);
}

/** The products named in a message, in the order they are named. */
export function mentionedProducts(text: string): Product[] {
  return [...new Set(mentions(text).map((mention) => mention.product))];
}

/** The message with each product's name exchanged for what `word` makes of it. */
export function renameProducts(text: string, word: (product: Product) => string): string {
  let rest = 0;
  let renamed = '';
  for (const mention of mentions(text)) {
    renamed += text.slice(rest, mention.at) + word(mention.product);
    rest = mention.end;
  }
  return renamed + text.slice(rest);
}
