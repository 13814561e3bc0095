import { describe, expect, it } from 'vitest';
import { choose, type Choosable } from './choose.ts';

const unit = { along: [], item: 0, mark: 0 };
const units = (...tokens: number[]): Choosable[] =>
  tokens.map((each) => ({ ...unit, tokens: each }));
const marked = (...tokens: number[]): Choosable[] =>
  units(...tokens).map((each) => ({ ...each, mark: 1 }));
const kept = (of: ReadonlySet<number>): number[] => [...of].toSorted((a, b) => a - b);

describe('filling a budget', () => {
  it('takes the best that fit and passes over what does not', () => {
    expect(kept(choose(units(5, 50, 5, 5), [[1, 0, 2, 3]], 11, []))).toEqual([0, 2]);
  });

  it('counts the marks of gaps', () => {
    expect(kept(choose(marked(5, 5, 5, 5), [[1, 3, 0, 2]], 10, []))).toEqual([1]);
    expect(kept(choose(marked(5, 5, 5), [[0, 1, 2]], 11, []))).toEqual([0, 1]);
  });

  it('lets queries take turns, so that none starves another', () => {
    const all = units(...Array.from({ length: 10 }, () => 5));
    const rankings = [
      [0, 1, 2, 3, 4],
      [5, 6, 7, 8, 9],
    ];
    expect(kept(choose(all, rankings, 20, []))).toEqual([0, 1, 5, 6]);
  });

  it('takes what comes along, over any number of steps, or nothing', () => {
    const linked: Choosable[] = [
      { ...unit, tokens: 5, along: [1] },
      { ...unit, tokens: 5, along: [2] },
      { ...unit, tokens: 5, along: [0] },
    ];
    expect(kept(choose(linked, [[1]], 15, []))).toEqual([0, 1, 2]);
    expect(kept(choose(linked, [[1]], 14, []))).toEqual([]);
  });

  it('takes what must stay beyond the budget, and frames only along with others', () => {
    const framed: Choosable[] = [
      { ...unit, tokens: 1, frame: true },
      { ...unit, tokens: 5, along: [0] },
    ];
    expect(kept(choose(framed, [[0, 1]], 3, []))).toEqual([]);
    expect(kept(choose(framed, [[0, 1]], 3, [1]))).toEqual([0, 1]);
  });
});
