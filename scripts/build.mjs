#!/usr/bin/env node
/**
 * Builds packages/throughline into its dist, when its sources differ from what dist was built from.
 * Plain JavaScript: it also runs on the Node 20 of a machine that has no newer one yet.
 * Says what it does on stderr; stdout belongs to whoever called.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const packageFolder = join(root, 'packages/throughline');
const dist = join(packageFolder, 'dist');
const stamp = join(root, '.cache/build.sha256');
const compiler = join(root, 'node_modules/typescript/bin/tsc');
const configs = ['tsconfig.base.json', 'packages/throughline/tsconfig.build.json'];

/** The sources that end up in dist, relative to src; the same choice as tsconfig.build.json. */
function sources() {
  return readdirSync(join(packageFolder, 'src'), { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => /\.(ts|json)$/.test(name) && !/(\.test|(^|\/)conformance)\.ts$/.test(name))
    .toSorted();
}

/** A digest of all that decides what the build gives, taken before the build so that a later edit shows. */
function inputsDigest() {
  const hash = createHash('sha256');
  for (const name of sources()) {
    hash.update(`${name}\0`).update(readFileSync(join(packageFolder, 'src', name)));
  }
  for (const name of configs) hash.update(readFileSync(join(root, name)));
  hash.update(readFileSync(join(root, 'node_modules/typescript/package.json')));
  return hash.digest('hex');
}

/** tsc leaves the output of deleted sources behind; a package must not carry it. */
function removeStaleOutputs() {
  const kept = new Set(sources().map((name) => name.replace(/\.ts$/, '')));
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(dist.length + 1).replaceAll('\\', '/');
    if (!kept.has(name.replace(/(\.d\.ts|\.js|\.js\.map)$/, ''))) rmSync(path);
  }
}

/** True when dist was built from the sources as they stand. */
export function isBuilt() {
  return (
    existsSync(join(dist, 'index.js')) &&
    existsSync(stamp) &&
    readFileSync(stamp, 'utf8') === inputsDigest()
  );
}

/** Builds if needed. Throws when the compiler refuses; what it said is on stderr by then. */
export function build() {
  if (isBuilt()) return;
  const started = Date.now();
  const digest = inputsDigest();
  process.stderr.write('Building packages/throughline …\n');
  const args = [compiler, '-p', join(packageFolder, 'tsconfig.build.json')];
  const { status } = spawnSync(process.execPath, args, { stdio: ['ignore', 2, 2] });
  if (status !== 0) {
    throw new Error('packages/throughline does not build: mend what tsc names above.');
  }
  removeStaleOutputs();
  mkdirSync(join(root, '.cache'), { recursive: true });
  writeFileSync(stamp, digest);
  process.stderr.write(`Built in ${((Date.now() - started) / 1000).toFixed(1)} s.\n`);
}

/** Vitest calls this before the tests that use the package as its users have it. */
export const setup = build;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    build();
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
