import { expect, test } from 'vitest';
import { verifyChain } from '../chain.ts';
import { bytes, entry, object, edge, record, put, type Suite } from './fixtures.ts';

export function describeErasure({ store }: Suite): void {
  test('it forgets the sealed part of one activity, and leaves shapes, hashes and the others', async () => {
    const sealed = bytes('personal');
    await put(
      store(),
      (w) =>
        w.append([entry('1', { activity: 'A', sealed }), entry('2', { activity: 'B', sealed })]),
      (w) => w.putObject(object('o', 1, { activity: 'A', sealed })),
      (w) => w.putObject(object('p', 1, { activity: 'B', sealed })),
      (w) => w.putEdge(edge('o', 'p', { activity: 'A', sealed })),
      (w) => w.putEdge(edge('p', 'o', { activity: 'B', sealed })),
      (w) => w.putRecord(record('r', { activity: 'A', sealed })),
      (w) => w.putRecord(record('s', { activity: 'B', sealed })),
    );
    const before = await store().read((r) => r.log({ after: 0, limit: 9 }));
    await store().write((w) => w.eraseActivity('A'));
    await store().write((w) => w.eraseActivity('never seen'));
    await store().read(async (r) => {
      const log = await r.log({ after: 0, limit: 9 });
      expect(log.map((e) => e.sealed)).toEqual([undefined, sealed]);
      expect(log.map(({ hash, shape }) => ({ hash, shape }))).toEqual(
        before.map(({ hash, shape }) => ({ hash, shape })),
      );
      expect(await r.objectsOf({ activity: 'A', limit: 9 })).toEqual([
        object('o', 1, { activity: 'A' }),
      ]);
      expect(await r.objects(['p'])).toMatchObject([{ sealed }]);
      expect(await r.edge('o→p')).toEqual(edge('o', 'p', { activity: 'A' }));
      expect(await r.edge('p→o')).toMatchObject({ sealed });
      expect(await r.record(record('r'))).toEqual({
        ...record('r', { activity: 'A' }),
        version: 1,
      });
      expect(await r.record(record('s'))).toMatchObject({ sealed });
    });
    expect(await verifyChain(store())).toEqual({ verified: 2 });
  });
}

export function describeLife({ store }: Suite): void {
  test('listeners hear of each commit with the highest number, before it is acknowledged', async () => {
    const heard: string[] = [];
    const stop = store().onCommit((seq) => heard.push(`commit ${seq}`));
    await store().write((w) => w.append([entry('1'), entry('2')]));
    heard.push('acknowledged');
    await store().write((w) => w.append([entry('3')]));
    await store()
      .write(() => Promise.reject(new Error('no')))
      .catch(() => {});
    stop();
    await store().write((w) => w.append([entry('4')]));
    expect(heard).toEqual(['commit 2', 'acknowledged', 'commit 3']);
  });

  test('the numbers that listeners hear never fall', async () => {
    const heard: number[] = [];
    store().onCommit((seq) => heard.push(seq));
    for (let i = 0; i < 5; i++) {
      const writes = [0, 1, 2].map((n) => store().write((w) => w.append([entry(`${i}.${n}`)])));
      await Promise.race(writes);
    }
    await store().write(async () => {});
    expect(heard.at(-1)).toBe(15);
    expect(heard).toEqual(heard.toSorted((a, b) => a - b));
  });

  test('a listener that throws stops neither the write nor the other listeners', async () => {
    const heard: number[] = [];
    const warned = new Promise<Error>((resolve) => process.once('warning', resolve));
    store().onCommit(() => {
      throw new Error('deaf');
    });
    store().onCommit((seq) => heard.push(seq));
    await store().write((w) => w.append([entry('1')]));
    expect(heard).toEqual([1]);
    expect((await warned).message).toBe('deaf');
  });

  test('closing finishes what waits, may be repeated, and refuses what comes later', async () => {
    const writes = [0, 1, 2].map((i) => store().write((w) => w.append([entry(`${i}`)])));
    await Promise.all([store().close(), store().close()]);
    await store().close();
    expect((await Promise.all(writes)).flat().map(({ seq }) => seq)).toEqual([1, 2, 3]);
    const refused = { code: 'unavailable', retryable: false };
    await expect(store().read((r) => r.head())).rejects.toMatchObject(refused);
    await expect(store().write((w) => w.head())).rejects.toMatchObject(refused);
  });
}
