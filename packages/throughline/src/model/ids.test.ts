import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foreignId, idKind, idPrefixes, idSchema, makeId, shortText, utf8Length } from './ids.ts';
import type { IdKind } from './ids.ts';
import { limits } from './limits.ts';

const kinds = Object.keys(idPrefixes).filter((kind): kind is IdKind => kind in idPrefixes);
const bytes = fc.uint8Array({ minLength: 16, maxLength: 16 });

describe('a public id', () => {
  it.each(kinds)('of kind %s says its kind and is no other', (kind) => {
    const id = makeId(kind, new Uint8Array(16).fill(0xff));
    expect(idKind(id)).toBe(kind);
    expect(kinds.filter((other) => idSchema(other).safeParse(id).success)).toEqual([kind]);
  });

  it('keeps all 128 bits: other bytes, other id', () => {
    fc.assert(
      fc.property(bytes, bytes, (a, b) => {
        const same = a.every((byte, i) => byte === b[i]);
        expect(makeId('task', a) === makeId('task', b)).toBe(same);
      }),
    );
    const [zero, one] = [new Uint8Array(16), new Uint8Array(16)];
    for (let i = 0; i < 16; i++) {
      one.fill(0);
      one[i] = 1;
      expect(makeId('task', one)).not.toBe(makeId('task', zero));
    }
  });

  it('is always well formed', () => {
    fc.assert(fc.property(bytes, (random) => idKind(makeId('dialog', random)) === 'dialog'));
  });

  it('is not made from too little chance', () => {
    expect(() => makeId('task', new Uint8Array(15))).toThrow(/16 random bytes/);
  });

  it.each([
    '',
    'tsk_',
    'tsk_short',
    'xyz_00000000000000000000000000',
    'tsk_0000000000000000000000000I',
  ])('is not “%s”', (text) => {
    expect(idKind(text)).toBeUndefined();
  });
});

describe('an id from outside', () => {
  it.each([
    ['a UUID', '5f4dcc3b-aa76-41d1-8d4c-1e1f0b5ad0b7'],
    ['Unicode', 'Fälle-Ω-😀'],
    ['as long as allowed', 'x'.repeat(limits.foreignIdBytes)],
    ['dots within', 'a..b'],
    ['a name of JavaScript', '__proto__'],
  ])('is kept as given: %s', (_what, id) => {
    expect(foreignId.parse(id)).toBe(id);
  });

  it.each([
    ['nothing', ''],
    ['a character too long', 'x'.repeat(limits.foreignIdBytes + 1)],
    ['short in characters but too long in bytes', '😀'.repeat(limits.foreignIdBytes / 4 + 1)],
    ['a lone surrogate', 'a\ud800b'],
    ['NUL', 'a\0b'],
    ['a line break', 'a\nb'],
    ['a C1 control character', 'a\u0085b'],
    ['a slash', 'a/b'],
    ['a backslash', 'a\\b'],
    ['an encoded slash', 'a%2Fb'],
    ['an encoded backslash', 'a%5cb'],
    ['an encoded NUL', 'a%00b'],
    ['this folder', '.'],
    ['the folder above', '..'],
  ])('is refused when it is %s', (_what, id) => {
    expect(foreignId.safeParse(id).success).toBe(false);
  });
});

describe('short text', () => {
  it.each([
    ['NUL', 'a\0'],
    ['a lone surrogate', '\udc00'],
    ['too many bytes', 'é'.repeat(limits.textBytes / 2 + 1)],
  ])('is refused with %s', (_what, text) => {
    expect(shortText.safeParse(text).success).toBe(false);
  });

  it('may be empty, have lines, and be as long as allowed', () => {
    for (const text of ['', 'two\nlines', 'é'.repeat(limits.textBytes / 2)]) {
      expect(shortText.parse(text)).toBe(text);
    }
  });

  it('is measured as UTF-8 is', () => {
    const encoder = new TextEncoder();
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(utf8Length(text)).toBe(encoder.encode(text).length);
      }),
    );
  });
});
