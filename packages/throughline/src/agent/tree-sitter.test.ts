import { describe, expect, it } from 'vitest';
import { compress, type FetchedItem } from '../handover/compress.ts';
import { treeSitter } from './tree-sitter.ts';

const script = `import { readFile } from 'node:fs/promises';

const limit = 10;

/** Adds what was sold in a month. */
export function monthlyTotal(orders: Order[], month: string): number {
  const ofMonth = orders.filter((order) => order.date.startsWith(month));
  return ofMonth.reduce((sum, order) => sum + order.price * order.count, 0);
}

export class Warehouse {
  readonly #shelves = new Map<string, number>();

  /** Puts goods on a shelf. */
  stock(article: string, count: number): void {
    const there = this.#shelves.get(article) ?? 0;
    this.#shelves.set(article, there + count);
  }

  /** Refuses to give out what is not there. */
  ship(article: string, count: number): void {
    const there = this.#shelves.get(article) ?? 0;
    if (there < count) throw new Error('not on the shelf');
    this.#shelves.set(article, there - count);
  }
}

export const reportOf = async (path: string): Promise<string> => {
  const text = await readFile(path, 'utf8');
  return text.split('\\n').slice(0, limit).join('\\n');
};
`;

const python = `import csv


class Ledger:
    """Entries of one account."""

    def __init__(self, path):
        self.path = path
        self.entries = []

    def balance(self, until):
        total = 0
        for entry in self.entries:
            if entry.date <= until:
                total += entry.amount
        return total


def read(path):
    with open(path) as file:
        return [row for row in csv.reader(file)]
`;

const code = (text: string, MediaType: string): FetchedItem => ({
  item: {
    ContextID: 'code',
    ContextType: 'code',
    MediaType,
    ContextURI: 'https://hub.example/content/code',
    Description: '',
    Priority: 'compressible',
  },
  text,
});

const outlined = async (text: string, mediaType: string, query: string, ratio = 0.5) => {
  const parseCode = await treeSitter()([mediaType]);
  const policy = {
    Strategy: 'target_ratio',
    TargetRatio: ratio,
    LossTolerance: 'low' as const,
    MustPreserveFields: [],
  };
  const { items, report } = compress([code(text, mediaType)], policy, {
    queries: [query],
    parseCode,
  });
  return { text: items[0]?.text ?? '', report };
};

describe('an outline of code', () => {
  it('keeps the body that is asked for, heads with their comments, and marks what is left out', async () => {
    const { text, report } = await outlined(
      script,
      'text/x-typescript',
      'What does ship do when there are not enough goods on the shelf?',
      0.65,
    );
    expect(text).toContain("throw new Error('not on the shelf')");
    expect(text).toMatch(/month: string\): number \{ \[…\] \n?\}/);
    expect(text).toContain('/** Adds what was sold in a month. */');
    expect(text).not.toContain('ofMonth.reduce');
    expect(report.items[0]).toMatchObject({
      did: 'extracted',
      strategy: 'outline',
      derivedFrom: 'https://hub.example/content/code',
    });
    expect(report.after).toBeLessThanOrEqual(report.target ?? 0);
  });

  it('reads Python by its indentation', async () => {
    const { text } = await outlined(python, 'text/x-python', 'balance until a date', 0.7);
    expect(text).toContain('total += entry.amount');
    expect(text).toContain('class Ledger:');
    expect(text).not.toContain('csv.reader');
  });

  it('is the text itself where everything may stay', async () => {
    const { text, report } = await outlined(script, 'text/x-typescript', 'ship', 1);
    expect(text).toBe(script);
    expect(report.items[0]?.did).toBe('kept');
  });

  it.each([
    [
      'text/javascript',
      'function add(a, b) {\n  const sum = a + b;\n  return sum + 0 * 12345;\n}\n',
    ],
    [
      'text/x-go',
      'package m\n\nfunc Add(a int, b int) int {\n\tsum := a + b\n\treturn sum + 0*12345\n}\n',
    ],
    [
      'text/x-rust',
      'impl Sum {\n    fn add(a: i32, b: i32) -> i32 {\n        let sum = a + b;\n        sum + 0 * 12345\n    }\n}\n',
    ],
    [
      'text/x-java',
      'class Sum {\n  int add(int a, int b) {\n    int sum = a + b;\n    return sum + 0 * 12345;\n  }\n}\n',
    ],
    [
      'text/x-c++src',
      'int add(int a, int b) {\n  int sum = a + b;\n  return sum + 0 * 12345;\n}\n',
    ],
    [
      'text/x-csharp',
      'class Sum {\n  int Add(int a, int b) {\n    int sum = a + b;\n    return sum + 0 * 12345;\n  }\n}\n',
    ],
    [
      'text/x-ruby',
      'class Sum\n  def add(a, b)\n    sum = a + b\n    sum + 0 * 12345\n  end\nend\n',
    ],
    [
      'application/x-httpd-php',
      '<?php\nfunction add($a, $b) {\n  $sum = $a + $b;\n  return $sum + 0 * 12345;\n}\n',
    ],
  ])('is made of %s', async (mediaType, text) => {
    const parse = await treeSitter()([mediaType]);
    const bodies = parse(mediaType, text) ?? [];
    const innermost = (all: typeof bodies): string =>
      all[0]?.inner[0] === undefined
        ? text.slice(all[0]?.from, all[0]?.to)
        : innermost(all[0].inner);
    expect(innermost(bodies).trim()).toMatch(/^(?:(?:const|let|int) )?\$?sum [:=][^]*12345;?$/);
  });

  it('is made of code that is broken, and never of a language that is not known', async () => {
    const parse = await treeSitter()(['text/javascript', 'text/x-cobol']);
    expect(parse('text/javascript', 'function f( {\n  return 1;\n}}}} ((')).toBeDefined();
    expect(parse('text/x-cobol', 'DISPLAY "HELLO".')).toBeUndefined();
  });

  it('is not made of what costs the parser much more than code does', async () => {
    const parse = await treeSitter()(['text/x-python']);
    expect(parse('text/x-python', python.repeat(600))).toBeDefined();
    expect(parse('text/x-python', '(]{;=}[:,.)'.repeat(25_000))).toBeUndefined();
    expect(parse('text/x-python', python)?.length).toBeGreaterThan(0);
  });

  it('is not made of what is nested without end, nor of what is too long', async () => {
    const parse = await treeSitter()(['text/javascript']);
    expect(parse('text/javascript', 'f(() => {\n'.repeat(5_000))).toBeDefined();
    expect(parse('text/javascript', 'x;'.repeat(600_000))).toBeUndefined();
  });
});
