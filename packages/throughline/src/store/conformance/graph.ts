import { expect, test } from 'vitest';
import type { StoreWriter } from '../store.ts';
import { bytes, object, edge, oddTexts, put, type Suite } from './fixtures.ts';

export function describeObjects({ store }: Suite): void {
  test.each(oddTexts)('one with the id %j comes back as it was', async (id) => {
    const full = object(id, 7, {
      activity: id,
      parent: id,
      kind: id,
      shape: { id },
      sealed: bytes(id),
    });
    await put(store(), (w) => w.putObject(full));
    expect(await store().read((r) => r.objects([id]))).toEqual([full]);
  });

  test('ids that are alike stay apart', async () => {
    await put(store(), ...oddTexts.map((id, i) => (w: StoreWriter) => w.putObject(object(id, i))));
    const found = await store().read((r) => r.objects(oddTexts));
    expect(new Map(found.map(({ id, seq }) => [id, seq]))).toEqual(
      new Map(oddTexts.map((id, i) => [id, i])),
    );
  });

  test('bytes come back as they were, none and all of them', async () => {
    const all = Uint8Array.from({ length: 256 }, (_, i) => i);
    const none = new Uint8Array(0);
    await put(
      store(),
      (w) => w.putObject(object('all', 1, { sealed: all })),
      (w) => w.putObject(object('none', 2, { sealed: none })),
    );
    const sealed = await store().read(async (r) =>
      (await r.objects(['all', 'none'])).toSorted((a, b) => a.seq - b.seq).map((o) => o.sealed),
    );
    expect(sealed).toEqual([all, none]);
  });

  test('what a caller changes afterwards does not change the store', async () => {
    const sealed = bytes('before');
    const shape = { list: ['before'] };
    await put(store(), (w) => w.putObject(object('o', 1, { sealed, shape })));
    sealed.fill(0);
    shape.list[0] = 'after';
    const [first] = await store().read((r) => r.objects(['o']));
    first?.sealed?.fill(0);
    expect(await store().read((r) => r.objects(['o']))).toEqual([
      object('o', 1, { sealed: bytes('before'), shape: { list: ['before'] } }),
    ]);
  });
}

export function describeObjectLists({ store }: Suite): void {
  test('a later one takes the place of an earlier one, with what it leaves out', async () => {
    await put(store(), (w) =>
      w.putObject(object('o', 1, { activity: 'A', parent: 'P', sealed: bytes('s') })),
    );
    await put(store(), (w) => w.putObject(object('o', 2, { shape: { v: 2 } })));
    expect(await store().read((r) => r.objects(['o']))).toEqual([
      object('o', 2, { shape: { v: 2 } }),
    ]);
    expect(await store().read((r) => r.objectsOf({ activity: 'A', limit: 9 }))).toEqual([]);
    expect(await store().read((r) => r.objectsOf({ parent: 'P', limit: 9 }))).toEqual([]);
  });

  test('only those that exist are given, each once', async () => {
    await put(store(), (w) => w.putObject(object('o', 1)));
    expect(await store().read((r) => r.objects(['o', 'missing', 'o']))).toHaveLength(1);
    expect(await store().read((r) => r.objects([]))).toEqual([]);
  });

  test('they are listed by activity, parent and kind, by their last change', async () => {
    await put(
      store(),
      (w) => w.putObject(object('d', 9, { activity: 'A' })),
      (w) => w.putObject(object('t1', 8, { activity: 'A', parent: 'd', kind: 'task' })),
      (w) => w.putObject(object('t2', 3, { activity: 'A', parent: 'd', kind: 'task' })),
      (w) => w.putObject(object('t3', 4, { activity: 'B', parent: 'e', kind: 'task' })),
    );
    const ids = (query: object): Promise<string[]> =>
      store().read(async (r) => (await r.objectsOf({ limit: 9, ...query })).map(({ id }) => id));
    expect(await ids({ activity: 'A' })).toEqual(['t2', 't1', 'd']);
    expect(await ids({ activity: 'A', limit: 2 })).toEqual(['t2', 't1']);
    expect(await ids({ activity: 'A', kind: 'dialog' })).toEqual(['d']);
    expect(await ids({ parent: 'd' })).toEqual(['t2', 't1']);
    expect(await ids({ parent: 'd', activity: 'B' })).toEqual([]);
    await put(store(), (w) =>
      w.putObject(object('t2', 10, { activity: 'A', parent: 'd', kind: 'task' })),
    );
    expect(await ids({ parent: 'd' })).toEqual(['t1', 't2']);
  });
}

export function describeEdges({ store }: Suite): void {
  test('one comes back as it was, found by its id and from both ends', async () => {
    const full = edge('a', 'b', { activity: 'A', sealed: bytes('s'), shape: { why: 'x' }, seq: 4 });
    await put(store(), (w) => w.putEdge(full));
    const found = await store().read(async (r) => [
      await r.edge(full.id),
      ...(await r.edges(['a'], { direction: 'out' })),
      ...(await r.edges(['b'], { direction: 'in' })),
      ...(await r.edgesOf('A', 9)),
    ]);
    expect(found).toEqual([full, full, full, full]);
    expect(await store().read((r) => r.edge('missing'))).toBeUndefined();
    expect(await store().read((r) => r.edges(['b'], { direction: 'out' }))).toEqual([]);
  });

  test('revoked ones show only when asked for', async () => {
    await put(store(), (w) => w.putEdge(edge('a', 'b')));
    await put(store(), (w) => w.putEdge(edge('a', 'b', { status: 'revoked', seq: 2 })));
    expect(await store().read((r) => r.edges(['a'], { direction: 'out' }))).toEqual([]);
    expect(await store().read((r) => r.edges(['a'], { direction: 'out', revoked: true }))).toEqual([
      edge('a', 'b', { status: 'revoked', seq: 2 }),
    ]);
  });

  test('only the types asked for are given, and none for an empty list', async () => {
    await put(
      store(),
      (w) => w.putEdge(edge('a', 'b', { type: 'x' })),
      (w) => w.putEdge(edge('a', 'c', { type: 'y' })),
      (w) => w.putEdge(edge('a', 'd', { type: 'z' })),
    );
    const to = (types: string[]): Promise<string[]> =>
      store().read(async (r) =>
        (await r.edges(['a'], { direction: 'out', types })).map((e) => e.to).toSorted(),
      );
    expect(await to(['x', 'z', 'never seen'])).toEqual(['b', 'd']);
    expect(await to(['never seen'])).toEqual([]);
    expect(await to([])).toEqual([]);
  });

  test('one that moves is found at its new ends alone', async () => {
    await put(store(), (w) => w.putEdge(edge('a', 'b', { id: 'e' })));
    await put(store(), (w) => w.putEdge(edge('c', 'd', { id: 'e' })));
    expect(await store().read((r) => r.edges(['a', 'c'], { direction: 'out' }))).toEqual([
      edge('c', 'd', { id: 'e' }),
    ]);
  });
}

export function describeReach({ store }: Suite): void {
  const link = (...pairs: readonly (readonly [string, string])[]): Promise<void> =>
    put(
      store(),
      ...pairs.map(
        ([a, b]) =>
          (w: StoreWriter) =>
            w.putEdge(edge(a, b)),
      ),
    );
  const reach = (from: string[], query: object = {}): Promise<string[]> =>
    store().read(async (r) =>
      (await r.reach(from, { direction: 'out', depth: 10, limit: 100, ...query })).map(
        ({ id, depth }) => `${id}${depth}`,
      ),
    );

  test('it gives the closure nearest first, each once at its least depth, without the start', async () => {
    await link(['a', 'b'], ['b', 'c'], ['a', 'c'], ['c', 'd'], ['x', 'a']);
    const found = await reach(['a']);
    expect(found.slice(0, 2).toSorted()).toEqual(['b1', 'c1']);
    expect(found.slice(2)).toEqual(['d2']);
    const back = await reach(['d'], { direction: 'in' });
    expect(back.map((each) => each.slice(1))).toEqual(['1', '2', '2', '3']);
    expect(back.toSorted()).toEqual(['a2', 'b2', 'c1', 'x3']);
  });

  test('a cycle ends, and the start is not reached from itself', async () => {
    await link(['a', 'b'], ['b', 'c'], ['c', 'a'], ['c', 'c']);
    expect(await reach(['a'], { depth: 1_000_000 })).toEqual(['b1', 'c2']);
    expect(await reach(['a', 'b'])).toEqual(['c1']);
  });

  test('depth and limit bound it', async () => {
    await link(['a', 'b'], ['b', 'c'], ['c', 'd'], ['d', 'e']);
    expect(await reach(['a'], { depth: 2 })).toEqual(['b1', 'c2']);
    expect(await reach(['a'], { limit: 3 })).toEqual(['b1', 'c2', 'd3']);
    expect(await reach(['a'], { depth: 0 })).toEqual([]);
    expect(await reach(['a'], { limit: 0 })).toEqual([]);
    expect(await reach(['missing'])).toEqual([]);
    expect(await reach([])).toEqual([]);
  });

  test('it goes along the types asked for, and along revoked edges only when asked', async () => {
    await link(['a', 'b'], ['b', 'c']);
    await put(
      store(),
      (w) => w.putEdge(edge('c', 'd', { type: 'other' })),
      (w) => w.putEdge(edge('b', 'e', { status: 'revoked' })),
    );
    expect(await reach(['a'], { types: ['leads-to'] })).toEqual(['b1', 'c2']);
    expect(await reach(['a'], { types: ['leads-to', 'other'] })).toEqual(['b1', 'c2', 'd3']);
    expect((await reach(['a'], { types: ['leads-to'], revoked: true })).toSorted()).toEqual([
      'b1',
      'c2',
      'e2',
    ]);
  });
}
