import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { priorities, type CompressionPolicy } from '../model/agent-context.ts';
import { compress, type FetchedItem } from './compress.ts';

const item = (
  id: string,
  priority: FetchedItem['item']['Priority'],
  text: string,
): FetchedItem => ({
  item: {
    ContextID: id,
    ContextType: 'text',
    MediaType: 'text/plain',
    ContextURI: `https://hub.test/content/${id}`,
    Description: id,
    Priority: priority,
  },
  text,
});
const policy = (ratio: number): CompressionPolicy => ({
  Strategy: 'target_ratio',
  TargetRatio: ratio,
  LossTolerance: 'low',
  MustPreserveFields: [],
});
const words = (n: number): string => 'word '.repeat(n).trimEnd();

describe('compressing on the receiving side', () => {
  const items = [
    item('terms', 'must_preserve', words(40)),
    item('chatter', 'discardable', words(30)),
    item('annex', 'reference_only', words(30)),
  ];

  it('reduces nothing without a policy', () => {
    const { items: kept, report } = compress(items, undefined);
    expect(kept).toEqual(items);
    expect(report.after).toBe(report.before);
  });

  it('lets the discardable go first, then the content of what needs only its reference', () => {
    const { items: kept, report } = compress(items, policy(0.7));
    expect(kept).toEqual([items[0], items[2]]);
    expect(report).toMatchObject({ before: 100, after: 70 });
    const less = compress(items, policy(0.4));
    expect(less.items).toEqual([items[0], { item: items[2]?.item }]);
    expect(less.report.items.map(({ did }) => did)).toEqual(['kept', 'dropped', 'reference']);
    expect(less.report.missed).toBeUndefined();
  });

  it('says by how much it missed a ratio that the priorities do not allow', () => {
    const { report } = compress(items, policy(0.1));
    expect(report.after).toBe(40);
    expect(report.missed).toMatch(/^30 tokens over the target of 10/);
  });

  it('refuses an unknown strategy by name', () => {
    expect(() => compress(items, { ...policy(1), Strategy: 'magic' })).toThrow(
      /“magic” is not known/,
    );
  });

  it('never touches a byte of what must be preserved', () => {
    const generated = fc.array(
      fc.tuple(fc.constantFrom(...priorities), fc.string({ unit: 'binary' })),
    );
    fc.assert(
      fc.property(generated, fc.double({ min: 0.01, max: 1, noNaN: true }), (given, ratio) => {
        const before = given.map(([priority, text], at) => item(String(at), priority, text));
        const { items: after } = compress(before, policy(ratio));
        const preserved = before.filter((each) => each.item.Priority === 'must_preserve');
        expect(after.filter((each) => each.item.Priority === 'must_preserve')).toEqual(preserved);
      }),
    );
  });
});
