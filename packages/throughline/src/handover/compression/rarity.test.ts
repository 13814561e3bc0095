import { expect, it } from 'vitest';
import { rarity } from './rarity.ts';

it('holds common words back and raises rare ones, within bounds, whatever the word', () => {
  expect(rarity('use')).toBeLessThan(rarity('swab'));
  expect(rarity('use')).toBeLessThan(1);
  expect(rarity('swab')).toBeGreaterThan(1);
  for (const word of ['a', '1', '漢字', '', 'x'.repeat(1_000_000)]) {
    expect(rarity(word)).toBeGreaterThan(0);
    expect(rarity(word)).toBeLessThan(1.5);
  }
});
