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

  it('counts text that looks like a control token as text', () => {
    expect(countTokens('<|endoftext|>')).toBeGreaterThan(1);
  });

  it('counts a lone surrogate instead of failing', () => {
    expect(countTokens('\ud800')).toBeGreaterThan(0);
  });

  it.each(['a', ' ', '-', '\n', '漢'])('comes to an end on a long run of %j', (character) => {
    const run = character.repeat(200_000);
    expect(countTokens(run)).toBeGreaterThan(0);
    expect(countTokens(`x ${run} y`)).toBeGreaterThan(countTokens(run));
  });
});
