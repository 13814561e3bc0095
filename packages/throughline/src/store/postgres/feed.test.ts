import { setImmediate, setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifyChain } from '../chain.ts';
import { entry, record } from '../conformance.ts';
import { openPostgresStore } from '../postgres.ts';
import type { Store } from '../store.ts';
import { startPostgres, type TestServer } from './conformance.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startPostgres();
}, 60_000);
afterAll(() => server.stop(), 60_000);

/** Two hubs on one database, and how to part with them. */
async function twoStores(): Promise<{
  url: string;
  stores: [Store, Store];
  close: () => Promise<void>;
}> {
  const url = await server.fresh();
  // One that waits for the other on a busy machine is not refused for that.
  const options = { url, readers: 2, lockTimeoutMs: 60_000 };
  const stores: [Store, Store] = [
    await openPostgresStore(options),
    await openPostgresStore(options),
  ];
  const close = async (): Promise<void> => {
    for (const store of stores) await store.close();
  };
  return { url, stores, close };
}

/** Every id, in order, as somebody finds them who asks for what follows the last one he has. */
class Follower {
  readonly ids: string[] = [];
  #seq = 0;
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async look(limit = 100): Promise<void> {
    const query = { after: this.#seq, limit };
    for (const { seq, id } of await this.#store.read((r) => r.log(query))) {
      // A hole would be one that is lost, or comes later.
      expect(seq).toBe(this.#seq + 1);
      this.#seq = seq;
      this.ids.push(id);
    }
  }
}

const changed = new Error('changed my mind');
/** Nothing was written by who changed his mind; what fails otherwise fails the test. */
function unlessChanged(error: unknown): string[] {
  if (error !== changed) throw error;
  return [];
}

describe('two hubs on one database', () => {
  test(
    'whatever order works begin and end in, and some fail, 100 readers get each event once, in order',
    { timeout: 120_000 },
    async () => {
      const { stores, close } = await twoStores();
      const followers = Array.from(
        { length: 100 },
        (_, i) => new Follower(stores[i % 2] ?? stores[0]),
      );
      const over = new AbortController();
      const reading = followers.map(async (follower, i) => {
        while (!over.signal.aborted) {
          await follower.look(1 + (i % 7));
          await setTimeout(i % 13);
        }
      });
      const acknowledged: string[] = [];
      const writing = stores.flatMap((store, hub) =>
        Array.from({ length: 4 }, async (_, writer) => {
          for (let i = 0; i < 25; i++) {
            const name = `${hub}.${writer}.${i}`;
            const work = store.write(async (w) => {
              const given = await w.append([entry(`${name}a`), entry(`${name}b`)]);
              // The earlier ones of a round take longer to end than the later ones.
              for (let turn = 0; turn < (4 - writer) * 3; turn++)
                await w.edges([name], { direction: 'out' });
              if ((hub + writer + i) % 5 === 0) throw changed;
              return given.map(({ id }) => id);
            });
            acknowledged.push(...(await work.catch(unlessChanged)));
            if (i % 3 === 0) await setImmediate();
          }
        }),
      );
      await Promise.all(writing);
      over.abort();
      await Promise.all(reading);
      const everything = new Follower(stores[0]);
      await everything.look(1_000);
      expect(everything.ids.toSorted()).toEqual(acknowledged.toSorted());
      expect(everything.ids).toHaveLength(320);
      for (const follower of followers) {
        await follower.look(1_000);
        expect(follower.ids).toEqual(everything.ids);
      }
      expect(await verifyChain(stores[1])).toEqual({ verified: 320 });
      await close();
    },
  );

  test('a work that begins first and ends last has the lower number, and nobody sees the higher alone', async () => {
    const { stores, close } = await twoStores();
    const letGo = new AbortController();
    const { promise: begun, resolve: begins } = Promise.withResolvers<void>();
    const long = stores[0].write(async (w) => {
      begins();
      const [first] = await w.append([entry('long')]);
      while (!letGo.signal.aborted) await w.edges(['o'], { direction: 'out' });
      return first?.seq;
    });
    await begun;
    const short = stores[1].write(async (w) => (await w.append([entry('short')]))[0]?.seq);
    await setTimeout(50);
    expect((await stores[1].read((r) => r.head())).seq).toBe(0);
    letGo.abort();
    expect(await Promise.all([long, short])).toEqual([1, 2]);
    await close();
  });

  test('of many who expect the same version one wins, whichever hub they ask', async () => {
    const { stores, close } = await twoStores();
    for (let round = 0; round < 5; round++) {
      const tries = await Promise.allSettled(
        Array.from({ length: 20 }, (_, i) =>
          (stores[i % 2] ?? stores[0]).write((w) =>
            w.putRecord(record('a', { shape: i }), { expected: round }),
          ),
        ),
      );
      const lost = tries.filter(({ status }) => status === 'rejected');
      expect(lost).toHaveLength(19);
      for (const each of lost) expect(each).toMatchObject({ reason: { code: 'conflict' } });
    }
    await close();
  });

  test('the same id at both is in the log once', async () => {
    const { stores, close } = await twoStores();
    for (let i = 0; i < 10; i++) {
      const tries = stores.map((store) => store.write((w) => w.append([entry(`${i}`)])));
      const settled = await Promise.allSettled(tries);
      expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    }
    expect(await verifyChain(stores[0])).toEqual({ verified: 10 });
    await close();
  });

  test('a read sees one moment while the other hub writes', async () => {
    const { stores, close } = await twoStores();
    const over = new AbortController();
    const writing = (async () => {
      for (let i = 1; !over.signal.aborted; i++) {
        await stores[0].write(async (w) => {
          await w.append([entry(`${i}`)]);
          await w.putRecord(record('count', { shape: i }));
        });
      }
    })();
    const moments = new Set<number>();
    while (moments.size < 10) {
      const seen = await stores[1].read(async (r) => {
        const { seq } = await r.head();
        for (let turn = 0; turn < 5; turn++) await r.edges(['o'], { direction: 'out' });
        return [seq, (await r.record(record('count')))?.shape ?? 0, (await r.head()).seq];
      });
      expect(new Set(seen).size).toBe(1);
      moments.add(Number(seen[0]));
    }
    over.abort();
    await writing;
    await close();
  });

  test('what one acknowledged, the other reads', async () => {
    const { stores, close } = await twoStores();
    for (let i = 1; i <= 20; i++) {
      await (stores[i % 2] ?? stores[0]).write((w) => w.append([entry(`${i}`)]));
      for (const store of stores) expect((await store.read((r) => r.head())).seq).toBe(i);
    }
    await close();
  });
});

/** Follows a store by what its listener hears. */
function listen(store: Store): { readonly follower: Follower; readonly heard: number[] } {
  const follower = new Follower(store);
  const heard: number[] = [];
  let looking = Promise.resolve();
  const look = (): Promise<void> =>
    // Out of reach now and then; what is committed after is heard of, and looks again.
    follower.look(1_000).catch((error: unknown) => {
      expect(error).toMatchObject({ code: 'unavailable' });
      return setTimeout(20).then(look);
    });
  store.onCommit((seq) => {
    heard.push(seq);
    looking = looking.then(look);
  });
  return { follower, heard };
}

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; !holds(); tries++) {
    if (tries === 500) throw new Error('it never came');
    await setTimeout(20);
  }
}

describe('listeners', () => {
  test("hear of the other hub's commits, and of each of their own once", async () => {
    const { stores, close } = await twoStores();
    const { follower, heard } = listen(stores[0]);
    await stores[1].write((w) => w.append([entry('theirs')]));
    await until(() => heard.length === 1);
    await stores[0].write((w) => w.append([entry('ours')]));
    await stores[1].write((w) => w.append([entry('theirs again')]));
    await until(() => follower.ids.length === 3);
    expect(heard).toEqual([1, 2, 3]);
    expect(follower.ids).toEqual(['theirs', 'ours', 'theirs again']);
    await close();
  });

  test(
    'whose connections are ended over and over miss nothing and get nothing twice',
    { timeout: 60_000 },
    async () => {
      const { url, stores, close } = await twoStores();
      const [listening, writing] = stores;
      const { follower, heard } = listen(listening);
      const written: string[] = [];
      const over = new AbortController();
      const killing = (async () => {
        while (!over.signal.aborted) {
          await setTimeout(40);
          // Those that listen, and those that read for whoever listened.
          await server.sql(
            `select pg_terminate_backend(pid) from pg_stat_activity
             where application_name = 'throughline' and datname = current_database()
               and (query like 'listen%' or query like 'select seq,%' or query = 'commit')
               and state = 'idle'`,
            url,
          );
        }
      })();
      for (let i = 0; i < 150; i++) {
        const write = writing.write((w) => w.append([entry(`${i}`)]));
        await write.then(
          () => written.push(`${i}`),
          (error: unknown) => expect(error).toMatchObject({ code: 'unavailable' }),
        );
        await setTimeout(5);
      }
      over.abort();
      await killing;
      const everything = new Follower(writing);
      await everything.look(1_000);
      await until(() => follower.ids.length === everything.ids.length);
      expect(follower.ids).toEqual(everything.ids);
      expect(everything.ids).toEqual(written);
      expect(heard).toEqual(heard.toSorted((a, b) => a - b));
      expect(new Set(heard).size).toBe(heard.length);
      await close();
    },
  );

  test('are told what was committed while their connection was gone', async () => {
    const { url, stores, close } = await twoStores();
    const { heard } = listen(stores[0]);
    await server.sql(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'throughline' and datname = current_database()`,
      url,
    );
    // Past the hub, and without a word.
    await server.sql('update throughline.store set seq = 7', url);
    await until(() => heard.length > 0);
    expect(heard).toEqual([7]);
    await close();
  });
});
