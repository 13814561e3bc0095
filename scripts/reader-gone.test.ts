import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';

const said = `import { outliveReaders } from '${new URL('reader-gone.ts', import.meta.url).href}';
outliveReaders();
process.on('exit', () => process.exitCode === undefined && (process.exitCode = 7));
for (let at = 0; at < 100; at += 1) {
  console.log('x'.repeat(10_000));
  await new Promise((resolve) => setTimeout(resolve, 1));
}`;

it('goes on to the end where nobody reads any more', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', said]);
  await once(child.stdout, 'data');
  child.stdout.destroy();
  expect(await once(child, 'exit')).toEqual([7, null]);
});
