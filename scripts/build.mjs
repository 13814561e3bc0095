#!/usr/bin/env node
/**
 * Builds packages/throughline into its dist, and the page into dist/page, each when its sources differ
 * from what it was built from.
 * Plain JavaScript: it also runs on the Node 20 of a machine that has no newer one yet.
 * Says what it does on stderr; stdout belongs to whoever called.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const packageFolder = join(root, 'packages/throughline');
const dist = join(packageFolder, 'dist');
const stamp = join(root, '.cache/build.sha256');
const pageFolder = join(root, 'packages/dashboard');
/** Where the hub finds the page, in a checkout as in the published package. */
const page = join(dist, 'page');
const pageStamp = join(root, '.cache/page.sha256');
const bundler = join(root, 'node_modules/vite/bin/vite.js');
const compiler = join(root, 'node_modules/typescript/bin/tsc');
/** JSON Schemas, which the package carries for editors. */
const schemas = join(root, 'spec/schemas');
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
  for (const name of readdirSync(schemas).toSorted()) {
    hash.update(`${name}\0`).update(readFileSync(join(schemas, name)));
  }
  for (const name of configs) hash.update(readFileSync(join(root, name)));
  hash.update(readFileSync(join(root, 'node_modules/typescript/package.json')));
  return hash.digest('hex');
}

const byName = (a, b) => (a < b ? -1 : 1);

/** Sources of the page, relative to the repository: its own and what it takes from the package. */
function pageSources() {
  const shared = ['src/model', 'src/client'].map((name) => join(packageFolder, name));
  const folders = [join(pageFolder, 'src'), ...shared].filter((folder) => existsSync(folder));
  const within = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !/\.test\.tsx?$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  const single = ['index.html', 'vite.config.ts', 'package.json'].map((name) =>
    join(pageFolder, name),
  );
  const others = [
    join(packageFolder, 'src/errors.ts'),
    join(root, 'node_modules/vite/package.json'),
  ];
  return [...within, ...single, ...others].filter((path) => existsSync(path)).toSorted(byName);
}

function pageDigest() {
  const hash = createHash('sha256');
  for (const path of pageSources()) {
    hash.update(`${path.slice(root.length).replaceAll('\\', '/')}\0`).update(readFileSync(path));
  }
  return hash.digest('hex');
}

/** tsc leaves the output of deleted sources behind; a package must not carry it. */
function removeStaleOutputs() {
  const kept = new Set(sources().map((name) => name.replace(/\.ts$/, '')));
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(dist.length + 1).replaceAll('\\', '/');
    if (name.startsWith('page/') || name.startsWith('schemas/')) continue;
    if (!kept.has(name.replace(/(\.d\.ts|\.js|\.js\.map)$/, ''))) rmSync(path);
  }
}

const isStamped = (file, digest) => existsSync(file) && readFileSync(file, 'utf8') === digest;

const isPackageBuilt = () => existsSync(join(dist, 'index.js')) && isStamped(stamp, inputsDigest());

const isPageBuilt = () =>
  !existsSync(pageFolder) ||
  (existsSync(join(page, 'index.html')) && isStamped(pageStamp, pageDigest()));

/** True when dist was built from the sources as they stand. */
export const isBuilt = () => isPackageBuilt() && isPageBuilt();

/** Builds what needs it. Throws when a tool refuses; what it said is on stderr by then. */
export function build() {
  if (!isPackageBuilt()) {
    step('packages/throughline', stamp, inputsDigest(), () => {
      run('packages/throughline', [compiler, '-p', join(packageFolder, 'tsconfig.build.json')]);
      removeStaleOutputs();
      rmSync(join(dist, 'schemas'), { recursive: true, force: true });
      cpSync(schemas, join(dist, 'schemas'), { recursive: true });
    });
  }
  if (!isPageBuilt()) {
    step('the page', pageStamp, pageDigest(), () => {
      run('the page', [bundler, 'build', pageFolder, '--logLevel', 'error']);
      // In one move, so that no hub finds half of it.
      const draft = `${page}.${process.pid}.new`;
      cpSync(join(pageFolder, 'dist'), draft, { recursive: true });
      rmSync(page, { recursive: true, force: true });
      renameSync(draft, page);
    });
  }
}

function step(what, file, digest, work) {
  const started = Date.now();
  process.stderr.write(`Building ${what} …\n`);
  work();
  mkdirSync(join(root, '.cache'), { recursive: true });
  writeFileSync(file, digest);
  process.stderr.write(`Built in ${((Date.now() - started) / 1000).toFixed(1)} s.\n`);
}

/** On the Node in node_modules where there is one; under a test runner's NODE_ENV too, for users. */
function run(what, args) {
  const own = join(root, 'node_modules/.bin/node');
  const env = { ...process.env, NODE_ENV: 'production' };
  const node = existsSync(own) ? own : process.execPath;
  const { status } = spawnSync(node, args, { stdio: ['ignore', 2, 2], env });
  if (status !== 0) throw new Error(`${what} does not build: mend what is named above.`);
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
