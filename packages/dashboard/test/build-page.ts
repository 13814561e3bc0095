import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { findBrowser } from './browser.ts';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Builds hub and page, where there is a browser to try them in. */
export function setup(): void {
  if (findBrowser() === undefined) return;
  run('the hub', [at('../../../scripts/build.mjs')]);
  run('the page', [
    at('../../../node_modules/vite/bin/vite.js'),
    'build',
    at('..'),
    '--logLevel',
    'error',
  ]);
}

/** In a process of its own: under a test runner's NODE_ENV a page for developers would come out. */
function run(what: string, args: readonly string[]): void {
  const env = { ...process.env, NODE_ENV: 'production' };
  const { status } = spawnSync(process.execPath, args, { stdio: ['ignore', 2, 2], env });
  if (status !== 0) throw new Error(`${what} does not build: see above`);
}
