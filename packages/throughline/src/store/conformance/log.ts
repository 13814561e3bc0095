import { expect, test } from 'vitest';
import { chainHash, genesis, verifyChain } from '../chain.ts';
import type { LogEntry } from '../store.ts';
import { bytes, entry, oddShapes, type Suite } from './fixtures.ts';

const of = (id: string, activity: string, about: string): LogEntry =>
  entry(id, { activity, about });

export function describeLog({ store }: Suite): void {
  test('an empty log has head 0 and the hash before the first entry', async () => {
    expect(await store().read((r) => r.head())).toEqual({ seq: 0, hash: genesis });
    expect(await store().read((r) => r.log({ after: 0, limit: 10 }))).toEqual([]);
    expect(await verifyChain(store())).toEqual({ verified: 0 });
  });

  test('entries are numbered from 1 without a hole, across works and batches', async () => {
    const works = Array.from({ length: 40 }, (_, i) =>
      store().write((w) => w.append([entry(`a${i}`), entry(`b${i}`)])),
    );
    const numbers = (await Promise.all(works)).flat().map(({ seq }) => seq);
    expect(numbers).toEqual(Array.from({ length: 80 }, (_, i) => i + 1));
    expect((await store().read((r) => r.head())).seq).toBe(80);
  });

  test('a work that is undone leaves no hole', async () => {
    const undone = store().write(async (w) => {
      await w.append([entry('gone')]);
      throw new Error('no');
    });
    const kept = store().write((w) => w.append([entry('kept')]));
    await expect(undone).rejects.toThrow('no');
    expect((await kept).map(({ seq }) => seq)).toEqual([1]);
  });

  test('each hash can be recomputed from the one before', async () => {
    await store().write((w) =>
      w.append([
        entry('1', { activity: 'act_1', shape: { b: 1, a: ['x', { d: 1, c: 2 }] } }),
        entry('2', { sealed: bytes('secret') }),
      ]),
    );
    await store().write((w) => w.append([entry('3', { shape: '👩‍👧' })]));
    let previous = genesis;
    for (const each of await store().read((r) => r.log({ after: 0, limit: 10 }))) {
      expect(each.hash).toBe(chainHash(previous, each));
      previous = each.hash;
    }
    expect((await store().read((r) => r.head())).hash).toBe(previous);
    expect(await verifyChain(store())).toEqual({ verified: 3 });
  });

  test('append gives back what it wrote', async () => {
    const given = entry('1', { activity: 'act_1', sealed: bytes('s') });
    const [stored] = await store().write((w) => w.append([given]));
    expect(stored).toEqual({ ...given, seq: 1, hash: chainHash(genesis, given) });
    expect(await store().read((r) => r.log({ after: 0, limit: 1 }))).toEqual([stored]);
    expect(await store().write((w) => w.append([]))).toEqual([]);
  });

  test.each(Object.entries(oddShapes))('a shape with %s comes back as it was', async (_, shape) => {
    await store().write((w) => w.append([entry('1', { shape })]));
    const [stored] = await store().read((r) => r.log({ after: 0, limit: 1 }));
    expect(stored?.shape).toEqual(shape);
    expect(await verifyChain(store())).toEqual({ verified: 1 });
  });
}

export function describeLogReading({ store }: Suite): void {
  test('it is read after a number, of an activity, about an object, or both', async () => {
    await store().write((w) =>
      w.append([of('1', 'A', 'x'), of('2', 'B', 'x'), of('3', 'A', 'y'), of('4', 'A', 'x')]),
    );
    await store().write((w) => w.append([entry('5', { about: 'x' })]));
    const ids = (query: object): Promise<string[]> =>
      store().read(async (r) =>
        (await r.log({ after: 0, limit: 10, ...query })).map(({ id }) => id),
      );
    expect(await ids({})).toEqual(['1', '2', '3', '4', '5']);
    expect(await ids({ after: 2, limit: 2 })).toEqual(['3', '4']);
    expect(await ids({ activity: 'A' })).toEqual(['1', '3', '4']);
    expect(await ids({ activity: 'A', after: 1, limit: 1 })).toEqual(['3']);
    expect(await ids({ about: 'x' })).toEqual(['1', '2', '4', '5']);
    expect(await ids({ about: 'x', activity: 'A' })).toEqual(['1', '4']);
    expect(await ids({ about: 'never seen' })).toEqual([]);
    expect(await ids({ id: '3' })).toEqual(['3']);
    expect(await ids({ id: '3', activity: 'A', about: 'y' })).toEqual(['3']);
    expect(await ids({ id: '3', about: 'x' })).toEqual([]);
    expect(await ids({ id: '3', after: 3 })).toEqual([]);
    expect(await ids({ id: 'never seen' })).toEqual([]);
    expect(await ids({ limit: 0 })).toEqual([]);
  });

  test('an id that is in the log already is a conflict, even for a work that catches it', async () => {
    await store().write((w) => w.append([entry('1')]));
    const again = store().write(async (w) => {
      await w.append([entry('2'), entry('1')]).catch(() => 'caught');
    });
    await expect(again).rejects.toMatchObject({ code: 'conflict' });
    expect(await store().read((r) => r.head())).toMatchObject({ seq: 1 });
  });
}
