import { describe, expect, it } from 'vitest';
import { limits } from '../model/limits.ts';
import { parseJson } from './json.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

describe('JSON from outside', () => {
  it.each([
    '{"a":[1,2,{"b":"x\\"y, {\\"a\\":1}"}],"c":null}',
    '"\\ud83d\\ude00 and 😀"',
    '{"a":{"a":1},"b":[{"a":1},{"a":2}]}',
    ' 1e3 ',
    nested(limits.jsonDepth),
  ])('is read as JSON.parse reads it: %s', (text) => {
    expect(parseJson(bytes(text))).toEqual(JSON.parse(text));
  });

  it.each([
    ['is nested too deep', nested(limits.jsonDepth + 1), 'levels deep'],
    ['is nested far too deep', nested(100_000), 'levels deep'],
    ['is objects nested too deep', '{"a":'.repeat(40) + '1' + '}'.repeat(40), 'levels deep'],
    ['has a key twice', '{"a":1,"b":2,"a":3}', 'twice'],
    ['has a key twice, written in two ways', '{"a":1,"\\u0061":3}', 'twice'],
    ['holds a lone surrogate', '{"a":"\\ud800"}', 'surrogate'],
    ['holds a lone surrogate in a key', '{"\\udc00":1}', 'surrogate'],
    ['is cut short', '{"a":', 'well-formed'],
    ['has text behind it', '{} {}', 'well-formed'],
    ['is empty', '', 'well-formed'],
    ['has a string without end', '{"a":"b', 'well-formed'],
    ['has an escape that JSON does not know', '{"\\x":1}', 'well-formed'],
  ])('is refused when it %s', (_, text, reason) => {
    expect(() => parseJson(bytes(text))).toThrow(
      expect.objectContaining({ code: 'invalid', message: expect.stringContaining(reason) }),
    );
  });

  it('is refused when it is not UTF-8', () => {
    expect(() => parseJson(new Uint8Array([0x22, 0xff, 0x22]))).toThrow('is not UTF-8');
    expect(() => parseJson(new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22]))).toThrow('is not UTF-8');
  });
});
