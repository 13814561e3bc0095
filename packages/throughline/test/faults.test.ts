import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { repository } from './source.ts';

/** Tables of what must hold, each row with the tests that hold it, and the least rows there are. */
const tables = [
  ['docs/faults.md', /^\| +\d+ +\|/, 30],
  ['docs/model-rules.md', /^\| (?!rule|-)/, 30],
] as const;

const sourceOf = (file: string): string => {
  const path = join(repository, 'packages/throughline', file);
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
};

describe.each(tables)('the table in %s', (path, isRow, least) => {
  const table = readFileSync(join(repository, path), 'utf8');
  const rows = table.split('\n').filter((line) => isRow.test(line));
  const named = [
    ...table.matchAll(/`(src\/[^`]+\.test\.ts)` › ([^;|\n]+?)(?=;| +\||\. |: `|$)/gm),
  ].map(([, file = '', name = '']) => ({ file, name: name.trim() }));

  it('says for each how it is held', () => {
    expect(rows.length).toBeGreaterThan(least);
    for (const row of rows) expect(row).toMatch(/`src\/.+\.test\.ts` › /);
  });

  it.each(named)('names a test that is there: $name', ({ file, name }) => {
    expect(sourceOf(file)).toContain(`'${name}'`);
  });
});
