import { describe, expect, it } from 'vitest';
import {
  describeCompressed,
  describeCost,
  describeModel,
  describeModels,
  describeMoney,
  describeSent,
  percent,
} from './describe-usage.ts';
import { spendingOf, type Usage } from './usage.ts';

const used = (money?: number): Usage => ({
  model: 'm',
  inputTokens: 1_000,
  outputTokens: 20,
  ...(money !== undefined && { money }),
});

describe('what was sent', () => {
  it.each([
    [1_204, 9_120, '1,204 tokens sent, 13 % of the full history’s 9,120'],
    [1, 40_000, '1 token sent, < 0.1 % of the full history’s 40,000'],
    [969, 117, '969 tokens sent, more than the history (117)'],
    [117, 117, '117 tokens sent, 100 % of the full history’s 117'],
    [12, 0, '12 tokens sent, where there was no history yet'],
  ])('as %i of %i reads %j', (sent, fullHistory, words) => {
    expect(describeSent({ sent, fullHistory }).replaceAll('\u00a0', ' ')).toBe(words);
  });

  it('keeps a decimal of a small share', () => {
    expect([0.004, 0.099, 0.5].map(percent)).toEqual(['0.4\u00a0%', '9.9\u00a0%', '50\u00a0%']);
  });
});

describe('what local compression left', () => {
  it('is not called compressed where all was read', () => {
    expect(describeCompressed({ before: 700, after: 175 })).toBe(
      'compressed where it was read, from 700 tokens to 175',
    );
    expect(describeCompressed({ before: 547, after: 547 })).toBe('read whole, 547 tokens');
  });
});

describe('what models cost', () => {
  it.each([
    [[], '–', undefined],
    [[used()], 'no price', 'models read 1,000 tokens and wrote 20, no price known'],
    [[used(0)], '0', 'models read 1,000 tokens and wrote 20, cost 0'],
    [[used(0.00001234)], '0.0000123', 'models read 1,000 tokens and wrote 20, cost 0.0000123'],
    [
      [used(2), used()],
      '≥ 2',
      'models read 2,000 tokens and wrote 40, cost at least 2, no price known for 1,020 of them',
    ],
  ])('is never nothing where no price is known', (usage, cell, words) => {
    const spent = spendingOf([], usage);
    expect([describeCost(spent), describeModels(spent)]).toEqual([cell, words]);
  });

  it('is told of one model by its name', () => {
    expect(describeModel(used(0.5))).toBe('m: 1,000 tokens in, 20 out, cost 0.5');
    expect(describeModel(used())).toBe('m: 1,000 tokens in, 20 out, no price known');
  });

  it('keeps to the smallest part of a unit that people pay in', () => {
    expect(describeMoney(1_234.567)).toBe('1,234.57');
  });
});
