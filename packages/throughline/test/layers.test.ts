import { describe, expect, it } from 'vitest';
import { breaches } from './layers.ts';
import { readSources } from './source.ts';

const planted = (path: string, text: string): string[] => breaches([{ path, text }]);

describe('imports point inward', () => {
  it('in every file of src', () => {
    const sources = readSources('packages/throughline/src');
    expect(sources.map(({ path }) => path)).toContain('model/index.ts');
    expect(breaches(sources)).toEqual([]);
  });

  it.each([
    ['model/planted.ts', `import { readFile } from 'node:fs/promises';`, 'node:fs'],
    ['model/planted.ts', `import { readFile } from 'fs';`, 'fs'],
    ['model/planted.ts', `import { fold } from '../graph/fold.ts';`, 'graph'],
    ['graph/planted.ts', `import type { Store } from '../store/store.ts';`, 'store'],
    ['graph/planted.ts', `import { count } from '../handover/count.ts';`, 'handover'],
    ['handover/planted.ts', `export { get } from 'undici';`, 'undici'],
    ['store/planted.ts', `export * from '../hub/index.ts';`, 'hub'],
    ['store/planted.ts', `import '../content/files.ts';`, 'content'],
    ['hub/planted.ts', `const a2a = await import('@a2a-js/sdk/server');`, '@a2a-js/sdk'],
    ['hub/planted.ts', `export const serve = () => import('../server/serve.ts');`, 'server'],
    ['master/planted.ts', `import { run } from '../agent/run.ts';`, 'agent'],
    ['client/planted.ts', `import { clock } from '../hub/clock.ts';`, 'hub'],
    ['client/planted.ts', `export type Row = import('../store/store.ts').Row;`, 'store'],
    ['index.ts', `export { main } from './cli/main.ts';`, 'cli'],
    ['errors.ts', `import { limits } from './model/limits.ts';`, 'model'],
    ['bindings/a2a/planted.ts', `import { codec } from '../mcp/codec.ts';`, 'bindings/mcp'],
    ['store/planted.test.ts', `import { serve } from '../hub/serve.ts';`, 'hub'],
    ['cli/planted.ts', `import { model } from 'throughline/model';`, 'its own name'],
    ['cli/planted.ts', `import manifest from '../../package.json';`, 'outside src'],
    ['cli/planted.ts', `import { freePort } from '../../test/free-port.ts';`, 'outside src'],
    ['cli/planted.test.ts', `import { world } from '../../bench/world.ts';`, 'outside src'],
    ['cli/planted.ts', 'await import(process.argv[2]);', 'computed'],
    ['helpers/planted.ts', 'export const x = 1;', 'helpers'],
  ])('refuses in %s: %s', (path, text, named) => {
    expect(planted(path, text)).toEqual([expect.stringContaining(named)]);
  });

  it.each([
    ['model/planted.ts', `import { z } from 'zod';`],
    ['model/planted.test.ts', `import { readFileSync } from 'node:fs';`],
    ['store/planted.test.ts', `import { freePort } from '../../test/free-port.ts';`],
    ['bindings/a2a/planted.ts', `import type { Binding } from '../binding.ts';`],
    ['bindings/a2a/planted.ts', `import { TaskState } from '@a2a-js/sdk';`],
    ['server/planted.ts', `import { hub } from '../hub/hub.ts';`],
    ['client/planted.ts', `import { limits } from '../model/limits.ts';`],
  ])('allows in %s: %s', (path, text) => {
    expect(planted(path, text)).toEqual([]);
  });
});
