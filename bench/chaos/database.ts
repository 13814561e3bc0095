/** A PostgreSQL server that syncs as any other does, and can be killed. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startServer } from '../store/server.ts';
import type { Random } from './random.ts';

export interface Database {
  readonly url: string;
  /** Kills the whole server, or one process that serves a connection, and brings the server back. */
  kill(what: 'server' | 'backend', random: Random): Promise<void>;
  stop(): Promise<void>;
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
  const server = await startServer();
  const pidFile = join(server.dataFolder, 'postmaster.pid');
  const pidOf = (): number => Number(readFileSync(pidFile, 'utf8').split('\n')[0]);
  return {
    url: await server.fresh(),
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
    stop: () => server.stop(),
  };
}
