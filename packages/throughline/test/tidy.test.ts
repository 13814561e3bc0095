import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSources, repository } from './source.ts';
import { untidiness } from './tidy.ts';

const folders = ['packages', 'examples', 'bench', 'scripts'];

describe('the sources are tidy', () => {
  it.each(folders)('in %s', (folder) => {
    expect(existsSync(join(repository, folder))).toBe(true);
    expect(readSources(folder).flatMap(untidiness)).toEqual([]);
  });

  it.each([
    ['a.ts', 'const x = 1;\n'.repeat(501), 'a.ts: has 501 lines, more than 500'],
    ['camelCase.ts', '', 'camelCase.ts: is not in kebab-case'],
    ['a.ts', 'export const x: any = 1;', 'a.ts:1: uses any'],
    ['a.ts', '\nexport type X = Record<string, any>;', 'a.ts:2: uses any'],
    ['a.ts', '// @ts-expect-error\nexport {};', 'a.ts:1: comment switches the compiler off'],
    ['a.ts', '/* oxlint-disable no-console */', 'a.ts:1: comment switches the linter off'],
    ['a.ts', '// TODO: later', 'a.ts:1: comment leaves a note for later'],
    ['a.ts', '// see #12', 'a.ts:1: comment names an issue'],
    ['a.ts', '/** As issue 12 wants. */', 'a.ts:1: comment names an issue'],
    ['a.ts', '// since 2026-11-30', 'a.ts:1: comment holds a date'],
  ])('refuses in %s: %.60s', (path, text, problem) => {
    expect(untidiness({ path, text: text.replaceAll('const x = 1', 'void 0') })).toEqual([problem]);
  });

  it('allows the dates and numbers in the names of standards', () => {
    expect(untidiness({ path: 'a.ts', text: '// MCP 2026-07-28, PKCS #8' })).toEqual([]);
  });
});
