import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ThroughlineError } from '../../errors.ts';
import type { Selector } from '../../model/resource.ts';
import { cut, intersect } from './index.ts';

const specs = {
  bytes: 'http://tools.ietf.org/rfc/rfc9110',
  text: 'http://tools.ietf.org/rfc/rfc5147',
  csv: 'http://tools.ietf.org/rfc/rfc7111',
  json: 'http://tools.ietf.org/rfc/rfc6901',
  time: 'http://www.w3.org/TR/media-frags/',
} as const;
const at = (spec: keyof typeof specs, value: string): Selector => ({
  conformsTo: specs[spec],
  value,
});
const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

async function partOf(content: string | Uint8Array, mediaType: string, selector: Selector) {
  const bytes = typeof content === 'string' ? encode(content) : content;
  const piece = await cut({ mediaType, bytes }, selector);
  return { ...piece, text: Buffer.from(piece.bytes).toString() };
}
async function faultOf(work: Promise<unknown> | (() => unknown)): Promise<unknown> {
  try {
    await (typeof work === 'function' ? work() : work);
    return 'done';
  } catch (error) {
    return error instanceof ThroughlineError ? error.code : error;
  }
}

describe('a part by bytes', () => {
  it('is from the first to the last that are named, or to the end', async () => {
    expect((await partOf('0123456789', 'text/plain', at('bytes', 'bytes=2-4'))).text).toBe('234');
    expect((await partOf('0123456789', 'text/plain', at('bytes', 'bytes=7-'))).text).toBe('789');
    expect((await partOf('0123456789', 'text/plain', at('bytes', 'bytes=8-99'))).text).toBe('89');
  });

  it('of what is no text is no longer of its type', async () => {
    const picture = await partOf('0123', 'image/png', at('bytes', 'bytes=1-2'));
    expect(picture.mediaType).toBe('application/octet-stream');
  });

  it('is text as long as no character was cut apart, and bytes otherwise', async () => {
    const of = (value: string) => partOf('aäb€', 'text/plain', at('bytes', value));
    expect(await of('bytes=1-2')).toMatchObject({ text: 'ä', mediaType: 'text/plain' });
    for (const value of ['bytes=0-1', 'bytes=2-', 'bytes=5-5']) {
      expect((await of(value)).mediaType).toBe('application/octet-stream');
    }
    const latin = new Uint8Array([0x66, 0xfc, 0x72]);
    const coded = 'text/plain; charset=iso-8859-1';
    expect((await partOf(latin, coded, at('bytes', 'bytes=1-1'))).mediaType).toBe(coded);
  });
});

describe('a part by positions in text', () => {
  const text = 'one\r\ntwo\nthrée\rfour';

  it.each([
    ['line=0,1', 'one\r\n'],
    ['line=1,3', 'two\nthrée\r'],
    ['line=,2', 'one\r\ntwo\n'],
    ['line=3,', 'four'],
    ['line=2,99', 'thrée\rfour'],
    // A line end is one character, however it is written.
    ['char=2,5', 'e\r\nt'],
    ['char=11,13', 'ée'],
    ['char=14,', 'four'],
    ['char=16,999999999999999', 'ur'],
    ['line=3,999999999999999', 'four'],
  ])('%s', async (value, expected) => {
    expect((await partOf(text, 'text/plain', at('text', value))).text).toBe(expected);
  });

  it('is cut out of JSON and XML too, and out of no picture and no other coding', async () => {
    const json = 'application/json';
    expect((await partOf('[\n1\n]', json, at('text', 'line=1,2'))).text).toBe('1\n');
    expect(await faultOf(partOf('x', 'image/png', at('text', 'line=0,1')))).toBe('unsupported');
    const latin = new Uint8Array([0x66, 0xfc, 0x72]);
    expect(await faultOf(partOf(latin, 'text/plain', at('text', 'char=0,1')))).toBe('unsupported');
  });
});

describe('a part by rows of CSV', () => {
  const csv = 'name,note\n"Ada","a\nb"\nBob,c\nEve,"d ""e"""\n';

  it.each([
    ['row=1', 'name,note\n'],
    ['row=2', '"Ada","a\nb"\n'],
    ['row=3-4', 'Bob,c\nEve,"d ""e"""\n'],
    ['row=3-*', 'Bob,c\nEve,"d ""e"""\n'],
    ['row=1;row=3', 'name,note\nBob,c\n'],
    ['row=3;row=1', 'name,note\nBob,c\n'],
    ['row=1-3;row=2;row=3-4;row=4-1000000000', csv],
    ['row=4-1000000000', 'Eve,"d ""e"""\n'],
  ])('%s', async (value, expected) => {
    const part = await partOf(csv, 'text/csv; charset=utf-8', at('csv', value));
    expect(part).toMatchObject({ text: expected, mediaType: 'text/csv; charset=utf-8' });
  });

  it('is cut out of nothing but CSV', async () => {
    expect(await faultOf(partOf(csv, 'text/plain', at('csv', 'row=1')))).toBe('unsupported');
  });
});

const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;

const memberOf = (text: string) => partOf(text, 'application/json', at('json', '/a/b'));

describe('a part by a JSON Pointer', () => {
  const json = JSON.stringify({ a: { 'b/c~d': [10, { e: 'x' }], '': 7 }, n: null });

  it.each([
    ['', json],
    ['/a/b~1c~0d/1', '{"e":"x"}'],
    ['/a/b~1c~0d/0', '10'],
    ['/a/', '7'],
    ['/n', 'null'],
    ['/a/b%7E1c%7E0d/1/e', '"x"'],
  ])('%j', async (value, expected) => {
    const part = await partOf(json, 'application/ld+json', at('json', value));
    expect(part).toMatchObject({ text: expected, mediaType: 'application/json' });
  });

  it.each(['/b', '/a/b~1c~0d/2', '/a/b~1c~0d/-', '/a/b~1c~0d/01', '/constructor', '/a/__proto__'])(
    'names nothing: %j',
    async (value) => {
      expect(await faultOf(partOf(json, 'application/json', at('json', value)))).toBe('invalid');
    },
  );

  it('is the value as it is written, with all of its digits and blanks', async () => {
    const text = ' {"n": [12345678901234567890 , 1.10], "s" : "a\\"]}" , "e": {} , "l":[ ] } ';
    const type = 'application/json';
    const of = async (value: string) => (await partOf(text, type, at('json', value))).text;
    expect(await of('/n/0')).toBe('12345678901234567890');
    expect(await of('/n')).toBe('[12345678901234567890 , 1.10]');
    expect(await of('/s')).toBe('"a\\"]}"');
    expect(await of('/e')).toBe('{}');
    expect(await of('/l')).toBe('[ ]');
    expect(await of('')).toBe(text.trim());
    expect((await partOf(deep(1_000), type, at('json', '/0'))).text).toBe(deep(999));
    expect(await faultOf(partOf(deep(1_001), type, at('json', '/0')))).toBe('unsupported');
    expect((await partOf('{"a":1,"a":2}', type, at('json', '/a'))).text).toBe('2');
  });

  it('of what is long and deep is found in one reading', async () => {
    const list = JSON.stringify(Array.from({ length: 300_000 }, (_, index) => index));
    const text = `${'['.repeat(900)}${list}${']'.repeat(900)}`;
    const part = await partOf(text, 'application/json', at('json', '/0'.repeat(900)));
    expect(part.text).toBe(list);
  });

  it('of members of one name is in the last of them, or nowhere', async () => {
    expect((await memberOf('{"a":{"b":1},"a":{"b":2}}')).text).toBe('2');
    expect(await faultOf(memberOf('{"a":{"b":1},"a":{"c":2}}'))).toBe('invalid');
    expect(await faultOf(memberOf('{"a":{"b":1},"a":3}'))).toBe('invalid');
    expect((await memberOf('{"a":{"b":1,"c":{"b":9}},"c":{"b":8}}')).text).toBe('1');
  });

  it('is what parsers find there, whatever the text', async () => {
    const key = fc.constantFrom('a', 'b/c', '~', '', 'ä', '"', '0');
    const path = fc.array(key, { maxLength: 3 });
    const value = fc.letrec<{ node: unknown }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<unknown>(1, -2.5e3, 'x,]}', true, null),
        fc.array(tie('node'), { maxLength: 3 }),
        fc.dictionary(key, tie('node'), { maxKeys: 4 }),
      ),
    })).node;
    await fc.assert(
      fc.asyncProperty(value, path, fc.constantFrom(0, 2), async (all, segments, blanks) => {
        const pointer = segments
          .map((each) => `/${encodeURIComponent(each.replaceAll('~', '~0').replaceAll('/', '~1'))}`)
          .join('');
        const expected = segments.reduce<unknown>(
          (inner, each) =>
            typeof inner === 'object' && inner !== null && Object.hasOwn(inner, each)
              ? Reflect.get(inner, each)
              : undefined,
          all,
        );
        const text = JSON.stringify(all, null, blanks);
        const part = partOf(text, 'application/json', at('json', pointer));
        if (expected === undefined) expect(await faultOf(part)).toBe('invalid');
        else expect(JSON.parse((await part).text)).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });

  it('is cut out of nothing but JSON', async () => {
    expect(await faultOf(partOf(json, 'text/plain', at('json', '/a')))).toBe('unsupported');
    expect(await faultOf(partOf('{', 'application/json', at('json', '/a')))).toBe('unsupported');
  });
});

describe('a selector', () => {
  it.each([
    at('bytes', 'bytes=5-2'),
    at('bytes', 'bytes=-5'),
    at('bytes', 'bytes=0-1,4-5'),
    at('bytes', 'bytes=0-9999999999999999'),
    at('bytes', '0-1'),
    at('text', 'line=1'),
    at('text', 'line=2,2'),
    at('text', 'line=0,1;length=9'),
    at('csv', 'row=0'),
    at('csv', 'row=2-1'),
    at('csv', 'col=1'),
    at('csv', Array.from({ length: 65 }, (_, row) => `row=${row * 2 + 1}`).join(';')),
    at('json', 'a'),
    at('json', '/a~2'),
    at('json', '/%ff'),
    at('time', 't=5,2'),
    at('time', 't=-1,2'),
    at('time', 't=clock:2009'),
    at('time', 'xywh=0,0,1,1'),
  ])('that is none is refused: $value', async (selector) => {
    expect(await faultOf(partOf('{"a":1}', 'application/json', selector))).toBe('invalid');
    expect(await faultOf(() => intersect(selector, undefined))).toBe('invalid');
  });

  it('of nothing that is there is refused', async () => {
    expect(await faultOf(partOf('01', 'text/plain', at('bytes', 'bytes=2-')))).toBe('invalid');
    expect(await faultOf(partOf('', 'text/plain', at('text', 'line=0,1')))).toBe('invalid');
    expect(await faultOf(partOf('a\n', 'text/csv', at('csv', 'row=2')))).toBe('invalid');
    const far = at('csv', 'row=999999999-1000000000');
    expect(await faultOf(partOf('a\n', 'text/csv', far))).toBe('invalid');
  });
});

describe('what two selectors both select', () => {
  it.each<[Selector, Selector, string | undefined]>([
    [at('bytes', 'bytes=0-9'), at('bytes', 'bytes=5-20'), 'bytes=5-9'],
    [at('bytes', 'bytes=5-'), at('bytes', 'bytes=0-'), 'bytes=5-'],
    [at('bytes', 'bytes=0-4'), at('bytes', 'bytes=5-9'), undefined],
    [at('text', 'line=2,8'), at('text', 'line=,4'), 'line=2,4'],
    [at('csv', 'row=1;row=5-9'), at('csv', 'row=1-6'), 'row=1-1;row=5-6'],
    [at('csv', 'row=2-*'), at('csv', 'row=4-*'), 'row=4-*'],
    [at('time', 't=1.5,9'), at('time', 't=npt:2.25'), 't=2.25,9'],
    [at('json', '/a'), at('json', '/a/b~1c'), '/a/b~1c'],
    [at('json', '/a/b'), at('json', ''), '/a/b'],
    [at('json', '/a/b'), at('json', '/a/c'), undefined],
  ])('%j and %j', async (one, two, expected) => {
    for (const [a, b] of [
      [one, two],
      [two, one],
    ] as const) {
      if (expected === undefined) expect(await faultOf(() => intersect(a, b))).toBe('invalid');
      else expect(intersect(a, b)).toEqual({ ...one, value: expected });
    }
  });

  it('is the one where there is one, and not to be told of two that count otherwise', async () => {
    expect(intersect(at('bytes', 'bytes=1-2'), undefined)).toEqual(at('bytes', 'bytes=1-2'));
    expect(intersect(undefined, undefined)).toBeUndefined();
    const mixed = () => intersect(at('bytes', 'bytes=1-2'), at('text', 'line=0,1'));
    expect(await faultOf(mixed)).toBe('unsupported');
    const other = () => intersect(at('json', '/a'), at('text', 'line=0,1'));
    expect(await faultOf(other)).toBe('unsupported');
  });

  it('is never more than either', async () => {
    const text = Array.from({ length: 30 }, (_, line) => `line ${line}`).join('\n');
    const range = fc.tuple(fc.nat(40), fc.nat(40));
    const axis = fc.constantFrom<[keyof typeof specs, (a: number, b: number) => string]>(
      ['bytes', (a, b) => `bytes=${a}-${b}`],
      ['text', (a, b) => `line=${a},${b}`],
      ['text', (a, b) => `char=${a},${b}`],
    );
    const plain = async (selector: Selector) =>
      (await partOf(text, 'text/plain', selector).catch(() => ({ text: '' }))).text;
    await fc.assert(
      fc.asyncProperty(axis, range, range, async ([spec, write], one, two) => {
        const [a, b] = [at(spec, write(...one)), at(spec, write(...two))];
        let both: Selector | undefined;
        try {
          both = intersect(a, b);
        } catch {
          return;
        }
        const part = await plain(both ?? a);
        expect(await plain(a)).toContain(part);
        expect(await plain(b)).toContain(part);
      }),
      { numRuns: 200 },
    );
  });
});
