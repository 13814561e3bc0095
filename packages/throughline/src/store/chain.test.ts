import Database from 'better-sqlite3';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { chainHash, genesis, verifyChain } from './chain.ts';
import { openSqliteStore } from './sqlite.ts';

const folder = mkdtempSync(join(tmpdir(), 'store-chain-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('the hash of an entry', () => {
  const entry = { id: 'asr_1', about: 'dlg_1', activity: 'act_1', shape: { b: [1, 'é'], a: null } };

  test('can be computed by anyone with SHA-256 and RFC 8785', () => {
    const text = `${genesis}\n{"about":"dlg_1","activity":"act_1","id":"asr_1","shape":{"a":null,"b":[1,"é"]}}`;
    expect(chainHash(genesis, entry)).toBe(createHash('sha256').update(text).digest('hex'));
  });

  test('is the same for the same shape in another order', () => {
    const shape = { a: null, b: [1, 'é'] };
    expect(chainHash(genesis, { ...entry, shape })).toBe(chainHash(genesis, entry));
  });

  test.each([
    { id: 'asr_2' },
    { about: 'dlg_2' },
    { activity: 'act_2' },
    { shape: { b: ['é', 1], a: null } },
  ])('is another with %j', (change) => {
    expect(chainHash(genesis, { ...entry, ...change })).not.toBe(chainHash(genesis, entry));
  });

  test('is another after another entry', () => {
    expect(chainHash('f'.repeat(64), entry)).not.toBe(chainHash(genesis, entry));
  });
});

describe('verifying', () => {
  test.each([
    ['a changed shape', `update log set shape = '{"n":-1}' where seq = 1500`, 1_500],
    ['a changed subject', 'update log set about = activity where seq = 1', 1],
    ['a missing entry', 'delete from log where seq = 1000', 1_000],
    [
      'two entries that changed places',
      `update log set seq = -1 where seq = 7; update log set seq = 7 where seq = 8;
       update log set seq = 8 where seq = -1`,
      7,
    ],
    ['a missing beginning', 'delete from log where seq < 10', 1],
  ])('finds %s and says where', async (_, sql, broken) => {
    const path = join(folder, `${broken}-${sql.length}.db`);
    const store = await openSqliteStore({ path });
    await store.write((w) =>
      w.append(
        Array.from({ length: 2_100 }, (_each, n) => ({
          id: `asr_${n}`,
          about: 'dlg_1',
          activity: 'act_1',
          shape: { n },
        })),
      ),
    );
    expect(await verifyChain(store)).toEqual({ verified: 2_100 });
    const db = new Database(path);
    db.exec(sql);
    db.close();
    expect(await verifyChain(store)).toEqual({ verified: broken - 1, broken });
    await store.close();
  });
});
