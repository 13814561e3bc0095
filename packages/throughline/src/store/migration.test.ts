import Database from 'better-sqlite3';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifyChain } from './chain.ts';
import { edge, entry, object, record } from './conformance.ts';
import { openPostgresStore } from './postgres.ts';
import { Connection } from './postgres/connection.ts';
import { startPostgres, type TestServer } from './postgres/conformance.ts';
import * as postgres from './postgres/schema.ts';
import { openSqliteStore } from './sqlite.ts';
import * as sqlite from './sqlite/schema.ts';
import type { Store, StoredRow } from './store.ts';

const folder = mkdtempSync(join(tmpdir(), 'store-migration-'));
let server: TestServer;
beforeAll(async () => {
  server = await startPostgres();
}, 60_000);
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await server.stop();
}, 60_000);

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/**
 * What the fixtures hold: something of everything that a store keeps. Each was filled by the version it is
 * named after: a SQLite file after `vacuum`, and SQL that makes the schema and its rows, both in gzip.
 */
async function fill(store: Store): Promise<void> {
  await store.write(async (writer) => {
    await writer.append([
      entry('asr_1', { about: 'act_1', activity: 'act_1', shape: { says: 'opened', n: 1.5 } }),
      entry('asr_2', { about: 'dlg_1', activity: 'act_1', sealed: bytes('words of dialog') }),
      entry('asr_3', { about: 'prt_1', shape: ['é', '𝒳', null], sealed: bytes('a name') }),
    ]);
    await writer.putObject(object('act_1', 1, { kind: 'activity', activity: 'act_1' }));
    await writer.putObject(
      object('dlg_1', 2, { activity: 'act_1', parent: 'act_1', sealed: bytes('dialog') }),
    );
    await writer.putEdge(edge('dlg_1', 'act_1', { activity: 'act_1', sealed: bytes('note') }));
    await writer.putEdge(edge('dlg_1', 'dlg_2', { status: 'revoked', shape: { why: 'over' } }));
    await writer.putRecord(
      record('k', { index: { owner: 'o', state: 's' }, sort: 7, activity: 'act_1', expiresAt: 99 }),
    );
    await writer.putRecord(record('k', { kind: 'grant', sealed: bytes('sealed grant') }));
    await writer.putRecord(record('gone', { sealed: bytes('was here') }));
  });
  await store.write((writer) =>
    writer.putRecord(record('k', { index: { owner: 'o' }, sort: 8, sealed: bytes('again') })),
  );
  await store.write((writer) => writer.deleteRecord({ kind: 'task', key: 'gone' }));
}

async function contentOf(store: Store) {
  return store.read(async (reader) => {
    const rows: StoredRow[] = [];
    for (let after: string | undefined, isEnd = false; !isEnd;) {
      const page = await reader.scan({ limit: 100, ...(after === undefined ? {} : { after }) });
      rows.push(...page.rows);
      after = page.next;
      isEnd = after === undefined;
    }
    return {
      head: await reader.head(),
      log: await reader.log({ after: 0, limit: 100 }),
      rows: new Set(rows.map((row) => JSON.stringify(row))),
      found: await reader.records({ kind: 'task', index: { owner: 'o' }, limit: 10 }),
      expired: await reader.expired({ until: 1_000, limit: 10 }),
    };
  });
}

/** Whatever became of the schema since, a store of that version opens and holds what it held. */
async function holdsAll(open: Promise<Store>): Promise<void> {
  const wanted = await openSqliteStore({ path: ':memory:' });
  await fill(wanted);
  const store = await open;
  try {
    expect(await contentOf(store)).toEqual(await contentOf(wanted));
    expect(await verifyChain(store)).toEqual({ verified: 3 });
    await store.write((writer) => writer.append([entry('asr_4')]));
    await store.write((writer) => writer.eraseActivity('act_1'));
    expect((await store.read((reader) => reader.head())).seq).toBe(4);
  } finally {
    await store.close();
    await wanted.close();
  }
}

const fixture = (name: string): URL => new URL(`./fixtures/${name}.gz`, import.meta.url);
const contents = (name: string): Buffer => gunzipSync(readFileSync(fixture(name)));
const versionsOf = (steps: readonly string[]): number[] => steps.map((_, i) => i + 1);

describe('a store of an earlier version', () => {
  test.each(versionsOf(sqlite.steps))('SQLite, version %i', async (version) => {
    const path = join(folder, `version-${version}.db`);
    writeFileSync(path, contents(`sqlite-${version}.db`));
    await holdsAll(openSqliteStore({ path }));
    const fresh = join(folder, `fresh-${version}.db`);
    await (await openSqliteStore({ path: fresh })).close();
    expect(schemaIn(path)).toEqual(schemaIn(fresh));
  });

  test.each(versionsOf(postgres.steps))('PostgreSQL, version %i', async (version) => {
    const url = await server.fresh();
    await server.sql(contents(`postgres-${version}.sql`).toString('utf8'), url);
    await holdsAll(openPostgresStore({ url }));
    const fresh = await server.fresh();
    await (await openPostgresStore({ url: fresh })).close();
    expect(await columnsIn(url)).toEqual(await columnsIn(fresh));
  });
});

function schemaIn(path: string): { version: unknown; schema: unknown[] } {
  const db = new Database(path, { readonly: true });
  try {
    return {
      version: db.pragma('user_version', { simple: true }),
      schema: db.prepare('select type, name, sql from sqlite_schema order by type, name').all(),
    };
  } finally {
    db.close();
  }
}

const columnsIn = (url: string): Promise<Record<string, unknown>[]> =>
  server.sql(
    `select table_name, column_name, data_type, is_nullable, collation_name
     from information_schema.columns where table_schema = 'throughline' order by 1, 2`,
    url,
  );

/** Fails where it is done twice. */
const nextStep = 'create table added (a integer); insert into added values (1);';

describe('programs that bring a store to the next version at once', () => {
  test('do it once, on SQLite', async () => {
    const path = join(folder, 'race.db');
    writeFileSync(path, contents(`sqlite-${sqlite.schemaVersion}.db`));
    const program = `
      import Database from 'better-sqlite3';
      import { migrate, steps } from ${JSON.stringify(new URL('./sqlite/schema.ts', import.meta.url).href)};
      const db = new Database(process.argv[1], { timeout: 10000 });
      migrate(db, [...steps, ${JSON.stringify(nextStep)}]);
      db.close();`;
    const words = ['--input-type=module', '-e', program, path];
    const ends = Array.from({ length: 4 }, () => {
      const { promise, resolve } = Promise.withResolvers<number | null>();
      spawn(process.execPath, words, { stdio: 'inherit', cwd: import.meta.dirname }).once(
        'exit',
        resolve,
      );
      return promise;
    });
    expect(await Promise.all(ends)).toEqual([0, 0, 0, 0]);
    const db = new Database(path);
    expect(db.prepare('select count(*) as n from added').get()).toEqual({ n: 1 });
    expect(db.pragma('user_version', { simple: true })).toBe(sqlite.schemaVersion + 1);
    db.close();
    await expect(openSqliteStore({ path })).rejects.toMatchObject({ code: 'newer-version' });
  });

  test('do it once, on PostgreSQL, and an older program that writes stops', async () => {
    const url = await server.fresh();
    const store = await openPostgresStore({ url });
    await fill(store);
    const steps = [...postgres.steps, nextStep];
    const limits = { connectTimeoutMs: 5_000, statementTimeoutMs: 5_000, lockTimeoutMs: 5_000 };
    const connections = await Promise.all(
      Array.from({ length: 4 }, () => Connection.open({ url, ...limits })),
    );
    await Promise.all(connections.map((connection) => postgres.migrate(connection, steps)));
    for (const connection of connections) connection.destroy();
    expect(await server.sql('select count(*)::integer as n from throughline.added', url)).toEqual([
      { n: 1 },
    ]);
    const writing = store.write((writer) => writer.append([entry('late')]));
    await expect(writing).rejects.toMatchObject({ code: 'newer-version' });
    await store.close();
    await expect(openPostgresStore({ url })).rejects.toMatchObject({ code: 'newer-version' });
  });
});

test('each version has its fixture', () => {
  for (const version of versionsOf(sqlite.steps)) {
    expect(existsSync(fixture(`sqlite-${version}.db`))).toBe(true);
  }
  for (const version of versionsOf(postgres.steps)) {
    expect(existsSync(fixture(`postgres-${version}.sql`))).toBe(true);
  }
});
