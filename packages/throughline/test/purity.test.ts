import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { impurities, pureLayers } from './purity.ts';
import { readSources, repository } from './source.ts';

describe('model, graph and handover are pure', () => {
  it('in every file: no promise, no clock, no chance', () => {
    const sources = readSources('packages/throughline/src').filter(
      ({ path }) => pureLayers.includes(path.split('/')[0] ?? '') && !path.endsWith('.test.ts'),
    );
    expect(sources.length).toBeGreaterThan(0);
    expect(sources.flatMap(impurities)).toEqual([]);
  });

  it.each([
    ['export const f = async () => 1;', 'a promise'],
    ['export async function f() {}', 'a promise'],
    ['export const f = { async g() {} };', 'a promise'],
    ['export const f = new Promise(() => {});', 'a promise'],
    ['export const f = await g();', 'a promise'],
    ['export const f = Date.now();', 'the clock'],
    ['export const f = new Date();', 'the clock'],
    ['export const f = Date();', 'the clock'],
    ['export const f = Math.random();', 'chance'],
  ])('refuses %s', (text, what) => {
    expect(impurities({ path: 'graph/planted.ts', text })).toEqual([
      `graph/planted.ts:1: uses ${what}`,
    ]);
  });

  it('allows dates made from values', () => {
    expect(impurities({ path: 'graph/a.ts', text: 'export const f = new Date(0);' })).toEqual([]);
  });

  it('refuses at compile time what only Node or a browser has', () => {
    const planted = {
      'model/timer.ts': 'export const timer = setTimeout(() => {}, 1);',
      'model/environment.ts': 'export const environment = process.env;',
      'graph/files.ts': `export { readFileSync } from 'node:fs';`,
      'graph/network.ts': `export const network = fetch('https://example.com');`,
      'handover/log.ts': 'console.log(1);',
      'handover/buffer.ts': `export const buffer = Buffer.from('x');`,
    };
    const found = compile({ ...planted, 'model/fine.ts': 'export const fine = new Date(0);' });
    expect(found.toSorted()).toEqual(Object.keys(planted).toSorted());
  });
});

/** Compiles these files, paths relative to src, as the pure folders are; gives those with errors. */
function compile(files: Readonly<Record<string, string>>): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'pure-'));
  try {
    const configs = ['tsconfig.base.json', 'packages/throughline/tsconfig.pure.json'];
    mkdirSync(join(folder, 'packages/throughline'), { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    for (const name of configs) cpSync(join(repository, name), join(folder, name));
    for (const [name, text] of Object.entries(files)) {
      const path = join(folder, 'packages/throughline/src', name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
    const tsc = join(repository, 'node_modules/typescript/bin/tsc');
    const { stdout } = spawnSync(
      process.execPath,
      [tsc, '-p', 'packages/throughline/tsconfig.pure.json', '--pretty', 'false'],
      { cwd: folder, encoding: 'utf8' },
    );
    const named = stdout.matchAll(/src\/(\S+\.ts)\(\d+,\d+\): error/g);
    return [...new Set([...named].map(([, name = '']) => name))];
  } finally {
    rmSync(folder, { recursive: true });
  }
}
