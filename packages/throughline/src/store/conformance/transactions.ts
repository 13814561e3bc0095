import { stat } from 'node:fs/promises';
import { nextTick } from 'node:process';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { verifyChain } from '../chain.ts';
import type { StoreReader, StoreWriter } from '../store.ts';
import { bytes, entry, object, edge, record, put, type Suite } from './fixtures.ts';

export function describeTransactions({ store }: Suite): void {
  test('a work that throws undoes only itself, while its neighbours land', async () => {
    const before = store().write((w) => w.append([entry('before')]));
    const failing = store().write(async (w) => {
      await w.append([entry('failing')]);
      await w.putObject(object('failing', 1));
      await w.putEdge(edge('failing', 'x'));
      await w.putRecord(record('failing', { index: { owner: 'o' } }));
      await w.putObject(object('shared', 1));
      throw new Error('changed my mind');
    });
    const after = store().write(async (w) => {
      await w.putObject(object('shared', 2));
      return w.append([entry('after')]);
    });
    const settled = await Promise.allSettled([before, failing, after]);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    await expect(failing).rejects.toThrow('changed my mind');
    await store().read(async (r) => {
      expect((await r.log({ after: 0, limit: 9 })).map(({ id }) => id)).toEqual([
        'before',
        'after',
      ]);
      expect((await r.objects(['failing', 'shared'])).map(({ id }) => id)).toEqual(['shared']);
      expect(await r.edges(['failing'], { direction: 'out' })).toEqual([]);
      expect(await r.record(record('failing'))).toBeUndefined();
      expect(await r.count({ kind: 'task', index: { owner: 'o' } })).toBe(0);
    });
    expect(await verifyChain(store())).toEqual({ verified: 2 });
  });
}

export function describeUndoing({ store }: Suite): void {
  test('a work that looks at what it wrote and then fails leaves none of it to the next', async () => {
    const failing = store().write(async (w) => {
      await w.putObject(object('o', 1));
      await w.putEdge(edge('o', 'x'));
      await w.putRecord(record('r', { index: { owner: 'o' } }));
      expect(await w.edges(['o'], { direction: 'out' })).toHaveLength(1);
      expect(await w.count({ kind: 'task', index: { owner: 'o' } })).toBe(1);
      throw new Error('no');
    });
    const next = store().write(async (w) => [
      await w.objects(['o']),
      await w.edges(['o'], { direction: 'out' }),
      await w.record(record('r')),
      await w.putRecord(record('r'), { expected: 0 }),
    ]);
    await expect(failing).rejects.toThrow('no');
    expect(await next).toEqual([[], [], undefined, 1]);
  });

  test('a failing work gives back what its changes and deletions took', async () => {
    const kept = record('kept', { index: { owner: 'o' }, sealed: bytes('s'), activity: 'A' });
    const original = object('o', 1, { activity: 'A', sealed: bytes('s') });
    await put(
      store(),
      (w) => w.putRecord(kept),
      (w) => w.putObject(original),
    );
    const failing = put(
      store(),
      (w) => w.eraseActivity('A'),
      (w) => w.deleteRecord(kept),
      (w) => w.putObject(object('o', 5)),
      () => Promise.reject(new Error('no')),
    );
    await expect(failing).rejects.toThrow('no');
    await store().read(async (r) => {
      expect(await r.record(kept)).toEqual({ ...kept, version: 1 });
      expect(await r.count({ kind: 'task', index: { owner: 'o' } })).toBe(1);
      expect(await r.objects(['o'])).toEqual([original]);
    });
  });
}

export function describeMoments({ store }: Suite): void {
  test('a work reads what it wrote, a reader only what was acknowledged', async () => {
    const seen = await store().write(async (w) => {
      await w.append([entry('1')]);
      await w.putRecord(record('a', { index: { owner: 'o' } }));
      return [(await w.head()).seq, await w.count({ kind: 'task', index: { owner: 'o' } })];
    });
    expect(seen).toEqual([1, 1]);
    const write = store().write((w) => w.append([entry('2')]));
    const during = store().read((r) => r.head());
    expect((await during).seq).toBeLessThanOrEqual(2);
    await write;
    expect((await store().read((r) => r.head())).seq).toBe(2);
  });

  test('a read sees one moment while writes go on', async () => {
    const writes = Array.from({ length: 30 }, (_, i) =>
      store().write(async (w) => {
        await w.append([entry(`e${i}`)]);
        await w.putRecord(record('count', { shape: (await w.head()).seq }));
      }),
    );
    const reads: Promise<void>[] = [];
    for (let i = 0; i < 30; i++) {
      reads.push(
        store().read(async (r) => {
          const first = (await r.head()).seq;
          for (let turn = 0; turn < 50; turn++) await Promise.resolve();
          const counted = (await r.record(record('count')))?.shape ?? 0;
          expect([(await r.head()).seq, counted]).toEqual([first, first]);
        }),
      );
      await setImmediate();
    }
    await Promise.all([...writes, ...reads]);
  });

  test('works run one at a time, in the order they came', async () => {
    const order: string[] = [];
    await Promise.all(
      ['a', 'b', 'c'].map((name) =>
        store().write(async (w) => {
          order.push(`${name} begins`);
          await w.append([entry(name)]);
          await w.head();
          order.push(`${name} ends`);
        }),
      ),
    );
    expect(order).toEqual(['a', 'b', 'c'].flatMap((name) => [`${name} begins`, `${name} ends`]));
  });
}

const never = (): Promise<never> => new Promise(() => {});

const busy = async (w: StoreReader): Promise<number> => {
  for (let turn = 0; turn < 1_000; turn++) await Promise.all([w.head(), Promise.resolve()]);
  return (await w.head()).seq;
};

export function describeWaiting({ store }: Suite): void {
  test('a write that waits for something else is refused and undone, its neighbours land', async () => {
    const waiting = store().write(async (w) => {
      await w.append([entry('waiting')]);
      await setTimeout(1);
      await w.append([entry('too late')]);
    });
    const neighbour = store().write((w) => w.append([entry('neighbour')]));
    await expect(waiting).rejects.toMatchObject({ code: 'timeout' });
    expect((await neighbour).map(({ seq }) => seq)).toEqual([1]);
    await setTimeout(5);
    const log = await store().read((r) => r.log({ after: 0, limit: 9 }));
    expect(log.map(({ id }) => id)).toEqual(['neighbour']);
  });

  test.each<readonly [string, () => Promise<unknown>]>([
    ['a timer', () => setTimeout(1)],
    ['the next turn', () => setImmediate()],
    ['a tick', () => new Promise<void>((resolve) => nextTick(resolve))],
    ['a file', () => stat('.')],
    ['what never comes', never],
  ])('a write or read that waits for %s is refused, always', async (_, wait) => {
    for (let i = 0; i < 20; i++) {
      await expect(store().write(wait)).rejects.toMatchObject({ code: 'timeout' });
      await expect(store().read(wait)).rejects.toMatchObject({ code: 'timeout' });
    }
    await store().write((w) => w.append([entry('1')]));
    expect((await store().read((r) => r.head())).seq).toBe(1);
  });

  test('a work may do much between its questions, wherever it is called from', async () => {
    const results = await Promise.all([
      store().read(busy),
      store().write(busy),
      setTimeout(1).then(() => store().read(busy)),
      new Promise((resolve) => nextTick(() => resolve(store().read(busy)))),
      new Promise((resolve) => queueMicrotask(() => resolve(store().read(busy)))),
    ]);
    expect(results).toEqual([0, 0, 0, 0, 0]);
  });

  test('a write inside a write is refused for the outer one', async () => {
    const outer = store().write(() => store().write((w) => w.append([entry('inner')])));
    await expect(outer).rejects.toMatchObject({ code: 'timeout' });
  });

  test('a writer kept beyond its work is of no use', async () => {
    const kept: StoreWriter[] = [];
    await store().write(async (w) => void kept.push(w));
    for (const w of kept) {
      await expect(w.append([entry('late')])).rejects.toMatchObject({ code: 'unavailable' });
      await expect(w.head()).rejects.toMatchObject({ code: 'unavailable' });
    }
    expect((await store().read((r) => r.head())).seq).toBe(0);
    expect(kept).toHaveLength(1);
  });
}

export function describeQueue({ open }: Suite): void {
  test('a full queue answers that the store is unavailable, and drains', async () => {
    const small = await open({ waiting: 3 });
    const settled = await Promise.allSettled(
      Array.from({ length: 5 }, (_, i) => small.write((w) => w.append([entry(`${i}`)]))),
    );
    expect(settled.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'rejected',
      'rejected',
    ]);
    expect(settled.at(-1)).toMatchObject({ reason: { code: 'unavailable', retryable: true } });
    await small.write((w) => w.append([entry('later')]));
    expect((await small.read((r) => r.head())).seq).toBe(4);
    await small.close();
  });

  test('more writes than share one commit all land', async () => {
    const small = await open({ batch: 2 });
    await Promise.all(
      Array.from({ length: 7 }, (_, i) => small.write((w) => w.append([entry(`${i}`)]))),
    );
    expect(await verifyChain(small)).toEqual({ verified: 7 });
    await small.close();
  });
}
