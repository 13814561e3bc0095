import { describe, expect, it } from 'vitest';
import { parseIJson, parseIJsonBytes } from './i-json.ts';

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

describe('reading JSON from outside', () => {
  it.each([
    ['{"a":[1,2.5,-3e10,true,null,"é😀"],"b":{"a":1}}'],
    ['{"a\\u0062":"\\"{[:,]}\\"","c":"\\\\"}'],
    ['{"a":{"x":1},"b":{"x":1},"c":["x","x"]}'],
    ['"text"'],
    ['9007199254740991'],
    ['[123456789012345,1234567890123456,-0.12345678901234567890,1E5,-1]'],
    ['{"a\\"b":{"a\\\\":[{}]},"a\\\\":{"a\\\\":true}}'],
    [' [ ] '],
    [nested(32)],
  ])('reads %s as JSON.parse does', (text) => {
    expect(parseIJson(text)).toEqual(JSON.parse(text));
  });

  it.each([
    ['the same key twice', '{"a":1,"a":2}'],
    ['the same key twice', '{"a":1,"\\u0061":2}'],
    ['the same key twice', '{"a/":1,"a\\/":2}'],
    ['the same key twice', '{"a\\\\":1,"b":[],"a\\\\":2}'],
    ['the same key twice', '[{"x":{"a":1, "b":{"a":2}, "a" :3}}]'],
    ['a lone surrogate', '{"a":"\\ud800"}'],
    ['a lone surrogate', '{"\\udfff":1}'],
    ['a lone surrogate', `"${String.fromCharCode(0xd800)}"`],
    ['more than 32 levels', nested(33)],
    ['more than 32 levels', '{"a":'.repeat(100_000)],
    ['an integer', '{"a":9007199254740993}'],
    ['an integer', '[-9007199254740992]'],
    ['a number', '{"a":1e400}'],
    ['a number', `[-${'9'.repeat(400)}.5]`],
  ])('refuses %s: %s', (reason, text) => {
    expect(() => parseIJson(text)).toThrow(reason);
  });

  it.each(['', '{', '{"a":1', '{"a" 1}', 'nul', '{"a":"\\x"}', '"abc', '[1,]', '{"a":"\n"}'])(
    'calls %j no JSON',
    (text) => {
      expect(() => parseIJson(text)).toThrow(SyntaxError);
    },
  );

  it('calls bytes that are not UTF-8 no JSON', () => {
    expect(() => parseIJsonBytes(Uint8Array.of(0x22, 0xff, 0x22))).toThrow(SyntaxError);
  });

  it('gives up at a string without an end where it begins, however long it is', () => {
    const endless = `"${'\\"'.repeat(2_000_000)}`;
    expect(() => parseIJson(endless)).toThrow('no JSON at character 0');
    expect(() => parseIJson(`{"a": ${endless}`)).toThrow('no JSON at character 5');
  });

  it('takes a long string without trouble', () => {
    const text = JSON.stringify({ a: 'x"\\'.repeat(500_000) });
    expect(parseIJson(text)).toEqual(JSON.parse(text));
  });
});
