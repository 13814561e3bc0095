import { describe, expect, it } from 'vitest';
import { table } from './table.ts';
import { clean, cleanLine, terminal, widthOf, wrap } from './terminal.ts';

const id = `tsk_${'0'.repeat(26)}`;
const person = (columns: number, env = {}) => terminal({ isTTY: true, columns, env });
const pipe = terminal({ isTTY: false, columns: undefined, env: {} });

describe('what a terminal shows', () => {
  it('shortens ids of ours for people alone, and whole ids when they are asked for', () => {
    expect(person(80).id(id)).toBe('tsk_00000000…');
    expect(pipe.id(id)).toBe(id);
    expect(terminal({ isTTY: true, columns: 80, env: {}, wholeIds: true }).id(id)).toBe(id);
    expect(person(80).id('c0ffee00-1111-4222-8333-444455556666')).toHaveLength(36);
  });

  it('has colours for people, unless they want none', () => {
    expect(person(80).paint('red', 'x')).toContain('\u001b[');
    expect(person(80, { NO_COLOR: '1' }).paint('red', 'x')).toBe('x');
    expect(person(80, { TERM: 'dumb' }).paint('red', 'x')).toBe('x');
    expect(pipe.paint('red', 'x')).toBe('x');
  });

  it('cuts text at the width, by columns and never within a character', () => {
    expect(person(80).fit('日本語の長い文', 7)).toBe('日本語…');
    expect(person(80).fit('👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧', 5)).toBe('👩‍👩‍👧👩‍👩‍👧…');
    expect(pipe.fit('日本語の長い文', 7)).toBe('日本語の長い文');
  });

  it('makes what others wrote harmless', () => {
    expect(clean('a\u001b[31mb\u0007')).toBe('a\ufffd[31mb\ufffd');
    expect(clean('one\n two\t\r\nthree ')).toBe('one two three');
    expect(clean('abc\u202edcb\u2066x')).toBe('abc\ufffddcb\ufffdx');
  });

  it('keeps the spaces of a text whose lines are shown', () => {
    expect(cleanLine('\t  "a":  1 ')).toBe('      "a":  1');
    expect(cleanLine('a\rb\u001b[2Jc\u202ed')).toBe('a\ufffdb\ufffd[2Jc\ufffdd');
  });
});

describe('a table', () => {
  const titles = [
    { title: 'ID' },
    { title: 'N', align: 'right' },
    { title: 'ABOUT', flexible: true },
  ] as const;
  const rows = [
    ['a', '1', 'short'],
    ['日本', '1,000', 'x'.repeat(100)],
  ];

  it('lines up, wide characters too, and fits the terminal', () => {
    const lines = table(person(40, { NO_COLOR: '1' }), titles, rows);
    expect(lines).toEqual([
      'ID        N  ABOUT',
      'a         1  short',
      `日本  1,000  ${'x'.repeat(26)}…`,
    ]);
    expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(40);
  });

  it('leaves out what it can do without where there is no room, and only there', () => {
    const wide = [
      { title: 'ID' },
      { title: 'WHEN', optional: true },
      { title: 'ABOUT', flexible: true },
    ];
    const row = ['x'.repeat(20), 'y'.repeat(20), 'z'.repeat(20)];
    const at = (columns: number) => table(person(columns, { NO_COLOR: '1' }), wide, [row]);
    expect(at(40)).toEqual([`ID${' '.repeat(20)}ABOUT`, `${'x'.repeat(20)}  ${'z'.repeat(17)}…`]);
    expect(at(80)[0]).toContain('WHEN');
    expect(table(pipe, wide, [row])[1]).toBe(row.join('  '));
  });

  it('loses nothing in a pipe', () => {
    expect(table(pipe, titles, rows).join('\n')).toContain('x'.repeat(100));
  });
});

describe('wrap', () => {
  it('begins a new line where a word has no room, and loses none', () => {
    expect(wrap('put the right file back', 10)).toEqual(['put the', 'right file', 'back']);
    expect(wrap('at /a/path/that/is/long there', 8)).toEqual([
      'at',
      '/a/path/that/is/long',
      'there',
    ]);
    expect(wrap('漢字 漢字', 6)).toEqual(['漢字', '漢字']);
    expect(wrap('as in a pipe', Infinity)).toEqual(['as in a pipe']);
  });
});
