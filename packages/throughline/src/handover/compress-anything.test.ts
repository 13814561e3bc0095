import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { priorities, type CompressionPolicy } from '../model/agent-context.ts';
import { compress, type FetchedItem } from './compress.ts';
import { countTokens } from './count-tokens.ts';

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
const asked = { queries: ['Which cash back does the gold card pay?'] };

describe('compression, whatever the input', () => {
  const sentence = fc
    .array(fc.constantFrom('gold', 'card', 'pays', 'Bank', '12', 'e.g.', '語', 'naïve', '"x"'), {
      minLength: 1,
      maxLength: 8,
    })
    .map((parts) => `${parts.join(' ')}.`);
  const text = fc
    .array(fc.tuple(sentence, fc.constantFrom(' ', '\n', '\n\n', '  ')), { maxLength: 30 })
    .map((parts) => parts.flat().join(''));
  const given = fc
    .array(
      fc.tuple(fc.constantFrom(...priorities), fc.oneof(text, fc.string({ unit: 'binary' }))),
      {
        maxLength: 5,
      },
    )
    .map((all) => all.map(([priority, content], at) => item(String(at), priority, content)));
  const ratios = fc.double({ min: 0.01, max: 1, noNaN: true });

  it('leaves of each text only stretches of it, in order', () => {
    fc.assert(
      fc.property(given, ratios, (before, ratio) => {
        const texts = new Map(before.map((each) => [each.item.ContextID, each]));
        for (const {
          item: { ContextID: id },
          text: after,
        } of compress(before, policy(ratio), asked).items) {
          const source = texts.get(id);
          if (after === undefined || source === undefined || !('text' in source)) continue;
          let at = 0;
          for (const stretch of after.split('[…]').map((each) => each.trim())) {
            const from = source.text.indexOf(stretch, at);
            expect(from).toBeGreaterThanOrEqual(at);
            at = from + stretch.length;
          }
        }
      }),
    );
  });

  it('reports the sums that a recount gives, meets the target or says why not, and is repeatable', () => {
    fc.assert(
      fc.property(given, ratios, (before, ratio) => {
        const { items, report } = compress(before, policy(ratio), asked);
        const recount = items.reduce((sum, each) => sum + countTokens(each.text ?? ''), 0);
        expect(report.after).toBe(recount);
        expect(report.after).toBe(report.items.reduce((sum, { after }) => sum + after, 0));
        expect(report.before).toBe(report.items.reduce((sum, each) => sum + each.before, 0));
        expect(report.missed === undefined).toBe(report.after <= (report.target ?? 0));
        expect(compress(before, policy(ratio), asked)).toEqual({ items, report });
      }),
    );
  });

  const pieces = [
    'Dr. Berg of No. 7 paid 3.5 % to “gold” cards#, e.g. in May.',
    'Vgl. Nr. 7 bzw. Abs. 2, d. h. Karte#.',
    '我们今天去北京#。',
    '```js\nlet card = 1. B#;\n\npay();\n```\n',
    '{"card": "gold. Blue#",\n\n "rows": [{"a": "B. C"}]}\n',
    'INFO {"m":"One. Two#","n":[{"o":"P! Q"}]} done.\n',
    '| card. Rate | #. B |\n',
    '- one entry#. With two.\n  - and another. Here.\n',
  ];

  it('keeps of sentences, rows, values and blocks the whole or nothing', () => {
    const some = fc.array(fc.constantFrom(...pieces), { minLength: 2, maxLength: 30 });
    const keepingSome = new Set<boolean>();
    fc.assert(
      fc.property(some, ratios, (chosen, ratio) => {
        const numbered = chosen.map((piece, at) => piece.replace('#', `<${at}>`));
        const [left] = compress([item('a', 'compressible', numbered.join('\n\n'))], policy(ratio), {
          queries: ['Which gold card?'],
        }).items;
        const after = left?.text ?? '';
        for (const [at, piece] of numbered.entries()) {
          expect(after.includes(piece.trim())).toBe(after.includes(`<${at}>`));
          keepingSome.add(after.includes(`<${at}>`));
        }
      }),
    );
    expect(keepingSome.size).toBe(2);
  });

  it('never gives more for a smaller ratio', () => {
    const falling = [1, 0.8, 0.6, 0.4, 0.3, 0.2, 0.1, 0.05, 0.01];
    fc.assert(
      fc.property(given, (before) => {
        const sums = falling.map((ratio) => compress(before, policy(ratio), asked).report.after);
        expect(sums).toEqual(sums.toSorted((a, b) => b - a));
      }),
    );
  });
});
