import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { repository } from './source.ts';

const table = readFileSync(join(repository, 'docs/faults.md'), 'utf8');
const rows = table.split('\n').filter((line) => /^\| +\d+ +\|/.test(line));
const named = [
  ...table.matchAll(/`(src\/[^`]+\.test\.ts)` › ([^;|\n]+?)(?=;| \||\. |: `|$)/gm),
].map(([, file = '', name = '']) => ({ file, name: name.trim() }));

const sourceOf = (file: string): string => {
  const path = join(repository, 'packages/throughline', file);
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
};

describe('the table of faults', () => {
  it('says for each how it is held', () => {
    expect(rows.length).toBeGreaterThan(30);
    for (const row of rows) expect(row).toMatch(/`src\/.+\.test\.ts` › /);
  });

  it.each(named)('names a test that is there: $name', ({ file, name }) => {
    expect(sourceOf(file)).toContain(`'${name}'`);
  });
});
