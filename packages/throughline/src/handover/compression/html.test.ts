import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compress, type FetchedItem } from '../compress.ts';
import { htmlToMarkdown } from './html.ts';

const page = `<!doctype html><html><head><title>Rates</title><style>p { color: red }</style>
<script>track("visitor")</script></head><body><nav><a href="/">Home</a></nav>
<h1>Cards</h1><p>We are a bank in the old town. It was founded by <b>three</b> sisters.</p>
<p>The gold_card pays 2&nbsp;% cash back &amp; has no fee.</p>
<table><thead><tr><th>Card</th><th>Fee</th></tr></thead>
<tr><td>Gold</td><td>0</td></tr><tr><td>Blue</td><td>12</td></tr></table></body></html>`;

const item = (text: string): FetchedItem => ({
  item: {
    ContextID: 'page',
    ContextType: 'document',
    MediaType: 'text/html; charset=utf-8',
    ContextURI: 'https://hub.example/content/page',
    Description: '',
    Priority: 'compressible',
  },
  text,
});
const reduced = (
  text: string,
  TargetRatio: number,
  pinned: string[] = [],
  LossTolerance: 'none' | 'low' = 'low',
) =>
  compress(
    [item(text)],
    { Strategy: 'target_ratio', TargetRatio, LossTolerance, MustPreserveFields: [] },
    { queries: ['How much does the gold card pay back?'], pinned },
  );

describe('HTML', () => {
  it('becomes Markdown where that is enough, with headings and tables, without scripts', () => {
    const { items, report } = reduced(page, 0.6);
    expect(items[0]?.mediaType).toBe('text/markdown');
    expect(items[0]?.text).toContain('# Cards');
    expect(items[0]?.text).toMatch(/\| Gold +\| 0 +\|/);
    expect(items[0]?.text).toContain('The gold_card pays');
    expect(items[0]?.text).not.toMatch(/track|color|<p>/);
    expect(report.items[0]).toMatchObject({ did: 'encoded', strategy: 'markdown' });
  });

  it('is extracted from as Markdown where it must be shorter still', () => {
    const { items, report } = reduced(page, 0.17);
    expect(items[0]?.text).toContain('cash back & has no fee.');
    expect(items[0]?.text).not.toContain('sisters');
    expect(report.items[0]).toMatchObject({ did: 'extracted', strategy: 'bm25' });
    expect(report.missed).toBeUndefined();
  });

  it('stays as it is where nothing may be lost, or a pinned fact is in its markup', () => {
    expect(reduced(page, 0.6, [], 'none').items[0]?.text).toBe(page);
    const held = reduced(page, 0.2, ['track("visitor")']);
    expect(held.items[0]?.text).toBe(page);
    expect(held.report.items[0]?.notes.join()).toContain('a pinned fact is in its markup');
    expect(held.report.missed).toBeDefined();
  });

  it('names what it left out of the page', () => {
    expect(reduced(page, 0.6).report.items[0]?.notes).toEqual([
      'Left out of the page: style, script.',
    ]);
  });

  it.each([
    ['<ul><li>a<ul><li>b<li>c</ul><li>d</ul>', '- a\n  - b\n  - c\n- d'],
    ['<ol start=3><li>x<li>y</ol>', '3. x\n4. y'],
    ['<pre>  x = "a. B"\n```\n</pre>', '````\n  x = "a. B"\n```\n````'],
    ['<p>by <b>three</b> <i>sisters</i><br>of  x_y', 'by three sisters\nof x_y'],
    ['<a href="/fees">Fees</a> <a href="#top">top</a>', '[Fees](/fees) top'],
    ['<table><tr><th>A<th>B<tr><td>1<td>2 | 3', '| A | B |\n| --- | --- |\n| 1 | 2 \\| 3 |'],
    [
      '<table><tr><td>menu<td><table><tr><td>a<td>b<tr><td>c<td>d',
      'menu\n\n| a | b |\n| --- | --- |\n| c | d |',
    ],
    ['<p hidden>said all the same</p>', 'said all the same'],
    ['<a href="/p"><div><h3>Card</h3><p>No fee</p></div></a>', '### [Card](/p)\n\nNo fee'],
    ['<a href="/p"><a href="/q">in</a> out', '[in](/q) out'],
    ['<a href="/p"> </a>x', 'x'],
    ['<pre>f(<a href="/g">g</a>)</pre>', '```\nf(g)\n```'],
    ['<pre><div>if x:</div><div>  y()</div></pre>', '```\nif x:\n  y()\n```'],
    [
      '<table><tr><td><pre>1\n2</pre><td><pre>if x:\n  y()</pre></table>',
      '```\n1\n2\n```\n\n```\nif x:\n  y()\n```',
    ],
    [
      '<table><tr><th>A<th colspan=2>B<th>C<tr><td>1<td>2<td>3<td>4</table>',
      '| A | B |  | C |\n| --- | --- | --- | --- |\n| 1 | 2 | 3 | 4 |',
    ],
    [
      '<table><tr><th>A<th>B<th>C<tr><td>1<td rowspan=2>2<td>3<tr><td>4<td>5<tr><td>6<td>7</table>',
      '| A | B | C |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n| 4 |  | 5 |\n| 6 | 7 |',
    ],
    [
      '<table><tr><th>A<th>B<tbody><tr><td>1<td>2<tfoot><tr><td>3<td>4</table>',
      '| A | B |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |',
    ],
    ['<table><tr><td>a<hr>b<td>c<tr><td>d<td>e', '| a b | c |\n| --- | --- |\n| d | e |'],
    ['<ol start=0><li>x<li value=7>y<li>z</ol>', '0. x\n7. y\n8. z'],
    ['<ul><li><h3>Card</h3>No fee</ul>', '- ### Card\n\n  No fee'],
    ['She said <q>yes</q>', 'She said "yes"'],
  ])('%s is written as Markdown', (html, markdown) => {
    expect(htmlToMarkdown(html)).toEqual({ markdown, leftOut: [] });
  });

  it.each([
    ['<tr><td>a<td>b', 3],
    ['x<li>', 3],
    ['x\n\n&nbsp;\n', 1],
    ['<b> a </b>', 2],
    ['<a href="/x">y', 3],
    ['<td colspan=100 rowspan=9>a', 3],
    ['<tr><td>a<td rowspan=1000000>b', 3],
  ])('of a stranger is read to the end when it repeats %j', (piece, words) => {
    const converted = htmlToMarkdown(`<table><ul><li>${piece.repeat(60_000)}`);
    expect('markdown' in converted && converted.markdown.length).toBeGreaterThan(words);
  });

  it('gives each word of a page once, however its elements stand, and none of its scripts', () => {
    const names =
      'p div ul ol li table tr td th thead tbody tfoot caption pre code a b q h1 h3 blockquote span br hr dl dt dd details ruby rt';
    const name = fc.constantFrom(...names.split(' '));
    const spans = fc
      .tuple(fc.integer({ min: -1, max: 4 }), fc.integer({ min: -1, max: 4 }))
      .map(([columns, rows]) => `<td colspan=${columns} rowspan=${rows}>`);
    const tag = fc.oneof(
      name.map((each) => `<${each}>`),
      name.map((each) => `</${each}>`),
      fc.constantFrom('<a href="/x">', '<script>hidden</script>', '<style>hidden</style>'),
      spans,
    );
    fc.assert(
      fc.property(fc.array(tag, { maxLength: 40 }), (tags) => {
        const words = tags.map((_, i) => `w${i}w`);
        const converted = htmlToMarkdown(tags.map((each, i) => `${each}${words[i]} `).join(''));
        const markdown = 'markdown' in converted ? converted.markdown : '';
        expect(markdown.match(/w\d+w/g)?.toSorted() ?? []).toEqual(words.toSorted());
        expect(markdown).not.toContain('hidden');
      }),
      { numRuns: 500 },
    );
  });

  it('of a stranger grows no more than a bounded number of places by cells over many', () => {
    const row = '<tr><td colspan=90>a<td>b';
    const converted = htmlToMarkdown(`<table>${row.repeat(40_000)}`);
    expect('markdown' in converted && converted.markdown.length).toBeLessThan(row.length * 40_000);
  });

  it('of a stranger is read in bounded time', () => {
    expect(htmlToMarkdown('<div>'.repeat(10_000))).toEqual({
      because: 'it is HTML nested deeper than 256',
    });
    expect(htmlToMarkdown('<p>'.repeat(800_000))).toMatchObject({
      because: expect.stringContaining('more than'),
    });
    expect(htmlToMarkdown(`${'<li>item '.repeat(500)}${'</div>'.repeat(500)}`)).toHaveProperty(
      'markdown',
    );
  });

  it.each(['', '<', '<!--', '<p', '&#0;', '<![CDATA[x]]>', '</p></p>', '<table><tr>'])(
    'that is %j breaks nothing',
    (html) => {
      expect(htmlToMarkdown(html)).toHaveProperty('markdown');
    },
  );
});
