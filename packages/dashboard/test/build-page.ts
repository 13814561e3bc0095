import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { findBrowser } from './browser.ts';

/** Builds hub and page, where there is a browser to try them in. */
export function setup(): void {
  if (findBrowser() === undefined) return;
  const script = fileURLToPath(new URL('../../../scripts/build.mjs', import.meta.url));
  const { status } = spawnSync(process.execPath, [script], { stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error('hub and page do not build: see above');
}
