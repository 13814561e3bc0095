import Database from 'better-sqlite3';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { verifyChain } from '../chain.ts';
import { openSqliteStore } from '../sqlite.ts';
import { applicationId, schemaVersion } from './schema.ts';

const folder = mkdtempSync(join(tmpdir(), 'store-file-'));
afterAll(() => rmSync(folder, { recursive: true }));
let folders = 0;

/** A path in a folder of its own, so that whatever appears beside it shows. */
function freshPath(): string {
  const own = join(folder, `${folders++}`);
  mkdirSync(own);
  return join(own, 'store.db');
}

/** Name → digest of everything beside the file, the file included. */
function digests(path: string): Readonly<Record<string, string>> {
  const own = dirname(path);
  return Object.fromEntries(
    readdirSync(own).map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(own, name)))
        .digest('hex'),
    ]),
  );
}

async function fill(path: string, entries: number): Promise<void> {
  const store = await openSqliteStore({ path });
  await store.write((w) =>
    w.append(
      Array.from({ length: entries }, (_, i) => ({
        id: `asr_${i}`,
        about: `dlg_${i % 7}`,
        shape: { text: 'x'.repeat(200) },
      })),
    ),
  );
  await store.close();
}

/** A store as a killed process leaves it: what was committed is in the write-ahead log alone. */
async function leaveBehind(change: (db: Database.Database) => void): Promise<string> {
  const living = freshPath();
  await fill(living, 50);
  const db = new Database(living);
  db.pragma('wal_autocheckpoint = 0');
  db.exec(`insert into names (id) values ('keeps the log open')`);
  change(db);
  const left = freshPath();
  for (const suffix of ['', '-wal', '-shm']) copyFileSync(living + suffix, left + suffix);
  db.close();
  return left;
}

const names = (path: string): string[] => readdirSync(dirname(path)).toSorted();

const refuses = async (path: string, code: string): Promise<void> => {
  const before = digests(path);
  await expect(openSqliteStore({ path })).rejects.toMatchObject({ code });
  expect(digests(path)).toEqual(before);
};

const newer = (db: Database.Database): void => {
  db.pragma(`user_version = ${schemaVersion + 1}`);
};

const canary = (i: number): Buffer => Buffer.from(`canary-${i}-`.repeat(3 + ((i * 37) % 90)));

function holdsCanary(path: string, from: string): string[] {
  return readdirSync(dirname(path)).filter((name) =>
    readFileSync(join(dirname(path), name)).includes(from),
  );
}

describe('opening a file', () => {
  test('a new one can be read by its owner alone, as can what lies beside it', async () => {
    const path = freshPath();
    const store = await openSqliteStore({ path });
    await store.write((w) => w.append([{ id: '1', about: 'o', shape: 1 }]));
    expect(names(path)).toEqual(['store.db', 'store.db-shm', 'store.db-wal']);
    for (const name of names(path)) {
      expect(statSync(join(dirname(path), name)).mode & 0o777).toBe(0o600);
    }
    await store.close();
    expect(names(path)).toEqual(['store.db']);
  });

  test('it carries our mark and version, and commits reach the disk', async () => {
    const path = freshPath();
    await fill(path, 1);
    const db = new Database(path, { readonly: true });
    expect(db.pragma('application_id', { simple: true })).toBe(applicationId);
    expect(db.pragma('user_version', { simple: true })).toBe(schemaVersion);
    expect(db.pragma('journal_mode', { simple: true })).toBe('wal');
    db.close();
  });

  test('what was written is there again', async () => {
    const path = freshPath();
    await fill(path, 20);
    const store = await openSqliteStore({ path });
    expect(await verifyChain(store)).toEqual({ verified: 20 });
    await store.close();
  });

  test('an empty file becomes a store', async () => {
    const path = freshPath();
    writeFileSync(path, '');
    await fill(path, 1);
    const store = await openSqliteStore({ path });
    expect(await verifyChain(store)).toEqual({ verified: 1 });
    await store.close();
  });

  test('one whose maker died before its first commit is finished', async () => {
    const path = freshPath();
    const db = new Database(path);
    db.pragma('journal_mode = wal');
    db.close();
    expect(statSync(path).size).toBeGreaterThan(0);
    await fill(path, 1);
    const store = await openSqliteStore({ path });
    expect(await verifyChain(store)).toEqual({ verified: 1 });
    await store.close();
  });

  test('what a killed process left in the write-ahead log is there', async () => {
    const path = await leaveBehind((db) =>
      db.exec(`insert into names (id) values ('only in the log')`),
    );
    const store = await openSqliteStore({ path });
    expect(await verifyChain(store)).toEqual({ verified: 50 });
    await store.close();
    const db = new Database(path, { readonly: true });
    const found = db.prepare(`select count(*) from names where id = 'only in the log'`).pluck();
    expect(found.get()).toBe(1);
    db.close();
  });

  test.each(['', 'a\0b', join(folder, 'no such folder', 'store.db'), folder])(
    'the path %j is refused',
    async (path) => {
      await expect(openSqliteStore({ path })).rejects.toMatchObject({ code: 'invalid' });
    },
  );

  // Lists of one case are sorted; pages of lists without an end are not.
  test.each([
    'select * from log where about = 1 and seq > 1 order by seq limit 1',
    'select * from log where activity = 1 and seq > 1 order by seq limit 1',
    'select * from objects where activity = 1',
    'select * from objects where parent = 1',
    'select target from edges where source = 1 and type in (1, 2) and active = 1',
    'select source from edges where target = 1 and type in (1, 2) and active = 1',
    'select * from edges where activity = 1',
    `select record from terms where kind = 1 and name = 1 and value = 'v' and sort >= 1
     and (sort, key) < (1, 'k') order by sort desc, key desc limit 1`,
    'select * from records where activity = 1',
    'select * from records where expires <= 1 order by expires limit 1',
    'select n from slots where live = 0 and length(bytes) = 64 limit 1',
  ])('there is an index for: %s', async (sql) => {
    const path = freshPath();
    await fill(path, 1);
    const db = new Database(path, { readonly: true });
    const steps = db.prepare<[], { detail: string }>(`explain query plan ${sql}`).all();
    db.close();
    expect(steps.map(({ detail }) => detail)).toEqual([
      expect.stringMatching(/^SEARCH .* USING (COVERING |PRIMARY )?(INDEX|KEY)/),
    ]);
  });
});

describe('a file that is refused is left byte for byte as it was', () => {
  test('of a newer version', async () => {
    const path = freshPath();
    await fill(path, 5);
    const db = new Database(path);
    newer(db);
    db.close();
    await refuses(path, 'newer-version');
  });

  test('of a newer version that only the write-ahead log knows of', async () => {
    const path = await leaveBehind(newer);
    expect(readFileSync(path).readInt32BE(60)).toBe(schemaVersion);
    await refuses(path, 'newer-version');
    expect(names(path)).toEqual(['store.db', 'store.db-shm', 'store.db-wal']);
  });

  test('of another program', async () => {
    const path = freshPath();
    const db = new Database(path);
    db.exec('create table theirs (a)');
    db.close();
    await refuses(path, 'damaged');
  });

  test('no database at all', async () => {
    const path = freshPath();
    writeFileSync(path, 'Dear diary,\n'.repeat(1_000));
    await refuses(path, 'damaged');
  });

  test('with a page overwritten', async () => {
    const path = freshPath();
    await fill(path, 500);
    const content = readFileSync(path);
    content.fill(0xa5, 4_096 * 8, 4_096 * 30);
    writeFileSync(path, content);
    await refuses(path, 'damaged');
  });

  test('cut short', async () => {
    const path = freshPath();
    await fill(path, 500);
    truncateSync(path, 4_096 * 20);
    await refuses(path, 'damaged');
  });

  test('cut short, with a write-ahead log beside it', async () => {
    const path = await leaveBehind(() => {});
    truncateSync(path, 4_096 * 3);
    await refuses(path, 'damaged');
  });
});

describe('erasure in the file', () => {
  test('the sealed bytes are gone from the file and the write-ahead log once acknowledged', async () => {
    const path = freshPath();
    const store = await openSqliteStore({ path });
    // Sizes and turns differ, so that pages split, merge and are moved about.
    for (let round = 0; round < 4; round++) {
      await Promise.all(
        Array.from({ length: 300 }, (_, i) =>
          store.write(async (w) => {
            const n = (i * 7_919 + round) % 300;
            const activity = n % 3 === 0 ? 'erased' : 'kept';
            const sealed = activity === 'erased' ? canary(n + round) : Buffer.from('x'.repeat(n));
            const [entry] = await w.append([
              { id: `${round}.${i}`, about: `o${n}`, activity, shape: {}, sealed },
            ]);
            const seq = entry?.seq ?? 0;
            await w.putObject({ id: `o${n}`, kind: 'task', activity, shape: {}, sealed, seq });
            await w.putEdge({
              id: `e${n}`,
              type: 't',
              from: `o${n}`,
              to: 'x',
              status: 'active',
              activity,
              shape: {},
              sealed,
              seq,
            });
            await w.putRecord({
              kind: 'k',
              key: `${n}`,
              sort: n,
              index: {},
              activity,
              shape: {},
              sealed,
            });
            if (n % 5 === 0) await w.deleteRecord({ kind: 'k', key: `${n}` });
          }),
        ),
      );
    }
    expect(holdsCanary(path, 'canary-')).not.toEqual([]);
    await store.write((w) => w.eraseActivity('erased'));
    expect(existsSync(`${path}-wal`)).toBe(true);
    expect(holdsCanary(path, 'canary-')).toEqual([]);
    expect(await verifyChain(store)).toEqual({ verified: 1_200 });
    await store.close();
    expect(holdsCanary(path, 'canary-')).toEqual([]);
  });

  test('where another process still reads an older moment, they go with a later commit', async () => {
    const path = freshPath();
    const store = await openSqliteStore({ path });
    const sealed = Buffer.from('canary-held');
    await store.write((w) => w.append([{ id: '1', about: 'o', activity: 'A', shape: 1, sealed }]));
    const other = new Database(path, { readonly: true });
    other.exec('begin');
    other.prepare('select count(*) from log').get();
    await store.write((w) => w.eraseActivity('A'));
    expect(holdsCanary(path, 'canary-held')).toContain(`${basename(path)}-wal`);
    other.exec('commit');
    await store.write((w) => w.append([{ id: '2', about: 'o', shape: 2 }]));
    expect(holdsCanary(path, 'canary-held')).toEqual([]);
    other.close();
    await store.close();
  });
});

describe('a file that another process holds', () => {
  test('writes are refused as unavailable after the time to wait, and work once it lets go', async () => {
    const path = freshPath();
    const store = await openSqliteStore({ path, busyTimeoutMs: 20 });
    const other = new Database(path);
    other.exec('begin immediate');
    const heard: number[] = [];
    store.onCommit((seq) => heard.push(seq));
    const writes = ['1', '2'].map((id) =>
      store.write((w) => w.append([{ id, about: 'o', shape: null }])),
    );
    const refused = { status: 'rejected', reason: { code: 'unavailable', retryable: true } };
    expect(await Promise.allSettled(writes)).toMatchObject([refused, refused]);
    expect((await store.read((r) => r.head())).seq).toBe(0);
    other.exec('commit');
    await store.write((w) => w.append([{ id: '1', about: 'o', shape: null }]));
    expect(heard).toEqual([1]);
    other.close();
    await store.close();
  });

  test('a commit that fails is acknowledged to nobody, and is not there afterwards', async () => {
    const path = freshPath();
    const store = await openSqliteStore({ path });
    await store.write((w) => w.append([{ id: '1', about: 'o', shape: null }]));
    const other = new Database(path);
    // A constraint that SQLite checks as late as the commit.
    other.exec(`create table parent (n integer primary key);
      create table child (n integer references parent deferrable initially deferred);
      create trigger orphan after insert on log begin insert into child values (99); end`);
    const refused = store.write((w) => w.append([{ id: '2', about: 'o', shape: null }]));
    await expect(refused).rejects.toMatchObject({ code: 'internal' });
    other.exec('drop trigger orphan');
    const [entry] = await store.write((w) => w.append([{ id: '3', about: 'o', shape: null }]));
    expect(entry?.seq).toBe(2);
    expect(await verifyChain(store)).toEqual({ verified: 2 });
    other.close();
    await store.close();
  });
});
