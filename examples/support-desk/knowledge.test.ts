import { expect, it } from 'vitest';
import { documents, isInternal, search, sectionsOf, sentencesOf } from './knowledge.ts';

it('cuts sentences and sections word for word out of every document', () => {
  let spans = 0;
  for (const document of documents().values()) {
    for (const span of [...sentencesOf(document), ...sectionsOf(document)]) {
      expect(document.content.slice(span.start, span.end)).toBe(span.text);
      expect(span.text).toBe(span.text.trim());
      spans += 1;
    }
  }
  expect(documents().size).toBe(698);
  expect(spans).toBeGreaterThan(10_000);
});

it.each([
  ['Internal: Activating a Debit Card', true],
  ['Submitting a Cash Back Dispute (Internal)', true],
  ['(Internal) Applying a Credit Card Statement Credit', true],
  ['Internationally used cards', false],
  ['International ATM withdrawals for Blue Account', false],
])('tells whether %s is internal', (title, internal) => {
  expect(isInternal(title)).toBe(internal);
});

it('finds a document by its words and only where it is asked to look', () => {
  const wanted = 'doc_credit_cards_credit_cards_(general)_003';
  expect(search('submitting a cash back dispute')[0]?.documentId).toBe(wanted);
  const elsewhere = search('submitting a cash back dispute', {
    within: (id) => id.includes('ecocard'),
  });
  expect(elsewhere.length).toBeGreaterThan(0);
  expect(elsewhere.every((hit) => hit.documentId.includes('ecocard'))).toBe(true);
});
