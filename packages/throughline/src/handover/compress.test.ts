import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { priorities, type CompressionPolicy } from '../model/agent-context.ts';
import { makeAgentContext } from './agent-context.ts';
import { compress, rewriteRequests, type FetchedItem } from './compress.ts';
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

  it.each([
    ['LossTolerance', 'nothing', 'unsupported'],
    ['LossTolerance', undefined, 'unsupported'],
    ['TargetRatio', '0.5', 'invalid'],
    ['TargetRatio', undefined, 'invalid'],
    ['TargetRatio', Number.NaN, 'invalid'],
    ['TargetRatio', Number.POSITIVE_INFINITY, 'invalid'],
    ['MustPreserveFields', undefined, 'invalid'],
    ['MustPreserveFields', [1], 'invalid'],
  ])('refuses a policy whose %s is %j', (field, value, code) => {
    const wrong = Object.assign(policy(0.5), { [field]: value });
    expect(() => compress(items, wrong)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(field) }),
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

const json = (value: unknown): FetchedItem => {
  const made = item('rows', 'compressible', JSON.stringify(value, undefined, 2));
  return { ...made, item: { ...made.item, MediaType: 'application/json' } };
};
const preserving = (...fields: string[]): CompressionPolicy => ({
  ...policy(0.1),
  MustPreserveFields: fields,
});

const prose = [
  'The gold card pays cash back of two percent.',
  'It is paid in May.',
  'The bank was founded in a small town.',
  'Its halls are made of marble.',
  'Nobody knows the architect.',
  'Many visitors come in summer.',
  'The blue card pays no cash back at all.',
  'A museum stands beside it.',
].join(' ');
const document = item('doc', 'compressible', prose);
const asked = { queries: ['Which cash back does the gold card pay?'] };

describe('shrinking what is compressible', () => {
  it('keeps what answers the queries, unchanged and in order, and marks the gaps', () => {
    const { items, report } = compress([document], policy(0.4), asked);
    expect(items[0]?.text).toBe(
      'The gold card pays cash back of two percent. […] The blue card pays no cash back at all. […]',
    );
    expect(items[0]?.item.ContextURI).toBe('https://hub.test/content/doc');
    expect(report.items[0]).toMatchObject({
      did: 'extracted',
      strategy: 'bm25',
      leftOut: { units: 6, of: 8, gaps: 2 },
    });
    expect(report.after).toBeLessThanOrEqual(report.target ?? 0);
    expect(report.tokenizer).toBe('o200k_base');
    expect(report.missed).toBeUndefined();
  });

  it('keeps paths and commands that are asked for as they stand', () => {
    const command = 'npx throughline serve --data ./hub --store "postgres://db.example/hub?ssl=1"';
    const path = '/srv/hub/keys/2031-05/domain.key~old (copy).pem';
    const log = Array.from({ length: 60 }, (_, at) => `${at} The weather was fine again.`);
    log.splice(12, 0, `To start the hub, this command was run: ${command}`);
    log.splice(41, 0, `The domain key was found in the file ${path}`);
    const long = item('log', 'compressible', log.join('\n'));
    const queries = ['With which command was the hub started?', 'In which file is the domain key?'];
    const { items, report } = compress([long], policy(0.25), { queries });
    expect(items[0]?.text).toContain(command);
    expect(items[0]?.text).toContain(path);
    expect(report.items[0]?.leftOut?.units).toBeGreaterThan(40);
    expect(items[0]?.item.ContextURI).toBe('https://hub.test/content/log');
  });

  it('asks what the todo items ask, each with its share of the budget', () => {
    const context = makeAgentContext({
      agent: { id: 'a', name: 'A' },
      subtask: { id: 's', name: 'Cards' },
      dependencies: [],
      items: [document.item],
      todo: [
        { id: '1', description: 'Cash back of the gold card' },
        { id: '2', description: 'Who was the architect?' },
      ],
      criteria: [],
      confidence: 0.5,
    });
    const text = compress([document], policy(0.4), { context }).items[0]?.text ?? '';
    expect(text).toContain('gold card');
    expect(text).toContain('architect');
  });

  it('lets nothing go at a ratio of 1', () => {
    const binary = item('odd', 'discardable', 'text');
    expect(compress([document, binary], policy(1)).items).toEqual([document, binary]);
  });

  it.each([0, -1, 7, Number.NaN, Number.POSITIVE_INFINITY])(
    'refuses a TargetRatio of %d',
    (ratio) => {
      expect(() => compress([document], policy(ratio))).toThrow(
        /TargetRatio is .*above 0 and up to 1/,
      );
    },
  );

  it('leaves the reference where nothing fits beside what must be preserved, and says so', () => {
    const { items, report } = compress(
      [item('law', 'must_preserve', words(500)), document],
      policy(0.1),
      asked,
    );
    expect(items[1]).toEqual({ item: document.item });
    expect(report.missed).toMatch(/must_preserve items have 500 tokens/);
    expect(report.items[1]?.notes).toEqual(['Nothing of it was among what fits the budget.']);
  });

  it('keeps pinned facts wherever they stand, also in what could be discarded', () => {
    const pinned = ['Nobody knows the architect.', 'not said anywhere'];
    const chatter = item('chatter', 'discardable', prose);
    const { items, report } = compress([document, chatter], policy(0.2), { ...asked, pinned });
    expect(items.map(({ text }) => text?.includes('Nobody knows the architect.'))).toEqual([
      true,
      true,
    ]);
    expect(report.pinned).toEqual([
      { fact: 'Nobody knows the architect.', in: ['doc', 'chatter'] },
      { fact: 'not said anywhere', in: [] },
    ]);
  });

  it('keeps pinned facts byte for byte over any number of folds', () => {
    const fact = 'paid in May. The bank';
    let text = prose;
    for (let fold = 0; fold < 10; fold++) {
      const { items } = compress([item('doc', 'compressible', text)], policy(0.8), {
        pinned: [fact],
      });
      text = items[0]?.text ?? '';
    }
    expect(text).toContain(fact);
    expect(text.length).toBeLessThan(prose.length);
  });

  it('does not destroy text in scripts without spaces', () => {
    const chinese = '现金返还每月支付。银行在小镇成立。大厅是大理石的。没有人认识建筑师。';
    const { items } = compress([item('zh', 'compressible', chinese)], policy(0.5), {
      queries: ['现金返还何时支付'],
    });
    expect(items[0]?.text).toMatch(/^现金返还每月支付。/);
  });
});

describe('fields that must be preserved', () => {
  const context = makeAgentContext({
    agent: { id: 'a', name: 'A' },
    subtask: { id: 's', name: 'S' },
    dependencies: ['res-terms'],
    items: [document.item],
    todo: [{ id: '1', description: 'Cash back' }],
    criteria: [],
    confidence: 0.5,
  });

  it('are in the report verbatim, and unknown ones are named', () => {
    const fields = ['Dependencies', 'ContextItems[].Description', 'Nonsense', 'KeyInformation'];
    const { report } = compress([document], preserving(...fields), { context });
    expect(report.preserved).toEqual([
      { path: 'Dependencies', values: [['res-terms']] },
      { path: 'ContextItems[].Description', values: ['doc'] },
      { path: 'KeyInformation', values: [[]] },
    ]);
    expect(report.unmatched).toEqual(['Nonsense']);
  });

  it('leave the reference of a discardable item when they are the items’ own', () => {
    const chatter = item('chatter', 'discardable', words(30));
    const { items } = compress([chatter], preserving('ContextItems[].Description'));
    expect(items).toEqual([{ item: chatter.item }]);
  });

  it('are named where nothing has them, whatever was asked for otherwise', () => {
    for (const ratio of [1, 0.5]) {
      const fields = preserving('ContextItems[9].Description', '[].nope');
      const { report } = compress([document], { ...fields, TargetRatio: ratio }, { context });
      expect(report.unmatched).toEqual(['ContextItems[9].Description', '[].nope']);
    }
  });

  it.each([
    ['application/jsonl', '{"id":1}\n{"no":2}\n{"no":3}\n'],
    ['text/csv', '"id";no\n1;2\n3;4\n'],
  ])('keep %s whole that has them', (MediaType, text) => {
    const rows = { item: { ...document.item, MediaType }, text };
    const { items, report } = compress([rows], preserving('id'));
    expect(items[0]).toEqual(rows);
    expect(report.unmatched).toEqual([]);
    expect(compress([rows], preserving('other')).items[0]).not.toEqual(rows);
  });

  it('keep JSON whole that has them', () => {
    const rows = json([{ id: 1 }, { id: 2 }]);
    const { items, report } = compress([rows], preserving('[].id'));
    expect(items[0]).toEqual(rows);
    expect(report.missed).toMatch(/fields of MustPreserveFields/);
  });
});

describe('structured content', () => {
  const rows = Array.from({ length: 40 }, (_, at) => ({
    id: at,
    shop: at === 17 ? 'Copperhill Books' : `Shop ${at}`,
    paid: at * 10,
  }));

  it('is written smaller before anything is left out', () => {
    const { items, report } = compress([json(rows)], { ...policy(0.6), LossTolerance: 'none' });
    expect(items[0]?.mediaType).toBe('text/csv');
    expect(items[0]?.text?.split('\n')).toHaveLength(41);
    expect(report.items[0]).toMatchObject({ did: 'encoded', strategy: 'csv' });
  });

  it('loses nothing at LossTolerance none, and says what that misses', () => {
    const strict: CompressionPolicy = { ...policy(0.1), LossTolerance: 'none' };
    const { items, report } = compress([document, json(rows)], strict, asked);
    expect(items[0]?.text).toBe(prose);
    expect(report.missed).toMatch(/LossTolerance none/);
  });

  it('is reduced to the rows that matter, under its header', () => {
    const queries = ['What was paid at Copperhill Books?'];
    const { items } = compress([json(rows)], policy(0.1), { queries });
    const lines = items[0]?.text?.split('\n') ?? [];
    expect(lines[0]).toBe('id,shop,paid');
    expect(lines).toContain('17,Copperhill Books,170');
    expect(lines).toContain('[…]');
  });

  it('keeps a call with its result', () => {
    const messages = [
      ...Array.from({ length: 20 }, (_, at) => ({ role: 'user', content: `Small talk ${at}` })),
      {
        role: 'assistant',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'rates' } }],
      },
      { role: 'user', content: 'waiting' },
      { role: 'tool', tool_call_id: 'c1', content: 'The gold card pays two percent cash back' },
    ];
    const { items } = compress([json(messages)], policy(0.3), asked);
    const text = items[0]?.text ?? '';
    expect(text).toContain('two percent');
    expect(text).toContain('"tool_calls"');
    expect(() => JSON.parse(text)).not.toThrow();
  });

  it.each([
    ['text/x-python', 'print(1)\n'.repeat(50), /code/],
    ['application/json', `{"broken${words(90)}`, /declared as JSON/],
  ])('keeps %s whole or leaves its reference, and says why', (mediaType, text, reason) => {
    const made = item('whole', 'compressible', text);
    const whole = { ...made, item: { ...made.item, MediaType: mediaType } };
    const { items, report } = compress([whole, document], policy(0.1), asked);
    expect(items[0]).toEqual({ item: whole.item });
    expect(report.items[0]?.notes[0]).toMatch(reason);
  });
});

describe('what is not read', () => {
  it.each([
    ['NUL bytes', { text: 'PK\u0000\u0003' }],
    ['bytes that did not decode', { text: '\ufffd\ufffdabc' }],
    ['bytes', { bytes: new Uint8Array(3) }],
  ])('is said of binary where text is declared: %s', (_, content) => {
    const { items, report } = compress([{ item: document.item, ...content }], undefined);
    expect(items).toEqual([{ item: document.item }]);
    expect(report.items[0]).toMatchObject({ did: 'reference', before: 0 });
    expect(report.items[0]?.unread).toMatch(/text\/plain is declared/);
  });

  it('is said of media, of what could not be had, and of what was not given', () => {
    const image = { ...document.item, ContextID: 'image', MediaType: 'image/png' };
    const gone = { ...document.item, ContextID: 'gone' };
    const context = makeAgentContext({
      agent: { id: 'a', name: 'A' },
      subtask: { id: 's', name: 'S' },
      dependencies: [],
      items: [image, gone, document.item],
      todo: [],
      criteria: [],
      confidence: 0.5,
    });
    const given: FetchedItem[] = [
      { item: image, bytes: new Uint8Array(3) },
      { item: gone, unread: 'its content has expired' },
    ];
    const { report } = compress(given, undefined, { context });
    expect(report.items.map(({ unread }) => unread)).toEqual([
      'image/png is not read as text',
      'its content has expired',
      'its content was not given',
    ]);
  });
});

const page = (body: string): FetchedItem => {
  const html = `<html><body><h1>Card</h1>${body}</body></html>`;
  const { item: plain } = item('doc', 'compressible', html);
  return { item: { ...plain, MediaType: 'text/html' }, text: html };
};

describe('rewrites from outside', () => {
  const high: CompressionPolicy = { ...policy(0.3), LossTolerance: 'high' };
  const pinned = ['two percent'];
  const options = { ...asked, pinned };
  const rewrite = (text: string, kind: 'summariser' | 'compressor' = 'summariser') => ({
    contextId: 'doc',
    kind,
    by: 'a-model',
    text,
    read: prose.length,
  });

  it('are asked for with a budget, the queries and the pinned facts', () => {
    expect(rewriteRequests([document], policy(0.3), options)).toEqual([]);
    const [request] = rewriteRequests([document], high, options);
    expect(request).toMatchObject({ contextId: 'doc', text: prose, pinned, ...asked });
    expect(request?.budget).toBe(Math.floor(countTokens(prose) * 0.3));
  });

  const styled = `<p class="${'x '.repeat(40)}">${prose.replaceAll('two percent', '<b>two percent</b>')}</p>`;

  it('are asked for of a page as the Markdown that it became', () => {
    const [request] = rewriteRequests([page(styled)], high, { ...asked });
    expect(request?.mediaType).toBe('text/markdown');
    expect(request?.text).toMatch(/^# Card\n/);
    expect(request?.text).not.toMatch(/<p|class=/);
    // What a compressor may leave words out of is what it was given, markup is no word of it.
    const whole = request?.text ?? '';
    const made = { contextId: 'doc', kind: 'compressor' as const, by: 'a-model', read: 12 };
    const first = { ...made, text: whole.split(' ').slice(0, 20).join(' ') };
    const { report } = compress([page(styled)], high, { ...asked, rewrites: [first] });
    expect(report.items[0]).toMatchObject({ did: 'rewritten', strategy: 'compressor a-model' });
    expect(report.items[0]?.notes).toEqual([`a-model read 12 of ${whole.length} characters.`]);
  });

  it('are not asked for where Markdown alone is short enough', () => {
    const heavy = page(`<p class="${'x '.repeat(2_000)}">Gold: two percent.</p>`);
    expect(rewriteRequests([heavy], high, { ...asked })).toEqual([]);
    expect(compress([heavy], high, { ...asked }).report.items[0]?.strategy).toBe('markdown');
  });

  it('are asked for of the source where Markdown would lose a pinned fact', () => {
    const inMarkup = page(`<p data-rate="two percent in May">${prose}</p>`);
    const pinnedThere = { ...asked, pinned: ['data-rate="two percent in May"'] };
    const [request] = rewriteRequests([inMarkup], high, pinnedThere);
    expect(request).toMatchObject({ mediaType: 'text/html', text: expect.stringContaining('<p') });
  });

  it('are taken over when they hold, and what they did not read is said', () => {
    const rewrites = [{ ...rewrite('Gold: two percent.'), read: 10 }];
    const { items, report } = compress([document], high, { ...options, rewrites });
    expect(items[0]?.text).toBe('Gold: two percent.');
    expect(report.items[0]).toMatchObject({ did: 'rewritten', strategy: 'summariser a-model' });
    expect(report.items[0]?.notes).toEqual([`a-model read 10 of ${prose.length} characters.`]);
  });

  it.each([
    ['lost a fact', high, rewrite('Gold pays.'), /lost 1 pinned/],
    ['are empty', high, rewrite(' '), /empty/],
    ['are too long', high, rewrite(prose), /tokens/],
    [
      'are of a kind the tolerance forbids',
      { ...high, LossTolerance: 'medium' },
      rewrite('two percent'),
      /not allowed/,
    ],
    [
      'added words, though only leaving out is allowed',
      high,
      rewrite('two percent dragon', 'compressor'),
      /not in the text/,
    ],
  ] as const)('are refused when they %s, and extraction does the work', (_, by, made, reason) => {
    const { items, report } = compress([document], by, { ...options, rewrites: [made] });
    expect(report.items[0]?.did).toBe('extracted');
    expect(report.items[0]?.notes[0]).toMatch(reason);
    expect(items[0]?.text).toContain('two percent');
  });
});
