import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { lintOverrides } from './layers.ts';
import { repository, type Source } from './source.ts';

const configFile = join(repository, '.oxlintrc.json');
const report = z.object({
  diagnostics: z.array(z.object({ code: z.string(), filename: z.string() })),
});

/** What the linter, under the repository's own configuration, finds in these files alone. */
function lint(sources: readonly Source[]): { path: string; rule: string }[] {
  const folder = mkdtempSync(join(tmpdir(), 'lint-'));
  try {
    cpSync(configFile, join(folder, '.oxlintrc.json'));
    for (const { path, text } of sources) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const oxlint = join(repository, 'node_modules/oxlint/bin/oxlint');
    const { stdout } = spawnSync(process.execPath, [oxlint, '--format=json', '.'], {
      cwd: folder,
      encoding: 'utf8',
    });
    const { diagnostics } = report.parse(JSON.parse(stdout));
    return diagnostics.map(({ filename, code }) => ({ path: filename, rule: code }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('the linter', () => {
  it('holds the same table of layers as the test', () => {
    const config = z
      .object({ overrides: z.array(z.unknown()) })
      .parse(JSON.parse(readFileSync(configFile, 'utf8')));
    for (const override of lintOverrides()) expect(config.overrides).toContainEqual(override);
  });

  it('flags planted breaches and nothing else', () => {
    const src = 'packages/throughline/src';
    const breaches = [
      ['model/a.ts', `export { readFileSync } from 'node:fs';`, 'no-restricted-imports'],
      ['model/b.ts', `export { readFile } from 'node:fs/promises';`, 'no-restricted-imports'],
      ['graph/c.ts', `export { x } from '../store/store.ts';`, 'no-restricted-imports'],
      ['store/d.ts', `export { x } from '../hub/hub.ts';`, 'no-restricted-imports'],
      ['client/e.ts', `export { x } from '../hub/hub.ts';`, 'no-restricted-imports'],
      ['hub/f.ts', `export { TaskState } from '@a2a-js/sdk';`, 'no-restricted-imports'],
      ['master/g.ts', `export { x } from '../agent/run.ts';`, 'no-restricted-imports'],
      ['graph/h.ts', 'export const now = (): number => Date.now();', 'no-restricted-properties'],
      ['handover/i.ts', `export const env = process.env['X'];`, 'no-restricted-globals'],
      ['hub/j.ts', 'export const x = (y: any): unknown => y;', 'no-explicit-any'],
      ['hub/k.ts', 'console.log(1);', 'no-console'],
      ['hub/camelCase.ts', 'export const x = 1;', 'filename-case'],
    ] as const;
    const fine = [
      ['hub/l.ts', `export { x } from '../store/store.ts';`],
      ['model/m.test.ts', `export { readFileSync } from 'node:fs';`],
    ] as const;
    const sources = [...breaches, ...fine].map(([path, text]) => ({
      path: `${src}/${path}`,
      text: `${text}\n`,
    }));
    const found = lint(sources)
      .map(({ path, rule }) => `${path.slice(path.indexOf('src/') + 4)} ${rule}`)
      .toSorted();
    const expected = breaches.map(([path, , rule]) => expect.stringMatching(`^${path} .*${rule}`));
    expect(found).toHaveLength(expected.length);
    expect(found).toEqual(expect.arrayContaining(expected));
  });
});
