import { describe, expect, it } from 'vitest';
import { makeIndex, scores, type Rankable } from './rank.ts';
import { makeTerms } from './terms.ts';

const unit = (text: string, block: number, title = ''): Rankable => ({
  text,
  tokens: text.split(' ').length,
  block,
  title,
  item: 0,
});

/** Texts of the units, the best first. */
function ranked(units: readonly Rankable[], query: string): string[] {
  const of = scores(makeIndex(units, makeTerms()), query);
  return [...units.keys()]
    .toSorted((a, b) => (of[b] ?? 0) - (of[a] ?? 0))
    .map((at) => units[at]?.text ?? '');
}

describe('ranking what a query asks for', () => {
  it.each([
    [
      'inflected words',
      'Who published the journal?',
      'The publisher of the journal is Elm.',
      'The river is long.',
    ],
    [
      'words that tell an answer',
      'Big Eyes >> director',
      'Big Eyes is a film by Tim Burton.',
      'Big Eyes are seen in owls.',
    ],
    [
      'a date where one is asked for',
      'When did the bank open?',
      'The bank did open in 1923.',
      'The bank did open with joy.',
    ],
    [
      'a word but for one letter',
      'What is an emphyema?',
      'Empyema is a complication.',
      'Anaemia is a condition.',
    ],
    [
      'a word that goes on where the one asked for ends',
      'How is a child fed?',
      'In childhood there is milk.',
      'In winter there is milk.',
    ],
    [
      'which words are common in English',
      'What kind of ferret is used?',
      'It is a ferret.',
      'It is of that kind and use.',
    ],
    [
      'words with accents',
      'Where is Aschenbrodel?',
      'Aschenbrödel is here.',
      'Something else is here.',
    ],
    [
      'Chinese, where no spaces are written',
      '现金返还何时支付',
      '现金返还每月支付。',
      '卡片是蓝色的。',
    ],
  ])('knows %s', (_, query, better, worse) => {
    const introduced = unit('We speak of bovine coronavirus (BCoV).', 2);
    const order = (...units: Rankable[]): string[] =>
      ranked([...units, introduced], query).filter((text) => text !== introduced.text);
    expect(order(unit(worse, 0), unit(better, 1))[0]).toBe(better);
    expect(order(unit(better, 0), unit(worse, 1))[0]).toBe(better);
  });

  it('prefers units under a title that the query names', () => {
    const units = [
      unit('It opened in May.', 0, 'River'),
      unit('It opened in May.', 1, 'Gold card'),
    ];
    const of = scores(makeIndex(units, makeTerms()), 'What is the gold card?');
    expect(of[1]).toBeGreaterThan(of[0] ?? 0);
  });

  it('counts only the best of the words that answer one word of the query', () => {
    const units = [
      unit('A county, a district, a town, a village, a region.', 0),
      unit('The mill is in a town.', 1),
    ];
    const of = scores(makeIndex(units, makeTerms()), 'Where is the mill located?');
    expect(of[1]).toBeGreaterThan(of[0] ?? 0);
  });

  it('prefers titles that the query names in full to those that it names in part', () => {
    const units = [
      unit('It opened in May.', 0, 'Gold card fees of branches abroad'),
      unit('It opened in May.', 1, 'Gold card'),
    ];
    const of = scores(makeIndex(units, makeTerms()), 'When did the gold card open?');
    expect(of[1]).toBeGreaterThan(of[0] ?? 0);
  });

  it('raises the sentence behind one that matters', () => {
    const filler = Array.from({ length: 3 }, () => unit('Most have other names.', 0));
    const units = [...filler, unit('The gold card costs much.', 0), ...filler];
    const of = scores(makeIndex(units, makeTerms()), 'gold card');
    expect(of[4]).toBeGreaterThan(of[1] ?? 0);
  });

  it('puts the beginnings of blocks first when nothing is asked', () => {
    const units = [unit('a b', 0), unit('c d', 0), unit('e f', 1)];
    expect(ranked(units, '')).toEqual(['a b', 'e f', 'c d']);
  });
});
