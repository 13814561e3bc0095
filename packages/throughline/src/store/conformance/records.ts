import { expect, test } from 'vitest';
import type { Json, RecordQuery, Store, StoredRecord, StoreWriter } from '../store.ts';
import { bytes, record, type NewRecord, oddTexts, put, type Suite } from './fixtures.ts';

export function describeRecords({ store }: Suite): void {
  test.each(oddTexts)('one with the key %j comes back as it was', async (key) => {
    const full = record(key, {
      kind: `k${key}`,
      sort: -5,
      index: { owner: key, [`n${key}`]: 'v' },
      activity: key,
      shape: { key },
      sealed: bytes(key),
      expiresAt: 1_900_000_000_000,
    });
    expect(await store().write((w) => w.putRecord(full))).toBe(1);
    expect(await store().read((r) => r.record(full))).toEqual({ ...full, version: 1 });
    const query = { kind: full.kind, index: full.index, limit: 9 };
    expect(await store().read((r) => r.records(query))).toEqual([{ ...full, version: 1 }]);
  });

  test('each write raises the version by one', async () => {
    const versions = [];
    for (let i = 0; i < 3; i++) {
      versions.push(await store().write((w) => w.putRecord(record('a', { shape: i }))));
    }
    expect(versions).toEqual([1, 2, 3]);
    expect(await store().read((r) => r.record(record('a')))).toMatchObject({
      version: 3,
      shape: 2,
    });
  });

  test('another version than the expected one is a conflict and changes nothing', async () => {
    const write = (shape: Json, expected: number): Promise<number> =>
      store().write((w) => w.putRecord(record('a', { shape }), { expected }));
    await expect(write('x', 1)).rejects.toMatchObject({ code: 'conflict' });
    expect(await write('first', 0)).toBe(1);
    await expect(write('x', 0)).rejects.toMatchObject({ code: 'conflict' });
    await expect(write('x', 2)).rejects.toMatchObject({ code: 'conflict' });
    expect(await store().read((r) => r.record(record('a')))).toMatchObject({ shape: 'first' });
    expect(await write('second', 1)).toBe(2);
  });

  test('of many who expect the same version one wins', async () => {
    const tries = Array.from({ length: 20 }, (_, i) =>
      store().write((w) => w.putRecord(record('a', { shape: i }), { expected: 0 })),
    );
    const settled = await Promise.allSettled(tries);
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('a work may catch a conflict and write something else', async () => {
    await store().write((w) => w.putRecord(record('a')));
    await store().write(async (w) => {
      await w.putRecord(record('a'), { expected: 0 }).catch(() => w.putRecord(record('b')));
    });
    expect(await store().read((r) => r.record(record('b')))).toMatchObject({ version: 1 });
  });
}

export function describeRecordLife({ store }: Suite): void {
  test('a deleted one is not found any more and starts anew', async () => {
    const one = record('a', { index: { owner: 'o' } });
    await store().write((w) => w.putRecord(one));
    await store().write((w) => w.deleteRecord(one));
    await store().write((w) => w.deleteRecord(record('never there', { kind: 'never seen' })));
    expect(await store().read((r) => r.record(one))).toBeUndefined();
    expect(await store().read((r) => r.count({ kind: 'task', index: { owner: 'o' } }))).toBe(0);
    expect(await store().write((w) => w.putRecord(one, { expected: 0 }))).toBe(1);
  });

  test('the same key under two kinds is two records', async () => {
    await put(
      store(),
      (w) => w.putRecord(record('a', { kind: 'x', shape: 1, index: { i: 'v' } })),
      (w) => w.putRecord(record('a', { kind: 'y', shape: 2, index: { i: 'v' } })),
    );
    expect(await store().read((r) => r.record({ kind: 'y', key: 'a' }))).toMatchObject({
      shape: 2,
    });
    expect(await store().read((r) => r.count({ kind: 'x', index: { i: 'v' } }))).toBe(1);
  });

  test('those past their time are listed soonest first', async () => {
    await put(
      store(),
      (w) => w.putRecord(record('late', { expiresAt: 30 })),
      (w) => w.putRecord(record('second', { expiresAt: 20, kind: 'other' })),
      (w) => w.putRecord(record('first', { expiresAt: 10 })),
      (w) => w.putRecord(record('never')),
    );
    const expired = (until: number, limit = 9): Promise<unknown> =>
      store().read((r) => r.expired({ until, limit }));
    const first = { kind: 'task', key: 'first' };
    expect(await expired(9)).toEqual([]);
    expect(await expired(20)).toEqual([first, { kind: 'other', key: 'second' }]);
    expect(await expired(99, 1)).toEqual([first]);
  });
}

const keys = async (store: Store, query: Partial<RecordQuery>): Promise<string[]> => {
  const whole = { kind: 'task', index: { owner: 'o' }, limit: 100, ...query };
  return (await store.read((r) => r.records(whole))).map(({ key }) => key);
};

/** Every page to the end. */
async function walk(store: Store, query: Partial<RecordQuery>, limit: number): Promise<string[]> {
  const found: StoredRecord[] = [];
  for (;;) {
    const last = found.at(-1);
    const page = await store.read((r) =>
      r.records({
        kind: 'task',
        index: { owner: 'o' },
        limit,
        ...query,
        ...(last && { after: { sort: last.sort, key: last.key } }),
      }),
    );
    if (page.length === 0) return found.map(({ key }) => key);
    found.push(...page);
  }
}

const fill = (store: Store, records: readonly NewRecord[]): Promise<void> =>
  put(store, ...records.map((each) => (w: StoreWriter) => w.putRecord(each)));

const count = (store: Store, query: object): Promise<number> =>
  store.read((r) => r.count({ kind: 'task', index: { owner: 'o' }, ...query }));

export function describeRecordLists({ store }: Suite): void {
  test('paging goes through every record once, both ways, under equal sorts', async () => {
    const all = Array.from({ length: 23 }, (_, i) =>
      record(`k${String(i).padStart(2, '0')}`, { sort: Math.floor(i / 7), index: { owner: 'o' } }),
    );
    await fill(store(), all.toReversed());
    await fill(store(), [record('other', { index: { owner: 'p' } })]);
    const ascending = all.map(({ key }) => key);
    for (const limit of [1, 4, 7, 50]) {
      expect(await walk(store(), { ascending: true }, limit)).toEqual(ascending);
      expect(await walk(store(), {}, limit)).toEqual(ascending.toReversed());
    }
  });

  test('keys are ordered by their UTF-8 bytes', async () => {
    const ordered = ['', 'B', 'a', 'b', 'é', '\u{e000}', '\u{ffff}', '\u{10000}', '👩'];
    await fill(
      store(),
      ordered.toReversed().map((key) => record(key, { index: { owner: 'o' } })),
    );
    expect(await walk(store(), { ascending: true }, 2)).toEqual(ordered);
  });

  test('a record that moves while someone pages is not lost from what is still to come', async () => {
    await fill(
      store(),
      ['a', 'b', 'c'].map((key, i) => record(key, { sort: i, index: { owner: 'o' } })),
    );
    await fill(store(), [record('a', { sort: 9, index: { owner: 'o' } })]);
    expect(await walk(store(), { ascending: true }, 1)).toEqual(['b', 'c', 'a']);
  });
}

export function describeRecordQueries({ store }: Suite): void {
  test('all given indexes must match, and a changed index is followed', async () => {
    await fill(store(), [
      record('1', { index: { owner: 'o', agent: 'x' } }),
      record('2', { index: { owner: 'o', agent: 'y' } }),
      record('3', { index: { owner: 'p', agent: 'x' } }),
    ]);
    expect(await keys(store(), { index: { agent: 'x', owner: 'o' } })).toEqual(['1']);
    expect(await keys(store(), { index: { owner: 'o', agent: 'never' } })).toEqual([]);
    expect(await keys(store(), { index: { never: 'o' } })).toEqual([]);
    expect(await keys(store(), { kind: 'never' })).toEqual([]);
    await fill(store(), [record('1', { index: { owner: 'p' } })]);
    expect(await keys(store(), { index: { owner: 'o' } })).toEqual(['2']);
    expect(await keys(store(), { index: { agent: 'x' } })).toEqual(['3']);
  });

  test('bounds on sort are inclusive and count without the place and the limit', async () => {
    await fill(
      store(),
      [-1, 0, 1, 2, 3].map((sort) => record(`s${sort}`, { sort, index: { owner: 'o' } })),
    );
    expect(await keys(store(), { from: 0, to: 2 })).toEqual(['s2', 's1', 's0']);
    expect(
      await keys(store(), { from: 0, to: 2, after: { sort: 2, key: 's2' }, limit: 1 }),
    ).toEqual(['s1']);
    expect(await keys(store(), { limit: 0 })).toEqual([]);
    expect(await count(store(), {})).toBe(5);
    expect(await count(store(), { from: 0, to: 2 })).toBe(3);
    expect(await count(store(), { index: { owner: 'nobody' } })).toBe(0);
  });
}
