import fc from 'fast-check';
import { countTokens as counted } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { countTokens } from './count-tokens.ts';

describe('counting tokens', () => {
  it.each([
    ['', 0],
    ['hello world', 2],
    ['a '.repeat(600).trimEnd(), 600],
  ])('counts as o200k_base does: %.20s', (text, tokens) => {
    expect(countTokens(text)).toBe(tokens);
  });

  it('counts Latin text as the tokenizer does that it is counted by', () => {
    const character = fc.constantFrom(
      ...Array.from(" aAbZtlsß'’–…\n\r\t/.-$9²½ªµÀ÷×éÿ§\xa0\xad\x85\u2028≥−漢😀"),
    );
    const text = fc.string({ unit: character, maxLength: 40 });
    fc.assert(
      fc.property(text, (some) => {
        expect(countTokens(some)).toBe(counted(some));
      }),
      { numRuns: 2_000 },
    );
  });

  it('counts text that looks like a control token as text', () => {
    expect(countTokens('<|endoftext|>')).toBeGreaterThan(1);
  });

  it('counts a lone surrogate instead of failing', () => {
    expect(countTokens('\ud800')).toBeGreaterThan(0);
  });

  it.each(['a', ' ', '-', '\n', '漢', ' \t\xa0\u3000', '\x01!', '/\n', 'ab\u0301'])(
    'comes to an end on a long run of %j',
    (character) => {
      const run = character.repeat(200_000 / character.length);
      expect(countTokens(run)).toBeGreaterThan(0);
      expect(countTokens(`x ${run} y`)).toBeGreaterThan(countTokens(run));
    },
  );
});
