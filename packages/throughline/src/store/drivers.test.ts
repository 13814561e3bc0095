import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openMemoryStore } from './memory.ts';
import { startPostgres, type TestServer } from './postgres/conformance.ts';
import { openSqliteStore } from './sqlite.ts';
import type { Store, StoreWriter } from './store.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startPostgres();
}, 60_000);
afterAll(() => server.stop(), 60_000);

const id = fc.constantFrom('a', 'b', 'c', 'd');
const activity = fc.constantFrom('A', 'B');
const sealed = fc.uint8Array({ maxLength: 90 });
const shape = fc.constantFrom<readonly (string | number)[]>(['x'], ['y', 1], []);

type Step = (writer: StoreWriter, mint: () => string) => Promise<unknown>;

const step: fc.Arbitrary<Step> = fc.oneof(
  fc
    .record({ about: id, activity, shape, sealed })
    .map<Step>((entry) => (w, mint) => w.append([{ ...entry, id: mint() }])),
  fc
    .record({ id, parent: id, activity, shape, sealed, seq: fc.nat(9) })
    .map<Step>((object) => (w) => w.putObject({ ...object, kind: 'k' })),
  fc
    .record({
      id,
      from: id,
      to: id,
      activity,
      shape,
      sealed,
      status: fc.constantFrom('active' as const, 'revoked' as const),
    })
    .map<Step>((edge) => (w) => w.putEdge({ ...edge, type: 't', seq: 1 })),
  fc
    .record({ key: id, sort: fc.integer({ min: -2, max: 2 }), index: fc.record({ i: id }), sealed })
    .map<Step>(
      (record) => (w) => w.putRecord({ ...record, kind: 'k', shape: null, activity: 'A' }),
    ),
  fc.record({ key: id }).map<Step>(
    ({ key }) =>
      (w) =>
        w.deleteRecord({ kind: 'k', key }),
  ),
  activity.map<Step>((which) => (w) => w.eraseActivity(which)),
  fc.constant<Step>(() => Promise.reject(new Error('undo me'))),
);

const batches = fc.array(
  fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { maxLength: 25 }),
  {
    minLength: 1,
    maxLength: 3,
  },
);

/** Everything that can be seen of a store. */
function dump(store: Store): Promise<unknown> {
  const ids = ['a', 'b', 'c', 'd'];
  return store.read(async (r) => ({
    log: await r.log({ after: 0, limit: 1_000 }),
    objects: (await r.objects(ids)).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    edges: await Promise.all(ids.map((each) => r.edge(each))),
    out: await Promise.all(
      ids.map(async (each) => (await r.edges([each], { direction: 'out' })).length),
    ),
    reach: await Promise.all(
      ids.map(
        async (each) => (await r.reach([each], { direction: 'out', depth: 3, limit: 9 })).length,
      ),
    ),
    children: await Promise.all(
      ids.map(async (each) => (await r.objectsOf({ parent: each, limit: 9 })).length),
    ),
    records: await Promise.all(
      ids.map((each) => r.records({ kind: 'k', index: { i: each }, limit: 9 })),
    ),
  }));
}

const others: readonly (readonly [name: string, runs: number, open: () => Promise<Store>])[] = [
  ['SQLite', 150, () => openSqliteStore({ path: ':memory:' })],
  ['PostgreSQL', 40, () => server.store()],
];

test.each(others)(
  '%s agrees with memory after any works, of which some are undone',
  { timeout: 120_000 },
  async (_, numRuns, open) => {
    await fc.assert(
      fc.asyncProperty(batches, async (all) => {
        const seen = [];
        for (const store of [await openMemoryStore(), await open()]) {
          let minted = 0;
          const outcomes: string[] = [];
          for (const batch of all) {
            const settled = await Promise.allSettled(
              batch.map((steps) =>
                store.write(async (w) => {
                  for (const each of steps) await each(w, () => `id${minted++}`);
                  return (await w.head()).seq;
                }),
              ),
            );
            outcomes.push(...settled.map((one) => JSON.stringify(one)));
          }
          seen.push({ outcomes, state: await dump(store) });
          await store.close();
        }
        expect(seen[1]).toEqual(seen[0]);
      }),
      { numRuns },
    );
  },
);
