import { describe, expect, it } from 'vitest';
import { acronymsIn } from './acronyms.ts';

describe('short forms that a text introduces', () => {
  it.each([
    ['We sequenced bovine coronavirus (BCoV) here.', [['BCoV', 'bovine coronavirus']]],
    ['the World Health Organization (WHO) and', [['WHO', 'World Health Organization']]],
    ['receptor-binding domains (RBDs)', [['RBD', 'receptor-binding domains']]],
    ['It rose (in May) and fell (2019).', []],
    ['a thing (XY)', []],
  ])('%s', (text, found) => {
    expect(acronymsIn(text).map(({ short, long }) => [short, long])).toEqual(found);
  });
});
