import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

const flags = new URL('flags.ts', import.meta.url).href;
const script = `import { readFlags } from '${flags}';
console.log(JSON.stringify(readFlags({ json: { type: 'boolean', default: false }, case: { type: 'string' } })));`;

const run = (...words: string[]) =>
  spawnSync(process.execPath, ['--input-type=module', '-e', script, '--', ...words], {
    encoding: 'utf8',
  });

it('reads the flags that there are', () => {
  expect(JSON.parse(run('--case', 'x').stdout)).toEqual({ json: false, case: 'x' });
});

it.each([['--wat'], ['extra'], ['--case'], ['--json=yes']])(
  'exits 2 for %s and lists what there is',
  (word) => {
    const { status, stderr } = run(word);
    expect(stderr.trimEnd().split('\n')).toEqual([
      expect.stringContaining('There is --json, --case ….'),
    ]);
    expect(status).toBe(2);
  },
);
