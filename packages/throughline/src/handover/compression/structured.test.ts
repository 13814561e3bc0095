import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compress } from '../compress.ts';
import { countTokens } from '../count-tokens.ts';
import { callGroups } from './calls.ts';
import { cutCsv, cutJson, cutJsonLines, minifyJson } from './structured.ts';
import type { Cut } from './units.ts';

const texts = ({ units }: Cut): string[] => units.map((unit) => unit.text);

describe('cutting JSON', () => {
  it('takes only white space out, and none from strings', () => {
    const text = '{ "a b" : [ 1.0, 12345678901234567890, "x \\" y" ] ,\n"a b": null }';
    expect(minifyJson(text)).toBe('{"a b":[1.0,12345678901234567890,"x \\" y"],"a b":null}');
  });

  it('says the same minified, whatever the value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(minifyJson(JSON.stringify(value, undefined, 3))).toBe(JSON.stringify(value));
      }),
    );
  });

  it('cuts between the rows that make up most of it and keeps what is around them', () => {
    const cut = cutJson('{"page":1,"rows":[{"a":"],["},{"a":2},{"a":3}],"end":true}', countTokens);
    expect(texts(cut)).toEqual(['{"page":1,"rows":[', '{"a":"],["}', '{"a":2}', '{"a":3}']);
    expect(cut.join([0, 2]).join('')).toBe('{"page":1,"rows":["[…]",{"a":2},"[…]"],"end":true}');
    expect(cut.join([0, 1, 2, 3]).join('')).toBe(
      '{"page":1,"rows":[{"a":"],["},{"a":2},{"a":3}],"end":true}',
    );
  });

  it('cuts between members where rows are kept by key, and stays JSON', () => {
    const cut = cutJson('{"k1":{"n":1},"k2":{"n":2},"k3":{"n":3}}', countTokens);
    expect(JSON.parse(cut.join([0, 2]).join(''))).toEqual({ '[…]': 0, k2: { n: 2 } });
  });

  it.each(['"a scalar"', '[]', '{"one":1}', '[[[1]]]'])('keeps %s whole', (json) => {
    expect(texts(cutJson(json, countTokens))).toEqual([json]);
  });

  it('gives up going down at some depth, and keeps the whole', () => {
    const deep = `${'['.repeat(150_000)}${']'.repeat(150_000)}`;
    expect(cutJson(deep, () => 1).units).toHaveLength(1);
  });

  it('joins all rows to the same text, whatever the value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = JSON.stringify(value);
        const cut = cutJson(json, countTokens);
        expect(cut.join([...cut.units.keys()]).join('')).toBe(json);
      }),
    );
  });
});

const callId = (turn: number, call: number): string => `call-${turn}-${call}.`;

/** Small talk, then so many calls at once and their results, as a framework writes them. */
function turnOf({ calls, style }: { calls: number; style: string }, at: number): object[] {
  const ids = Array.from({ length: calls }, (_, of) => callId(at, of));
  const talk = { role: 'user', content: `Small talk ${at} about the weather and the card` };
  if (calls === 0) return [talk];
  const rate = 'The gold card pays two percent cash back';
  return style === 'openai'
    ? [
        talk,
        { role: 'assistant', tool_calls: ids.map((id) => ({ id, type: 'function' })) },
        ...ids.map((id) => ({ role: 'tool', tool_call_id: id, content: rate })),
      ]
    : [
        talk,
        { role: 'assistant', content: ids.map((id) => ({ type: 'tool_use', id, name: 'rates' })) },
        {
          role: 'user',
          content: ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: rate })),
        },
      ];
}

/** What is left of a transcript that is asked about cash back. */
function compressed(messages: readonly object[], TargetRatio: number, isLines: boolean): string {
  const text = isLines
    ? messages.map((each) => JSON.stringify(each)).join('\n')
    : JSON.stringify(messages);
  const item = {
    ContextID: 'transcript',
    ContextType: 'text' as const,
    MediaType: isLines ? 'application/x-ndjson' : 'application/json',
    ContextURI: 'https://hub.test/content/transcript',
    Description: 'Transcript',
    Priority: 'compressible' as const,
  };
  const policy = {
    Strategy: 'target_ratio',
    TargetRatio,
    LossTolerance: 'low' as const,
    MustPreserveFields: [],
  };
  const queries = ['Which cash back does the gold card pay?'];
  return compress([{ item, text }], policy, { queries }).items[0]?.text ?? '';
}

describe('calls and their results', () => {
  it.each([
    [
      'as OpenAI writes them, in parallel',
      [
        { role: 'user', content: 'hi' },
        { role: 'assistant', tool_calls: [{ id: 'a', type: 'function' }, { id: 'b' }] },
        { role: 'tool', tool_call_id: 'b' },
        { role: 'user', content: 'wait' },
        { role: 'tool', tool_call_id: 'a' },
      ],
      [1, 2, 4],
    ],
    [
      'as Anthropic writes them',
      [
        { content: [{ type: 'tool_use', id: 'u1', name: 'f' }] },
        { content: [{ type: 'tool_result', tool_use_id: 'u1' }] },
        { content: 'thanks' },
      ],
      [0, 1],
    ],
    [
      'as the AI SDK writes them',
      [{ type: 'tool-call', toolCallId: 'x' }, {}, { type: 'tool-result', toolCallId: 'x' }],
      [0, 2],
    ],
    [
      'as the Responses API writes them',
      [
        { type: 'function_call', call_id: 'c', id: 'fc' },
        { type: 'function_call_output', call_id: 'c' },
      ],
      [0, 1],
    ],
    ['by number', [{ tool_calls: [{ id: 7, type: 'function' }] }, {}, { tool_call_id: 7 }], [0, 2]],
    [
      'as MCP writes them',
      [
        { jsonrpc: '2.0', id: 3, method: 'tools/call' },
        { jsonrpc: '2.0', method: 'notifications/progress' },
        { jsonrpc: '2.0', id: 3, result: {} },
      ],
      [0, 2],
    ],
    [
      'as Gemini writes them, without ids',
      [
        { parts: [{ functionCall: { name: 'g' } }] },
        { parts: [{ functionCall: { name: 'f' } }] },
        { parts: [{ text: 'wait' }] },
        { parts: [{ functionResponse: { name: 'f' } }] },
        { parts: [{ functionCall: { name: 'f' } }] },
      ],
      [1, 3],
    ],
    [
      'as OpenAI wrote them before',
      [{ function_call: { name: 'f' } }, {}, { role: 'function', name: 'f' }],
      [0, 2],
    ],
  ])('stay together %s', (_, rows, together) => {
    const ring = callGroups(rows.map((row) => JSON.stringify(row)));
    const reached = new Set<number>();
    for (let at = together[0] ?? 0; !reached.has(at); at = ring[at]?.[0] ?? at) reached.add(at);
    expect([...reached].toSorted((a, b) => a - b)).toEqual(together);
    for (const [at, next] of ring.entries()) {
      if (!together.includes(at)) expect(next).toEqual([]);
    }
  });

  it('stay together where the result is most of the text', () => {
    const result = { role: 'tool', tool_call_id: 'x', content: 'long '.repeat(200) };
    const call = { role: 'assistant', tool_calls: [{ id: 'x', type: 'function' }] };
    for (const [value, units] of [
      [[{ role: 'user' }, call, result, { role: 'user' }], 5],
      [{ call: { type: 'function', id: 'x' }, user: 1, result }, 4],
    ] as const) {
      const cut = cutJson(JSON.stringify(value), countTokens);
      expect(cut.units).toHaveLength(units);
      const place = cut.units.findIndex(({ text }) => text.includes('tool_call_id'));
      expect(cut.units[place]?.along).toHaveLength(2);
    }
  });

  it('are looked at once where they are very many with one id', () => {
    const lines = Array.from({ length: 20_000 }, (_, at) => ({ tool_call_id: 'x', at }));
    const text = lines.map((line) => JSON.stringify(line)).join('\n');
    expect(compressed(lines, 0.5, true)).toBe('');
    expect(compressed(lines, 1, true)).toBe(text);
  });

  it('are left out together or not at all, however many there are at once', () => {
    const turn = fc.record({ calls: fc.nat(3), style: fc.constantFrom('openai', 'anthropic') });
    const turns = fc.array(turn, { minLength: 3, maxLength: 12 });
    const ratios = fc.double({ min: 0.1, max: 0.9, noNaN: true });
    const keepingSome = new Set<boolean>();
    fc.assert(
      fc.property(turns, ratios, fc.boolean(), (given, ratio, isLines) => {
        const text = compressed(given.flatMap(turnOf), ratio, isLines);
        for (const [at, { calls }] of given.entries()) {
          const seen = Array.from({ length: calls }, (_, of) => text.split(callId(at, of)).length);
          // Once where it is called, and once where it is answered.
          expect([[], seen.map(() => 1), seen.map(() => 3)]).toContainEqual(seen);
          for (const each of seen) keepingSome.add(each === 3);
        }
      }),
      { numRuns: 60 },
    );
    expect(keepingSome.size).toBe(2);
  });
});

describe('cutting lines', () => {
  it('cuts CSV between records, not at a quoted line end, the header along', () => {
    const cut = cutCsv('id,text\n1,"a\nb"\n2,"c ""d"""\n3,e\n', countTokens);
    expect(texts(cut)).toEqual(['id,text\n', '1,"a\nb"\n', '2,"c ""d"""\n', '3,e\n']);
    expect(cut.join([0, 2]).join('')).toBe('id,text\n[…]\n2,"c ""d"""\n[…]\n');
    expect(cut.units[3]?.along).toEqual([0]);
  });

  it('takes a quote inside of a cell for a character', () => {
    const records = ['name;size\n', 'pipe;5" wide\n', 'a;"b\nc"\n', '"d ""e""";f\n', 'g\n'];
    expect(texts(cutCsv(records.join(''), countTokens))).toEqual(records);
  });

  it('cuts JSON Lines between the lines', () => {
    const cut = cutJsonLines('{"a":1}\n{"a":2}\n', countTokens);
    expect(cut.join([0, 2]).join('')).toBe('[…]\n{"a":2}\n');
  });
});
