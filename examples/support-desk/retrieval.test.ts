import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { bank } from './bank.ts';
import { deskCases } from './cases.ts';
import { mentionedProducts } from './products.ts';
import { measureRetrieval } from './retrieval.ts';
import { roundRobin } from './retrieve.ts';
import { deriveSubQuestions, readMessage } from './sub-questions.ts';

const nothing = { cards: [], accounts: [] };

it('finds at least one and a half times what one query with the whole message finds', () => {
  const measured = measureRetrieval();
  expect(measured.cases).toHaveLength(65);
  expect(measured.ratio).toBeGreaterThanOrEqual(1.5);
  expect(measured.derived).toBeGreaterThan(measured.constantLeaveOneOut);
});

it.each([0, 1])('holds that on each half of the cases (%i)', (half) => {
  const measured = measureRetrieval(deskCases().filter((_, index) => index % 2 === half));
  expect(measured.ratio).toBeGreaterThanOrEqual(1.5);
});

it('derives the same sub-questions from the same message', () => {
  for (const one of deskCases()) {
    const holdings = bank().holdings(one.customer);
    const first = deriveSubQuestions(one.openingMessage, holdings);
    expect(deriveSubQuestions(one.openingMessage, holdings)).toEqual(first);
    expect(first.length).toBeGreaterThan(0);
  }
});

it('asks about the cards held where the message names none, and about those named where it does', () => {
  const held = { cards: [{ card: 'EcoCard', opened: '01/01/2024' }], accounts: [] };
  const about = (message: string): string[] =>
    deriveSubQuestions(message, held).flatMap(({ about: on }) =>
      typeof on === 'object' ? [on.product] : [],
    );
  expect(new Set(about('My cash back looks wrong'))).toEqual(new Set(['credit_cards_ecocard']));
  expect(new Set(about('The cash back of my Gold Rewards Card looks wrong'))).toEqual(
    new Set(['credit_cards_gold_rewards_card']),
  );
});

it('searches a message that no intent knows in its own words', () => {
  const message = 'Do penguins bank with you and what do they pay in winter?';
  expect(readMessage(message, nothing).intents).toEqual([]);
  expect(deriveSubQuestions(message, nothing)[0]).toEqual({
    text: message,
    about: 'anything',
    intent: 'message',
  });
});

it.each([
  ['my Light Blue Account', ['light blue']],
  ['my Blue Account and my Bluest Account', ['blue', 'bluest']],
  ['the personal Gold card and the Business Gold card', ['gold', 'business gold']],
  ['a Gold Plus savings', ['gold plus']],
  ['blue skies and silver linings', []],
])('reads the products in "%s"', (text, cores) => {
  expect(mentionedProducts(text).map((product) => product.core)).toEqual(cores);
});

it('does not take the name of a card for a word of the request', () => {
  const reading = readMessage(
    'Something is wrong with a charge on my Crypto-Cash Back card',
    nothing,
  );
  expect(reading.intents).not.toContain('cash back looks wrong');
});

it('merges round-robin without doubles', () => {
  expect(roundRobin([['a', 'b'], ['a', 'c', 'd'], []])).toEqual(['a', 'c', 'b', 'd']);
});

it('keeps what the checks know out of every module an agent runs', () => {
  const folder = new URL('.', import.meta.url);
  const checks = ['expected.ts', 'retrieval.ts'];
  const files = readdirSync(folder).filter(
    (name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !checks.includes(name),
  );
  expect(files.length).toBeGreaterThan(10);
  const agents = files.filter((name) => name !== 'main.ts' && name !== 'checks.ts');
  for (const name of agents) {
    const source = readFileSync(new URL(name, folder), 'utf8');
    expect(source, name).not.toMatch(/expected\.(json|ts)|['"]\.\/retrieval\.ts|tasks\.json/);
  }
});
