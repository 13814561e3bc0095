import { describe, expect, it } from 'vitest';
import { isOfContext, valuesAt } from './preserve.ts';

describe('paths of fields that must be preserved', () => {
  const value = { a: [{ b: 1 }, { b: 2, c: null }], d: { e: 'x' }, '': 0 };
  it.each([
    ['a', [value.a]],
    ['a[].b', [1, 2]],
    ['a[1].b', [2]],
    ['a[].c', [null]],
    ['a.b', [1, 2]],
    ['d.e', ['x']],
    ['d.toString', []],
    ['missing[].b', []],
  ])('%s finds its values', (path, found) => {
    expect(valuesAt(value, path)).toEqual(found);
  });

  it.each([
    ['ContextItems[].Description', true],
    ['KeyInformation', true],
    ['account.id', false],
  ])('%s is a field of the AgentContext: %s', (path, is) => {
    expect(isOfContext(path)).toBe(is);
  });
});
