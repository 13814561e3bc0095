import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifyChain } from '../chain.ts';
import { edge, entry, object, record } from '../conformance.ts';
import { openPostgresStore } from '../postgres.ts';
import { startPostgres, type TestServer } from './conformance.ts';
import { Connection } from './connection.ts';
import { schemaVersion } from './schema.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startPostgres(['wal_recycle=off']);
}, 60_000);
afterAll(() => server.stop(), 60_000);

/** All that is in a database, with the files that tables are in. */
const inventory = (url: string): Promise<unknown> =>
  server.sql(
    `select 'table' as what, oid, relname as name, relfilenode, relnamespace from pg_class
     union all select 'schema', oid, nspname, 0, 0 from pg_namespace
     union all select 'comment', objoid, description, 0, classoid from pg_description
       where objoid >= 16384
     order by 1, 2`,
    url,
  );

async function refuses(url: string, expected: object): Promise<void> {
  const before = await inventory(url);
  await expect(openPostgresStore({ url })).rejects.toMatchObject(expected);
  expect(await inventory(url)).toEqual(before);
}

async function openAndClose(url: string): Promise<void> {
  await (await openPostgresStore({ url })).close();
}

describe('a database that is refused is left as it was', () => {
  test('of a newer version', async () => {
    const url = await server.fresh();
    await openAndClose(url);
    await server.sql(`update throughline.store set version = ${schemaVersion + 1}`, url);
    await refuses(url, { code: 'newer-version', details: { found: schemaVersion + 1 } });
  });

  test('with tables of another program', async () => {
    const url = await server.fresh();
    await server.sql('create table theirs (a integer)', url);
    await refuses(url, { code: 'damaged' });
  });

  test('with a schema of our name that is not ours', async () => {
    const url = await server.fresh();
    await server.sql('create schema throughline create table log (seq integer)', url);
    await refuses(url, { code: 'damaged' });
  });

  test('in another encoding', async () => {
    const url = await server.fresh();
    const other = new URL(url);
    other.pathname = '/in_latin1';
    await server.sql(`create database in_latin1 encoding 'LATIN1' template template0`);
    await refuses(other.href, { code: 'unsupported' });
    await server.sql('drop database in_latin1');
  });
});

describe('opening a database', () => {
  test('one with an empty schema made by hand is taken, others in it or not', async () => {
    const url = await server.fresh();
    await server.sql('create table theirs (a integer); create schema throughline', url);
    await openAndClose(url);
    await openAndClose(url);
    expect(await server.sql('select * from theirs', url)).toEqual([]);
  });

  test('several that make the same new store at once share it', async () => {
    const url = await server.fresh();
    const stores = await Promise.all([0, 1, 2, 3].map(() => openPostgresStore({ url })));
    await Promise.all(stores.map((store, i) => store.write((w) => w.append([entry(`${i}`)]))));
    for (const store of stores) {
      expect(await verifyChain(store)).toEqual({ verified: 4 });
      await store.close();
    }
  });

  test('a store that a newer program took over meanwhile is not written any more', async () => {
    const url = await server.fresh();
    const store = await openPostgresStore({ url });
    await server.sql(`update throughline.store set version = ${schemaVersion + 1}`, url);
    const write = store.write((w) => w.append([entry('1')]));
    await expect(write).rejects.toMatchObject({ code: 'newer-version' });
    await store.close();
  });

  test('commits reach the disk even where the database is set not to wait for it', async () => {
    const url = await server.fresh();
    const name = new URL(url).pathname.slice(1);
    await server.sql(`alter database ${name} set synchronous_commit = off`);
    const options = {
      url,
      connectTimeoutMs: 5_000,
      statementTimeoutMs: 5_000,
      lockTimeoutMs: 5_000,
    };
    const connection = await Connection.open(options);
    expect(await connection.run('show synchronous_commit')).toEqual([{ synchronous_commit: 'on' }]);
    await connection.end();
  });

  test('an integer that a number can not hold is damage, not another number', async () => {
    const url = await server.fresh();
    const store = await openPostgresStore({ url });
    await store.write((w) => w.putRecord(record('a', { sort: 2 ** 53 - 1 })));
    expect(await store.read((r) => r.record(record('a')))).toMatchObject({ sort: 2 ** 53 - 1 });
    await server.sql('update throughline.records set sort = 9007199254740993', url);
    const read = store.read((r) => r.record(record('a')));
    await expect(read).rejects.toMatchObject({ code: 'damaged' });
    await store.close();
  });
});

describe('questions go along an index', () => {
  // As `connection.ts` has them: a plan made while tables are empty serves for good.
  const settings = `set search_path = throughline; set enable_seqscan = off;
    set enable_hashjoin = off; set enable_mergejoin = off`;
  let url: string;
  beforeAll(async () => {
    url = await server.fresh();
    await openAndClose(url);
  });

  // Lists of one case are sorted; pages of lists without an end are not.
  test.each([
    [`select * from log where id = any('{a,b}')`, false],
    [`select * from log where about = 'a' and seq > 1 order by seq limit 1`, false],
    [`select * from log where activity = 'a' and seq > 1 order by seq limit 1`, false],
    [`select * from objects where id = any('{a,b}')`, false],
    [`select * from objects where activity = 'a' order by seq limit 1`, true],
    [`select * from objects where parent = 'a' order by seq limit 1`, true],
    [`select * from edges where source = any('{a,b}') and type = any('{t,u}') and active`, false],
    [`select * from edges where target = any('{a,b}') and type = any('{t,u}') and active`, false],
    [`select * from edges where activity = 'a' order by seq limit 1`, true],
    [
      `select * from terms where term = 'a' and sort >= 1 and (sort, key) < (1::bigint, 'k')
       order by sort desc, key desc limit 1`,
      false,
    ],
    [`select * from records where kind = 'a' and key = 'b'`, false],
    [`select * from records where expires <= 1 order by expires limit 1`, false],
    [`delete from sealed where activity = 'a'`, false],
  ])('%s', async (sql, sorted) => {
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query(settings);
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain (costs off) ${sql}`);
    await client.end();
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toMatch(/Index (Only )?(Scan|Cond)|Bitmap Index Scan/);
    expect(plan).not.toContain('Seq Scan');
    expect(plan.includes('Sort')).toBe(sorted);
  });
});

const canary = (i: number): Buffer => Buffer.from(`canary-${i}-`.repeat(3 + ((i * 37) % 400)));

/** Files of the server, below a folder of it, that hold what began as a canary. */
function holders(folder: string, what = 'canary-'): string[] {
  const below = join(server.dataFolder ?? '', folder);
  return readdirSync(below, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath, each.name))
    .filter((path) => readFileSync(path).includes(what));
}

/** As does any server that goes on: later writes, and checkpoints now and then. */
async function timeGoesBy(): Promise<void> {
  for (let i = 0; i < 3; i++) await server.sql('select pg_switch_wal()');
  for (let i = 0; i < 2; i++) await server.sql('checkpoint');
}

describe.skipIf(process.env['DATABASE_URL'] !== undefined)('erasure in the files', () => {
  test(
    'once acknowledged, sealed bytes are gone from the tables; from the log when its segments go',
    { timeout: 60_000 },
    async () => {
      const store = await openPostgresStore({ url: await server.fresh() });
      for (let round = 0; round < 3; round++) {
        await Promise.all(
          Array.from({ length: 60 }, (_, i) =>
            store.write(async (w) => {
              const n = (i * 7_919 + round) % 60;
              // Some of these are in the same file as what is erased.
              const activity = n % 3 === 0 ? 'erased' : `kept-${n}`;
              const sealed = activity === 'erased' ? canary(n + round) : Buffer.from('x'.repeat(n));
              const more = { activity, sealed };
              await w.append([entry(`${round}.${i}`, more)]);
              await w.putObject(object(`o${n}`, 1, more));
              await w.putEdge(edge(`o${n}`, 'x', more));
              await w.putRecord(record(`${n}`, more));
              if (n % 5 === 0) await w.deleteRecord(record(`${n}`));
            }),
          ),
        );
      }
      await server.sql('checkpoint');
      expect(holders('base')).not.toEqual([]);
      expect(holders('pg_wal')).not.toEqual([]);
      await store.write((w) => w.eraseActivity('erased'));
      await server.sql('checkpoint');
      expect(holders('base')).toEqual([]);
      expect(
        (await store.read((r) => r.objects(['o0', 'o1']))).map((o) => o.sealed?.length),
      ).toEqual([undefined, 1]);
      await timeGoesBy();
      expect(holders('.')).toEqual([]);
      expect(await verifyChain(store)).toEqual({ verified: 180 });
      await store.close();
    },
  );

  test('where another still reads an older moment, they go with a later commit', async () => {
    const url = await server.fresh();
    const store = await openPostgresStore({ url });
    const sealed = Buffer.from('bird-held-'.repeat(9));
    await store.write((w) => w.append([entry('1', { activity: 'A', sealed })]));
    const other = new Client({ connectionString: url });
    await other.connect();
    await other.query('begin isolation level repeatable read');
    await other.query('select count(*) from throughline.log');
    await store.write((w) => w.eraseActivity('A'));
    await server.sql('checkpoint');
    expect(holders('base', 'bird-held-')).not.toEqual([]);
    await other.query('commit');
    await other.end();
    await setTimeout(1_500);
    await store.write((w) => w.append([entry('2')]));
    await server.sql('checkpoint');
    expect(holders('base', 'bird-held-')).toEqual([]);
    await store.close();
  });

  test('what a hub that was killed left to clear, the next one clears', async () => {
    const url = await server.fresh();
    const store = await openPostgresStore({ url });
    const sealed = Buffer.from('bird-left-'.repeat(9));
    await store.write((w) => w.append([entry('1', { activity: 'A', sealed })]));
    await store.close();
    // What is committed before the files are cleared.
    await server.sql(
      `delete from throughline.sealed;
       insert into throughline.unscrubbed select generate_series(0, 7)`,
      url,
    );
    await server.sql('checkpoint');
    expect(holders('base', 'bird-left-')).not.toEqual([]);
    const next = await openPostgresStore({ url });
    await next.write((w) => w.append([entry('2')]));
    await server.sql('checkpoint');
    expect(holders('base', 'bird-left-')).toEqual([]);
    await next.close();
  });
});
