import { decode } from '@toon-format/toon';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodings, fromCsv, toCsv } from './lossless.ts';

const note = 'a longer text, so that the form matters little beside it';
const rows = Array.from({ length: 20 }, (_, id) => ({ id, note, paid: id % 2 === 0 }));

describe('writing JSON smaller without loss', () => {
  it('offers rows as CSV, read back to the same data', () => {
    const found = encodings(JSON.stringify(rows, undefined, 2));
    const byName = new Map(found.map(({ name, text }) => [name, text]));
    expect(fromCsv(byName.get('csv') ?? '')).toEqual(rows);
  });

  it('offers rows within other data as TOON', () => {
    const data = { shop: { name: 'Elm' }, rows };
    const toon = encodings(JSON.stringify(data)).find(({ name }) => name === 'toon');
    expect(toon?.mediaType).toBe('text/toon');
    expect(decode(toon?.text ?? '')).toEqual(data);
  });

  it.each([
    ['a number beyond doubles', '[{"a": 12345678901234567890}]'],
    ['a number with a trailing zero', '[{"a": 1.0}]'],
    ['a key twice', '[{"a": 1, "a": 2}]'],
    ['an escape that need not be', '[{"a": "\\u0041"}]'],
  ])('only minifies what reading would change: %s', (_, text) => {
    expect(encodings(text)).toEqual([
      { name: 'json', mediaType: 'application/json', text: text.replaceAll(' ', '') },
    ]);
  });

  it('survives nesting that nothing else does', () => {
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    expect(encodings(deep).map(({ name }) => name)).toEqual(['json']);
  });

  const cell = fc.oneof(
    fc.string(),
    fc.constantFrom(
      '',
      '1',
      'true',
      'null',
      ' x',
      'a"b',
      'a,b',
      'a\nb',
      'a\r',
      '-',
      '1e5',
      '"',
      '[…]',
    ),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (Object.is(n, -0) ? 0 : n)),
    fc.boolean(),
    fc.constant(null),
  );

  it('never offers CSV or TOON that says something else', () => {
    const keys = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 4 });
    const table = keys.chain((columns) =>
      fc.array(
        fc
          .tuple(...columns.map(() => cell))
          .map((cells) => Object.fromEntries(columns.map((column, at) => [column, cells[at]]))),
        { minLength: 1, maxLength: 5 },
      ),
    );
    fc.assert(
      fc.property(table, (value) => {
        const json = JSON.stringify(value);
        for (const { name, text } of encodings(json)) {
          const back: unknown =
            name === 'csv' ? fromCsv(text) : name === 'toon' ? decode(text) : JSON.parse(text);
          expect(JSON.stringify(back)).toBe(json);
        }
      }),
    );
  });

  it.each([[[]], [[{}]], [[{ a: 1 }, { b: 1 }]], [[{ a: [1] }]], [{ a: 1 }]])(
    'has no CSV for %j',
    (value) => {
      expect(toCsv(value)).toBeUndefined();
    },
  );
});
