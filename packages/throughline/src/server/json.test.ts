import { describe, expect, it } from 'vitest';
import { bodyDepth, parseJson } from './json.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

describe('the JSON of a body', () => {
  it.each(['{"a":[1,2,{"b":"x\\"y, {"}],"c":null}', '"\\ud83d\\ude00 and 😀"', nested(bodyDepth)])(
    'is read as JSON.parse reads it: %s',
    (text) => {
      expect(parseJson(bytes(text))).toEqual(JSON.parse(text));
    },
  );

  it.each([
    ['is nested too deep', nested(bodyDepth + 1), 'levels'],
    ['is nested far too deep', nested(100_000), 'levels'],
    ['has a key twice', '{"a":1,"b":2,"a":3}', 'twice'],
    ['holds a lone surrogate', '{"a":"\\ud800"}', 'surrogate'],
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
    expect(() => parseJson(new Uint8Array([0x22, 0xff, 0x22]))).toThrow('in UTF-8');
  });
});
