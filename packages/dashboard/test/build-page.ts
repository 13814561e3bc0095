import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { findBrowser } from './browser.ts';

const buildHub = fileURLToPath(new URL('../../../scripts/build.mjs', import.meta.url));

/** Builds hub and page, where there is a browser to try them in. */
export async function setup(): Promise<void> {
  if (findBrowser() === undefined) return;
  const { status } = spawnSync(process.execPath, [buildHub], { stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error('the hub does not build: see above');
  await build({ root: fileURLToPath(new URL('..', import.meta.url)), logLevel: 'error' });
}
