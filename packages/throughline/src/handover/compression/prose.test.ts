import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countTokens } from '../count-tokens.ts';
import { makeCounter } from './counter.ts';
import { cutProse } from './prose.ts';
import { splitSentences } from './sentences.ts';

const counter = makeCounter({});
const cut = (text: string): string[] => cutProse(text, counter).units.map((unit) => unit.text);

const markdown = [
  '# Terms',
  '',
  'Cash back is paid monthly. It is never paid twice, e.g. after a refund. See Dr. Berg.',
  '',
  '| card | rate |',
  '|---|---|',
  '| gold | 2 % |',
  '| blue | 1 % |',
  '',
  '```ts',
  'const rate = 0.02;',
  '',
  'pay(rate).',
  '```',
  '',
  '- one entry. With two sentences.',
  '- another',
  '',
  '{"rate": 0.02, "card": "gold. Blue."}',
].join('\n');

describe('cutting prose', () => {
  it('cuts between sentences, and not behind abbreviations', () => {
    expect(splitSentences('It is paid, e.g. to Dr. Berg in full. Then it ends! Does it?')).toEqual([
      'It is paid, e.g. to Dr. Berg in full.',
      ' Then it ends!',
      ' Does it?',
    ]);
  });

  it('keeps code, JSON values and short lists whole, and cuts tables between rows', () => {
    expect(cut(markdown)).toEqual([
      '# Terms\n\n',
      'Cash back is paid monthly.',
      ' It is never paid twice, e.g. after a refund.',
      ' See Dr. Berg.\n\n',
      '| card | rate |\n|---|---|\n',
      '| gold | 2 % |\n',
      '| blue | 1 % |\n\n',
      '```ts\nconst rate = 0.02;\n\npay(rate).\n```\n\n',
      '- one entry. With two sentences.\n- another\n\n',
      '{"rate": 0.02, "card": "gold. Blue."}',
    ]);
  });

  it('cuts a long list between its entries, never inside one', () => {
    const entry = `- ${'word '.repeat(60)}. More.\n  still the same entry\n`;
    expect(cut(entry.repeat(4))).toEqual([entry, entry, entry, entry]);
  });

  it.each([
    ['a fence is no end where more stands behind it', '```md\n```js\nA. B\n```\n'],
    ['a fence in a quotation', '> ~~~\n> A. B\n> ~~~\n'],
    ['a fence in an entry of a list', '- ```\n  A. B\n\n  C. D\n  ```\n'],
    ['a block that is set in', '    // It is paid. Then it ends.\n\n    pay(card);\n'],
    ['a block that is set in by tabs', '\trate: It is paid.\n\tcard: Is it gold? Yes it is.\n'],
    ['a row of a table in a quotation', '> | It is paid. Then it ends. | Gold |\n'],
    ['JSON with a blank line', '{"a": "B. C",\n\n"d": ["E. F"]}\n'],
    ['JSON behind words', 'INFO {"a":"B. C","d":[{"e":"F! G"}]} done.\n'],
    ['JSON line by line', '{"a":"B. C"}'],
  ])('keeps whole: %s', (_, whole) => {
    const units = cut(`Before it. Really.\n\n${whole}\nAfter it. Really.`);
    expect(units.some((unit) => unit.includes(whole.trim()))).toBe(true);
    expect(units.length).toBeGreaterThan(3);
  });

  it('keeps the YAML at the beginning of a document whole', () => {
    const yaml = '---\ntitle: It is paid. Then it ends.\n# Not a heading\n\ntags: [a, b]\n---\n';
    const text = `${yaml}\n# A heading\n\nIt is gold. It is blue.`;
    expect(cut(text)).toEqual([`${yaml}\n`, '# A heading\n\n', 'It is gold.', ' It is blue.']);
    expect(cut('---\n\nIt is gold. It is blue.\n\n---\n')).toHaveLength(4);
  });

  it('keeps what is set in whole right below a heading too', () => {
    expect(cut('# Pay\n    // It is paid. Then it ends.\n    pay(card);\n')).toHaveLength(2);
  });

  it('cuts a table in a quotation between its rows', () => {
    const rows = ['> a | b\n> --- | ---\n', '> It is gold. It is paid. | x\n', '> Is it? | y\n\n'];
    expect(cut(`${rows.join('')}After it.`)).toEqual([...rows, 'After it.']);
  });

  it('cuts between sentences where only the first line of a paragraph, or very much, is set in', () => {
    expect(cut('    The first is here. It goes\non here. And ends.\n')).toHaveLength(3);
    expect(cut('    A line that is set in. So is this one.\n'.repeat(30))).toHaveLength(60);
  });

  it('takes three marks with more of them on the line for no fence', () => {
    expect(cut('```x``` is code.\n\nThis is one. And this too.')).toHaveLength(3);
  });

  it('cuts a table without bars at its sides between its rows', () => {
    const rows = ['a | b\n--- | ---\n', 'One. Two | x\n', 'Three! Four | y\n\n'];
    expect(cut(`${rows.join('')}After it.`)).toEqual([...rows, 'After it.']);
  });

  it('does not cut behind short forms of other languages, nor where scripts are mixed', () => {
    for (const [text, sentences] of [
      ['Vgl. Nr. 7 bzw. Abs. 2. Dann kam er am 3. Oktober.', 2],
      ['Он живёт на ул. Ленина. Потом уехал.', 2],
      ['La Sra. López vino. Y se fue.', 2],
      ['قال د. أحمد ذلك. ثم ذهب؟', 2],
      ['我见到了 Dr. Smith。然后走了！', 2],
    ] as const) {
      expect(splitSentences(text)).toHaveLength(sentences);
    }
  });

  it.each(['\n', '\r', '\u2028', '{"a":', '[{}\n', '"\\"', '[1,  ', ' \xa0'])(
    'comes to an end on a long run of %j',
    (piece) => {
      const text = `x. Y${piece.repeat(60_000)}z. A b`;
      expect(cut(text).join('')).toBe(text);
    },
  );

  it('cuts what has no sentences between its lines', () => {
    const line = '12:00 INFO request served in 3 ms to client\n';
    expect(cut(line.repeat(30))).toEqual(Array.from({ length: 30 }, () => line));
  });

  it('lets the heading and the header of a table come along', () => {
    const { units } = cutProse(markdown, counter);
    const row = units.find(({ text }) => text.startsWith('| gold'));
    expect(row?.along.map((at) => units[at]?.text.slice(0, 7))).toEqual(['# Terms', '| card ']);
    expect(row?.title).toBe('Terms');
  });

  it.each([
    ['Chinese', '今天下雨。我们留在家里。你呢？', ['今天下雨。', '我们留在家里。', '你呢？']],
    ['Japanese', '雨が降る。家にいる。', ['雨が降る。', '家にいる。']],
    ['Hindi', 'वह घर गया। वह सो गया।', ['वह घर गया।', ' वह सो गया।']],
    ['Arabic', 'هل ذهب؟ نعم ذهب.', ['هل ذهب؟', ' نعم ذهب.']],
  ])('cuts %s between its sentences', (_, text, sentences) => {
    expect(splitSentences(text)).toEqual(sentences);
  });

  it('marks each gap', () => {
    const text = 'The first is here. The second is too. A third follows.\n\nThe fourth is last.\n';
    const { units, join } = cutProse(text, counter);
    expect(units).toHaveLength(4);
    expect(join([1, 3]).join('')).toBe('[…] The second is too. […] The fourth is last.\n');
    expect(join([0]).join('')).toBe('The first is here. […]');
    expect(join([2]).join('')).toBe('[…] A third follows.\n\n[…]\n');
    expect(join([0, 1, 2, 3]).join('')).toBe(text);
  });

  const anything = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc
      .array(
        fc.constantFrom(
          'A word',
          '. ',
          '.\n',
          '\n\n',
          '# H\n',
          '| a | b |\n',
          '|--|--|\n',
          '```\n',
          '- x\n',
          '。',
          '語',
          ' ',
          '/',
          '"',
          '<br>',
          'e.g. ',
          '{}',
          '\r\n',
          '\t',
          '1',
          'end.Start',
        ),
        { maxLength: 40 },
      )
      .map((parts) => parts.join('')),
  );

  it('loses and adds no character, whatever the text', () => {
    fc.assert(
      fc.property(anything, (text) => {
        expect(cut(text).join('')).toBe(text);
      }),
    );
  });

  it('counts what a recount of the whole counts', () => {
    fc.assert(
      fc.property(anything, (text) => {
        expect(cutProse(text, makeCounter({})).tokens).toBe(countTokens(text));
      }),
      { numRuns: 500 },
    );
  });
});
