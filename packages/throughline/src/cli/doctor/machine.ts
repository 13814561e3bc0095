import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { ThroughlineError } from '../../errors.ts';
import { domainMark, Vault } from '../../hub/vault.ts';
import { inspect, peek } from '../../store/sqlite/inspect.ts';
import { readPrivate, type DataFolder } from '../data-folder.ts';
import type { Remark } from './check.ts';

const mebibyte = 2 ** 20;
/** Free space below which a hub soon stops, and below which it is time to look. */
const disk = { least: 100 * mebibyte, low: 1_024 * mebibyte } as const;
const oldestNode = [22, 14] as const;
const toolMs = 5_000;
const forOthers = 0o077;

export function lookAtNode(version = process.versions.node): string {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [least, leastMinor] = oldestNode;
  if (major > least || (major === least && minor >= leastMinor)) return version;
  throw new ThroughlineError(
    'unsupported',
    `${version} is too old; install ${oldestNode.join('.')} or newer`,
  );
}

const notThere = (folder: DataFolder): Remark => ({
  saw: `${folder.path} is not there yet`,
  advice: 'a hub makes it when it starts: throughline serve',
});

export function lookAtFolder(folder: DataFolder): string | Remark {
  const { path } = folder;
  if (!existsSync(path)) return notThere(folder);
  const stat = statSync(path);
  if (!stat.isDirectory()) throw new ThroughlineError('invalid', `${path}: is no folder`);
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new ThroughlineError(
      'invalid',
      `${path}: can’t be written to; give it to who runs the hub`,
      { cause },
    );
  }
  if (process.platform !== 'win32' && (stat.mode & forOthers) !== 0) {
    return {
      saw: `${path} is open to others on this machine`,
      advice: `close it: chmod 700 ${path}`,
    };
  }
  return path;
}

/** Throws `invalid` for a key that others may read, `damaged` for a database without its key. */
export function lookAtKeys(folder: DataFolder, isOwn: boolean): string | Remark {
  const names = ['domain.key', 'local.key'];
  const there = names.filter((name) => existsSync(join(folder.path, name)));
  for (const name of there) readPrivate(join(folder.path, name));
  if (there.length === names.length) return `${names.join(' and ')}, for their owner alone`;
  if (isOwn && existsSync(folder.database) && !there.includes('domain.key')) {
    throw new ThroughlineError(
      'damaged',
      `domain.key is missing in ${folder.path}, and the database can’t be read without it; put the key file back`,
    );
  }
  const missing = names.filter((name) => !there.includes(name));
  return { saw: `no ${missing.join(', no ')} yet`, advice: 'a hub makes them when it starts' };
}

/** The database file, read through; throws what opening it would, with this key where there is one. */
export function lookAtFile(path: string, keyFile?: string): string | Remark {
  if (!existsSync(path)) {
    return { saw: `${path} is not there yet`, advice: 'a hub makes it when it starts' };
  }
  const size = Math.ceil(statSync(path).size / mebibyte);
  const version = inspect(path);
  checkKey(peek(path, domainMark), keyFile, path);
  return `SQLite, schema version ${version}, ${size} MiB, whole`;
}

/** The database of a server; throws what opening it would, with this key where there is one. */
export async function lookAtServer(url: string, keyFile: string): Promise<string> {
  const { inspectPostgresStore, peekPostgresStore } = await import('../../store/postgres/index.ts');
  const version = await inspectPostgresStore({ url });
  checkKey(await peekPostgresStore({ url }, domainMark), keyFile, 'the database');
  return `PostgreSQL answers, schema version ${version === 0 ? 'none yet' : version}`;
}

/** Throws `damaged` for a key that a store with this mark was not written under. */
function checkKey(mark: Uint8Array | undefined, keyFile = '', store = ''): void {
  if (mark === undefined || !existsSync(keyFile)) return;
  const key = new Uint8Array(Buffer.from(readPrivate(keyFile), 'base64url'));
  if (new Vault(key).ownsMark(mark)) return;
  throw new ThroughlineError(
    'damaged',
    `${keyFile}: is not the key that ${store} was written under; put the right file back`,
  );
}

export function lookAtDisk(folder: DataFolder): string | Remark {
  let path = folder.path;
  while (!existsSync(path)) path = dirname(path);
  const { bavail, bsize } = statfsSync(path);
  const free = bavail * bsize;
  const saw = `${Math.floor(free / mebibyte).toLocaleString('en')} MiB free`;
  if (free < disk.least) {
    throw new ThroughlineError('unavailable', `${saw}; make room, the hub can’t write without it`);
  }
  return free < disk.low ? { saw, advice: 'make room before it is used up' } : saw;
}

/** Whether a hub could listen there. */
export async function lookAtPort(port: number): Promise<string | Remark> {
  const server = createServer();
  server.listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return {
      saw: `port ${port} is taken`,
      advice: `end what listens there, or name another: throughline serve --port N`,
    };
  }
  server.close();
  await once(server, 'close');
  return `port ${port} is free`;
}

/** A program beside us, which not everybody needs. */
export function lookForTool(name: string, flag: string, need: string): string | Remark {
  const { status, stdout, stderr } = spawnSync(name, [flag], { encoding: 'utf8', timeout: toolMs });
  const [line = ''] = `${stdout ?? ''}${stderr ?? ''}`.split('\n');
  if (status === 0) return line.slice(0, 60);
  return { saw: 'not found', advice: `install it if you need ${need}` };
}
