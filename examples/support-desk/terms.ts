/** Which sentences of the documents found state the terms of a case, verbatim. */
import type { HeldCard } from './bank.ts';
import { documentOf, isInternal, sectionsOf, sentencesOf } from './knowledge.ts';
import type { KnowledgeDocument, Span } from './knowledge.ts';
import { groupOf, heldProduct, renameProducts } from './products.ts';
import type { Finding, Retrieval } from './retrieve.ts';

/** A sentence that states a term; `card` where it holds for one card alone. */
export interface Term {
  documentId: string;
  /** Verbatim: `content.slice(start, end)`. */
  quote: string;
  start: number;
  end: number;
  card?: string;
  internal: boolean;
}

const rate = /\d+(?:\.\d+)?%|points? per dollar/i;
const earning = /\b(?:earn|earns|cash back|back at|points per dollar)\b/i;
const otherFigure =
  /\b(?:apr|apy|fee|fees|rebate|discount|reduction|conversion|statement credit)\b/i;
const promotion =
  /\b\dx cash back\b|\bmultiplied by \d\b|\b\d × \d|\blasts \d+ months\b|\b(?:start|end) date: \d{4}|\bclaim the promotion\b/i;
const exclusion = /\b(?:merchants|retailers)\b[^\n]*\b(?:not earn|earn\s+\*\*0%)/i;
const onlyQualifies = /\bonly qualifies for \w+ rewards\b/i;
const representation = /\b1 point = \$0\.\d\d\b|\bstored as 'points'|\brounded down\b/i;

function termOf(span: Span, card?: string): Term {
  return {
    documentId: span.documentId,
    quote: span.text,
    start: span.start,
    end: span.end,
    ...(card === undefined ? {} : { card }),
    internal: isInternal(documentOf(span.documentId).title),
  };
}

function cardTerms(document: KnowledgeDocument): Span[] {
  // A list of excluded merchants means something only with the sentence above it.
  const lists = sectionsOf(document).filter((section) => exclusion.test(section.text));
  const inList = (span: Span): boolean =>
    lists.some((list) => span.start >= list.start && span.end <= list.end);
  const single = sentencesOf(document).filter(
    (span) =>
      onlyQualifies.test(span.text) ||
      (!inList(span) &&
        (promotion.test(span.text) ||
          (rate.test(span.text) && earning.test(span.text) && !otherFigure.test(span.text)))),
  );
  return [...lists, ...single];
}

/** Advice repeats a term in passing; the sentence that states it comes first. */
const advice =
  /^(?:use|route|concentrate|consolidate|track|verify|consider|don't|reward)|\bat least\b|\bto capture\b/i;

function foundDocuments(findings: readonly Finding[]): KnowledgeDocument[] {
  const ids = findings.flatMap((finding) => finding.hits.map((hit) => hit.documentId));
  return [...new Set(ids)].map(documentOf);
}

/** The terms of one card, from those of its documents that were found. */
function termsOfCard(held: HeldCard, found: readonly KnowledgeDocument[]): Term[] {
  const slug = heldProduct(held.card)?.slug;
  return found
    .filter((document) => groupOf(document.id) === slug)
    .flatMap((document) => cardTerms(document).map((span) => termOf(span, held.card)))
    .toSorted((a, b) => Number(advice.test(a.quote)) - Number(advice.test(b.quote)));
}

/**
 * The terms that decide what the customer's purchases earn: per card held, rates, exclusions and
 * promotions; for all cards, what a point is worth and how fractions are rounded. Only from
 * documents the retrieval found; empty when it found none.
 */
export function findTerms(retrieval: Retrieval, cards: readonly HeldCard[]): Term[] {
  const found = foundDocuments(retrieval.findings);
  const general = found
    .filter((document) => groupOf(document.id) === 'credit_cards_credit_cards_(general)')
    .flatMap((document) => sentencesOf(document).filter((span) => representation.test(span.text)))
    .map((span) => termOf(span));
  return [...cards.flatMap((held) => termsOfCard(held, found)), ...general];
}

/** The words of a text, endings dropped: "closing" and "close" are one word here. */
const words = (text: string): Set<string> =>
  new Set(
    (text.toLowerCase().match(/[a-z][a-z-]{2,}/g) ?? []).map((word) =>
      word.length < 5 ? word : word.replace(/(?:ing|ed|es|s|e)$/, ''),
    ),
  );

/** Words every document of the bank holds: sharing them says nothing. */
const everywhere = words(
  'account bank card credit customer debit have help like need rewards rho-bank some that there they this ' +
    'want what when with your about been could from going just know looking more are and the for can you our ' +
    'not all any but how has had was were its who will them now get them these into out time',
);

/** What a customer can't use: words to an agent, a lead-in without its list, an empty value. */
const notForCustomers = /\bcustomers?\b|\bhuman agents?\b|\bprotocol\b|:\W*$|\bnot available\]/i;

/**
 * The sentence of a document that shares most words with a question; earlier wins a tie. Of a
 * document open to customers only what is said to them.
 */
function bestSentence(document: KnowledgeDocument, question: string): Span | undefined {
  const wanted = words(question);
  let best: { span: Span; score: number } | undefined;
  const open = !isInternal(document.title);
  for (const span of sentencesOf(document)) {
    if (open && notForCustomers.test(span.text)) continue;
    const own = words(span.text);
    const common = [...own].filter((word) => wanted.has(word) && !everywhere.has(word)).length;
    // A long sentence shares more words by chance.
    const score = common / Math.sqrt(own.size + 4);
    if (own.size >= 3 && (best === undefined || score > best.score)) best = { span, score };
  }
  return best?.span;
}

/** A sub-question with the sentence that answers it best. */
export interface Passage extends Term {
  question: string;
  intent: string;
}

/**
 * For each sub-question the best sentence of the best document, and of the best one open to
 * customers where that is another; at most `limit`, none twice.
 */
export function findPassages(message: string, retrieval: Retrieval, limit = 24): Passage[] {
  const passages = new Map<string, Passage>();
  for (const { question, hits } of retrieval.findings) {
    const found = hits.map((hit) => documentOf(hit.documentId));
    const open = found.find((document) => !isInternal(document.title));
    const best = new Set([found[0], open].filter((document) => document !== undefined));
    for (const document of best) {
      const own = question.intent === 'message' ? '' : ` ${message}`;
      const span = bestSentence(document, `${question.text}${own}`);
      if (span === undefined || passages.size >= limit) continue;
      const key = `${span.documentId}:${span.start}`;
      if (passages.has(key)) continue;
      passages.set(key, { ...termOf(span), question: question.text, intent: question.intent });
    }
  }
  return [...passages.values()];
}

/** How many telling words a passage, with its document's title, shares with a text. */
function shared(passage: Passage, text: string): number {
  const said = words(renameProducts(text, () => ' '));
  const title = documentOf(passage.documentId).title;
  const own = words(renameProducts(`${title} ${passage.quote}`, () => ' '));
  return [...own].filter((word) => said.has(word) && !everywhere.has(word)).length;
}

/**
 * The passages a customer may read that bear on what they wrote: found for an intent, and sharing
 * telling words with both its question and the message; or else, found by the message alone,
 * sharing three words with it. Best first.
 */
export function publicPassages(message: string, passages: readonly Passage[]): Passage[] {
  const judged = passages
    .filter((passage) => !passage.internal)
    .map((passage) => {
      const own = passage.intent === 'message';
      const asked = own ? 0 : shared(passage, passage.question);
      return { passage, own, asked, said: shared(passage, message) };
    })
    .filter(({ own, asked, said }) => (own ? said >= 3 : said >= 1 && asked >= 2));
  const ranked = judged.toSorted((a, b) => b.said + b.asked - (a.said + a.asked));
  return ranked.map(({ passage }) => passage);
}

const toolName = /`[a-z_]+_\d{4}\b/;
const instruction = /^(?:tell|instruct|advise|confirm|inform|let) the customer\b|^confirm the\b/i;

/**
 * What the internal procedures found tell an agent to do for the customer: the sentences that
 * name a tool or say what to tell them. Spans for the case record; no customer text cites them.
 */
export function findProcedures(retrieval: Retrieval, limit = 12): Passage[] {
  const found: Passage[] = [];
  const seen = new Set<string>();
  for (const { question, hits } of retrieval.findings) {
    const first = hits[0];
    if (first === undefined || question.about !== 'procedures') continue;
    const document = documentOf(first.documentId);
    if (!isInternal(document.title) || seen.has(document.id)) continue;
    seen.add(document.id);
    const spans = sentencesOf(document).filter(
      (span) => toolName.test(span.text) || instruction.test(span.text),
    );
    for (const span of spans) {
      found.push({ ...termOf(span), question: question.text, intent: question.intent });
    }
  }
  return found.slice(0, limit);
}
