import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { HubClient } from '../client/index.ts';
import { startPostgres, type TestServer } from '../store/postgres/conformance.ts';
import { inspectPostgresStore } from '../store/postgres/index.ts';
import { commandsIn } from './conformance.ts';
import { DataFolder } from './data-folder.ts';
import { openStore } from './open-store.ts';
import { localPrincipal, startHub } from './wire.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startPostgres();
}, 60_000);
afterAll(() => server.stop(), 60_000);

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'throughline-'));
});
afterEach(() => rmSync(base, { recursive: true }));

describe('the store that --store names', () => {
  it('is a SQLite file in the folder where it names none, or the one it names', async () => {
    const folder = new DataFolder(base);
    const own = join(base, 'own.db');
    for (const [where, file] of [
      [undefined, folder.database],
      [own, own],
    ] as const) {
      const { store, domainKey } = await openStore(folder, where);
      expect(existsSync(file)).toBe(true);
      expect(domainKey).toHaveLength(32);
      await store.close();
    }
  });

  it('is refused where its kind is unknown, without being repeated', async () => {
    const url = 'mysql://root:hunter2@db/hub';
    const error: unknown = await openStore(new DataFolder(base), url).catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'unsupported' });
    expect(inspect(error, { depth: 9 })).not.toContain('hunter2');
  });

  it('is a PostgreSQL database, on which two hubs with one key are one domain', async () => {
    const store = await server.fresh();
    const first = await startHub({ dataDir: join(base, 'a'), port: 0, store });
    const domainKeyFile = join(base, 'a', 'domain.key');
    const second = await startHub({ dataDir: join(base, 'b'), port: 0, store, domainKeyFile });
    const { key } = await first.hub.createKey(localPrincipal, {
      principal: { tenant: 'local', id: 'desk', role: 'agent' },
    });
    const client = new HubClient({ url: second.url, key });
    expect(await client.authenticate(`Bearer ${key}`)).toMatchObject({ id: 'desk' });
    await first.close();
    await second.close();
  });

  it('is refused, and no key made, where it has been in use and its key is not there', async () => {
    const store = await server.fresh();
    await (await startHub({ dataDir: join(base, 'a'), port: 0, store })).close();
    const another = new DataFolder(join(base, 'b'));
    another.create();
    await expect(openStore(another, store)).rejects.toMatchObject({ code: 'damaged' });
    expect(existsSync(join(base, 'b', 'domain.key'))).toBe(false);
  });
});

describe('a restore into PostgreSQL', () => {
  it('that needs a place for content says so before it fills the database', async () => {
    const { tellJson } = commandsIn(join(base, 'data'));
    await (await startHub({ dataDir: join(base, 'data'), port: 0 })).close();
    await tellJson('backup', '-o', join(base, 'monday'), '--keys', join(base, 'safe'));
    const url = await server.fresh();
    const there = commandsIn(join(base, 'new'));
    const words = ['restore', join(base, 'monday'), '--keys', join(base, 'safe'), '--store', url];
    const told = await there.tell(...words);
    expect(told).toMatchObject({ exitCode: 2, err: expect.stringContaining('--content') });
    expect(await inspectPostgresStore({ url })).toBe(0);
    await there.tellJson(...words, '--content', join(base, 'bytes'));
    expect(await there.tellJson('verify', '--store', url)).toMatchObject({ findings: [] });
  });
});
