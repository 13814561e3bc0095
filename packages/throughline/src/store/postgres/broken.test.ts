import { inspect } from 'node:util';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifyChain } from '../chain.ts';
import { entry, object, record } from '../conformance.ts';
import { openPostgresStore } from '../postgres.ts';
import type { Store } from '../store.ts';
import { type Cut, openLine, startPostgres, type TestServer } from './conformance.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startPostgres();
}, 60_000);
afterAll(() => server.stop(), 60_000);

const append = (store: Store, id: string): Promise<unknown> =>
  store.write((w) => w.append([entry(id)]));

const ids = (store: Store): Promise<string[]> =>
  store.read(async (r) => (await r.log({ after: 0, limit: 1_000 })).map(({ id }) => id));

/** Ends the connections of stores, one role of them or all. */
const terminate = (url: string): Promise<unknown> =>
  server.sql(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where application_name = 'throughline' and datname = current_database()`,
    url,
  );

/** Tries until it works; only what may be tried again is. */
async function insist<T>(task: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await task();
    } catch (error) {
      if (tries === 200) throw error;
      expect(error).toMatchObject({ code: 'unavailable', retryable: true });
      await setTimeout(20);
    }
  }
}

describe('a line that is cut at the commit', () => {
  const cuts: readonly (readonly [cut: Cut, what: string])[] = [
    ['before its answer comes', 'is found to have been made, and acknowledged'],
    ['before the server has it', 'is found not to have been made, and may be tried again'],
  ];
  test.each(cuts)('%s: the commit %s', { timeout: 120_000 }, async (cut) => {
    const line = await openLine(await server.fresh());
    const store = await openPostgresStore({ url: line.url });
    const heard: number[] = [];
    store.onCommit((seq) => heard.push(seq));
    await append(store, 'first');
    line.cutAtCommit(cut);
    const writes = Promise.allSettled([
      append(store, 'second'),
      // Leaves nothing in the log that it could be told by.
      store.write((w) => w.putRecord(record('r'))),
    ]);
    const made = cut === 'before its answer comes';
    const undone = {
      reason: { code: 'unavailable', retryable: true, details: { outcome: 'undone' } },
    };
    expect(await writes).toMatchObject(
      made ? [{ status: 'fulfilled' }, { value: 1 }] : [undone, undone],
    );
    expect(await insist(() => ids(store))).toEqual(made ? ['first', 'second'] : ['first']);
    expect(heard).toEqual(made ? [1, 2] : [1]);
    await append(store, 'third');
    expect((await verifyChain(store)).verified).toBe(made ? 3 : 2);
    await store.close();
    await line.close();
  });

  test(
    'and stays cut: the outcome is said to be unknown, and is not for trying again blindly',
    {
      timeout: 120_000,
    },
    async () => {
      const line = await openLine(await server.fresh());
      const store = await openPostgresStore({ url: line.url });
      line.cutAtCommit('before its answer comes', true);
      await expect(append(store, 'first')).rejects.toMatchObject({
        code: 'unavailable',
        retryable: false,
        details: { outcome: 'unknown' },
      });
      await expect(append(store, 'second')).rejects.toMatchObject({ code: 'unavailable' });
      line.mend();
      // It was made. Its id tells, and keeps it from being made twice.
      expect(await insist(() => ids(store))).toEqual(['first']);
      await expect(append(store, 'first')).rejects.toMatchObject({ code: 'conflict' });
      await store.close();
      await line.close();
    },
  );
});

describe('a server that goes away', () => {
  test('works under way are refused as unavailable and undone, later ones land', async () => {
    const url = await server.fresh();
    const store = await openPostgresStore({ url });
    const heard: number[] = [];
    store.onCommit((seq) => heard.push(seq));
    await append(store, 'before');
    const refused = { code: 'unavailable', retryable: true };
    let ended: Promise<unknown> | undefined;
    const slow = store.write(async (w) => {
      await w.append([entry('slow')]);
      await w.putObject(object('o', 2));
      ended ??= terminate(url);
      for (;;) await w.edges(['o'], { direction: 'out' });
    });
    await expect(slow).rejects.toMatchObject(refused);
    await ended;
    await insist(() => append(store, 'after'));
    expect(await ids(store)).toEqual(['before', 'after']);
    expect(heard).toEqual([1, 2]);
    await store.close();
  });

  test('a read under way is refused as unavailable', async () => {
    const url = await server.fresh();
    const store = await openPostgresStore({ url });
    let ended: Promise<unknown> | undefined;
    const slow = store.read(async (r) => {
      ended ??= terminate(url);
      for (;;) await r.head();
    });
    await expect(slow).rejects.toMatchObject({ code: 'unavailable', retryable: true });
    await ended;
    expect((await insist(() => store.read((r) => r.head()))).seq).toBe(0);
    await store.close();
  });

  test.skipIf(process.env['DATABASE_URL'] !== undefined)(
    'killed and started again: what was acknowledged is there, and writing goes on',
    { timeout: 60_000 },
    async () => {
      const url = await server.fresh();
      const store = await openPostgresStore({ url });
      const acknowledged: string[] = [];
      const stopped = new AbortController();
      const writers = Array.from({ length: 4 }, async (_, writer) => {
        for (let i = 0; !stopped.signal.aborted; i++) {
          const id = `${writer}.${i}`;
          await append(store, id).then(
            () => acknowledged.push(id),
            (error: unknown) => expect(error).toMatchObject({ code: 'unavailable' }),
          );
          await setTimeout(1);
        }
      });
      for (let round = 0; round < 3; round++) {
        await setTimeout(200);
        await server.crash(() => setTimeout(50));
      }
      await insist(() => append(store, 'last'));
      stopped.abort();
      await Promise.all(writers);
      const stored = await ids(store);
      expect(stored).toEqual(expect.arrayContaining([...acknowledged, 'last']));
      expect(new Set(stored).size).toBe(stored.length);
      expect(await verifyChain(store)).toEqual({ verified: stored.length });
      await store.close();
    },
  );
});

describe('waiting for the server', () => {
  test('another that holds the store is waited for, then it is unavailable, then it works', async () => {
    const url = await server.fresh();
    const store = await openPostgresStore({ url, lockTimeoutMs: 100 });
    const other = await openPostgresStore({ url });
    const letGo = new AbortController();
    const { promise: begun, resolve: begins } = Promise.withResolvers<void>();
    const holding = other.write(async (w) => {
      begins();
      while (!letGo.signal.aborted) await w.edges(['o'], { direction: 'out' });
    });
    await begun;
    await expect(append(store, '1')).rejects.toMatchObject({
      code: 'unavailable',
      retryable: true,
    });
    letGo.abort();
    await holding;
    await append(store, '2');
    expect(await ids(store)).toEqual(['2']);
    await Promise.all([store.close(), other.close()]);
  });

  test('one statement that takes too long is a timeout of its work alone', async () => {
    const url = await server.fresh();
    const store = await openPostgresStore({ url, statementTimeoutMs: 100, readers: 1 });
    const held = server.sql('begin; lock table throughline.edges; select pg_sleep(0.4)', url);
    await setTimeout(100);
    const settled = await Promise.allSettled([
      append(store, 'before'),
      store.write((w) => w.edge('e')),
      append(store, 'after'),
      store.read((r) => r.edge('e')),
      store.read((r) => r.head()),
    ]);
    const timeout = { status: 'rejected', reason: { code: 'timeout' } };
    const fine = { status: 'fulfilled' };
    expect(settled).toMatchObject([fine, timeout, fine, timeout, fine]);
    await held;
    expect(await ids(store)).toEqual(['before', 'after']);
    await store.close();
  });
});

describe('what can not be opened', () => {
  const secret = 'hunter2-of-the-url';
  test.each([
    ['no URL at all', `not a url ${secret}`, { code: 'invalid' }],
    ['another scheme', `mysql://u:${secret}@localhost/d`, { code: 'invalid' }],
    ['a port that nobody listens at', `postgres://u:${secret}@127.0.0.1:1/d`, { retryable: true }],
  ])('%s is refused without its password being shown', async (_, url, expected) => {
    const error: unknown = await openPostgresStore({ url }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: 'ThroughlineError', ...expected });
    expect(inspect(error, { depth: 9 })).not.toContain(secret);
  });

  test('a wrong password, or a database that is not there, is not worth another try', async () => {
    const wrong = new URL(await server.fresh());
    wrong.password = secret;
    const missing = new URL(wrong);
    missing.pathname = '/no_such_database';
    missing.password = new URL(await server.fresh()).password;
    for (const url of [wrong.href, missing.href]) {
      const error: unknown = await openPostgresStore({ url }).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: 'unavailable', retryable: false });
      expect(inspect(error, { depth: 9 })).not.toContain(secret);
      expect(inspect(error, { depth: 9 })).not.toContain(missing.password);
    }
  });
});
