import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { repository } from './source.ts';

const packageFolder = join(repository, 'packages/throughline');
const manifest = z
  .object({
    files: z.array(z.string()),
    exports: z.record(z.string(), z.string()),
    bin: z.record(z.string(), z.string()),
  })
  .parse(JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')));
const isData = (key: string): boolean => key === './package.json' || key === './schemas/*';
const subpaths = Object.keys(manifest.exports).filter((key) => !isData(key));

/** The names a plain Node process finds behind each specifier, by the package's own exports. */
function namesOf(specifiers: readonly string[]): Record<string, string[]> {
  const script = `const found = {};
    for (const each of ${JSON.stringify(specifiers)}) found[each] = Object.keys(await import(each));
    process.stdout.write(JSON.stringify(found));`;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', script],
    { cwd: packageFolder, encoding: 'utf8' },
  );
  if (stdout === '') throw new Error(stderr);
  return z.record(z.string(), z.array(z.string())).parse(JSON.parse(stdout));
}

const licenceOf = (folder: string): string => readFileSync(join(folder, 'LICENSE'), 'utf8');

describe('what the package exports', () => {
  it('is the root and the model at least', () => {
    expect(subpaths).toEqual(expect.arrayContaining(['.', './model']));
  });

  it.each(subpaths)('%s is an index of src, built with its types', (subpath) => {
    const target = manifest.exports[subpath] ?? '';
    expect(target).toMatch(/^\.\/dist\/([a-z0-9-]+\/)*index\.js$/);
    const source = target.replace('./dist/', 'src/').replace(/\.js$/, '.ts');
    const types = target.replace(/\.js$/, '.d.ts');
    for (const file of [source, target, types]) {
      expect(existsSync(join(packageFolder, file)), file).toBe(true);
    }
  });

  it('holds named exports only, under every subpath', () => {
    const specifiers = subpaths.map((subpath) => subpath.replace('.', 'throughline'));
    const found = namesOf(specifiers);
    expect(Object.keys(found)).toEqual(specifiers);
    for (const [specifier, names] of Object.entries(found)) {
      expect(names.length, specifier).toBeGreaterThan(0);
      expect(names, specifier).not.toContain('default');
    }
  });

  it('holds the JSON Schemas, so that an editor finds that of a workflow file', () => {
    const { resolve } = createRequire(join(packageFolder, 'package.json'));
    const published = join(repository, 'spec/schemas');
    for (const name of readdirSync(published)) {
      const text = readFileSync(resolve(`throughline/schemas/${name}`), 'utf8');
      expect(text, name).toBe(readFileSync(join(published, name), 'utf8'));
    }
    expect(manifest.files).toContain('dist');
  });

  it('keeps everything else private', () => {
    expect(() => namesOf(['throughline/dist/index.js'])).toThrow('ERR_PACKAGE_PATH_NOT_EXPORTED');
  });

  it('carries the licence of the repository, and its commands exist before a build', () => {
    expect(licenceOf(packageFolder)).toBe(licenceOf(repository));
    expect(manifest.bin).toEqual({ throughline: './bin/throughline.mjs' });
    expect(existsSync(join(packageFolder, 'bin/throughline.mjs'))).toBe(true);
  });
});
