import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Json, StoreWriter } from '../store.ts';
import { bytes, entry, object, edge, record, refusedShapes, type Suite } from './fixtures.ts';

export function describeRefusals({ store }: Suite): void {
  const badTexts = { 'a NUL': 'a\0', 'a lone surrogate': 'a\ud800' };
  const calls: Readonly<Record<string, (w: StoreWriter, text: string) => Promise<unknown>>> = {
    'an entry id': (w, id) => w.append([entry(id)]),
    'what an entry is about': (w, about) => w.append([entry('1', { about })]),
    'an activity': (w, activity) => w.append([entry('1', { activity })]),
    'an object id': (w, id) => w.putObject(object(id, 1)),
    'a kind': (w, kind) => w.putObject(object('o', 1, { kind })),
    'a parent': (w, parent) => w.putObject(object('o', 1, { parent })),
    'an end of an edge': (w, to) => w.putEdge(edge('a', to)),
    'a type': (w, type) => w.putEdge(edge('a', 'b', { type })),
    'a key': (w, key) => w.putRecord(record(key)),
    'an index name': (w, name) => w.putRecord(record('a', { index: { [name]: 'v' } })),
    'an index value': (w, v) => w.putRecord(record('a', { index: { owner: v } })),
    'an id asked for': (w, id) => w.objects([id]),
    'an edge asked for': (w, id) => w.edge(id),
    'a start of a reach': (w, id) => w.reach([id], { direction: 'out', depth: 1, limit: 1 }),
    'a record asked for': (w, key) => w.record({ kind: 'task', key }),
    'an index asked for': (w, v) => w.records({ kind: 'task', index: { owner: v }, limit: 1 }),
    'an activity to erase': (w, activity) => w.eraseActivity(activity),
  };
  for (const [what, text] of Object.entries(badTexts)) {
    test.each(Object.entries(calls))(`${what} in %s`, async (_, call) => {
      await expect(store().write((w) => call(w, text))).rejects.toMatchObject({ code: 'invalid' });
    });
  }

  test.each(Object.entries(refusedShapes))('%s in a shape', async (_, bad) => {
    // Untyped, as what callers without a compiler give.
    const untyped: object = { bad };
    const shape: Json = Reflect.get(untyped, 'bad');
    const writes: ((w: StoreWriter) => Promise<unknown>)[] = [
      (w) => w.append([entry('good'), entry('1', { shape })]),
      (w) => w.putObject(object('o', 1, { shape })),
      (w) => w.putEdge(edge('a', 'b', { shape })),
      (w) => w.putRecord(record('a', { shape })),
    ];
    for (const write of writes) {
      // Refused before anything is touched, so a work that catches it goes on as if nothing was.
      await store().write(async (w) => {
        await expect(write(w)).rejects.toMatchObject({ code: 'invalid' });
      });
    }
    expect(await store().read((r) => r.head())).toMatchObject({ seq: 0 });
  });
}

/** Texts of the greatest length, which do not compress, so that indexes get them whole. */
const longest = (): string => randomBytes(768).toString('base64url');

export function describeBounds({ store }: Suite): void {
  test('the longest texts are taken everywhere, and found again', async () => {
    const [a, b, c, d] = [longest(), longest(), longest(), longest()];
    const one = record(a, { kind: b, activity: c, index: { [c]: d, [d]: c } });
    await store().write(async (w) => {
      await w.append([entry(a, { about: b, activity: c, sealed: bytes('s') })]);
      await w.putObject(object(a, 1, { kind: b, activity: c, parent: d, sealed: bytes('s') }));
      await w.putEdge(edge(a, b, { id: c, type: d, activity: a }));
      await w.putRecord(one);
    });
    await store().read(async (r) => {
      expect(await r.log({ after: 0, limit: 9, about: b, activity: c })).toHaveLength(1);
      expect(await r.objectsOf({ activity: c, parent: d, limit: 9 })).toHaveLength(1);
      expect(await r.edges([a], { direction: 'out', types: [d] })).toHaveLength(1);
      expect(await r.records({ kind: b, index: one.index, limit: 9 })).toHaveLength(1);
    });
  });

  test('numbers that are not integers within 2^53, and limits out of bounds', async () => {
    const asks: ((w: StoreWriter) => Promise<unknown>)[] = [
      (w) => w.putObject(object('o', 2 ** 53)),
      (w) => w.putObject(object('o', 1.5)),
      (w) => w.putRecord(record('a', { sort: Number.NaN })),
      (w) => w.putRecord(record('a', { expiresAt: 2 ** 53 })),
      (w) => w.log({ after: -1, limit: 1 }),
      (w) => w.log({ after: 0, limit: 100_001 }),
      (w) => w.log({ after: 0, limit: -1 }),
      (w) => w.records({ kind: 'task', index: { owner: 'o' }, limit: Infinity }),
      (w) => w.records({ kind: 'task', index: {}, limit: 1 }),
      (w) => w.objectsOf({ kind: 'task', limit: 1 }),
      (w) => w.reach(['a'], { direction: 'out', depth: -1, limit: 1 }),
    ];
    for (const ask of asks) {
      await expect(store().write(ask)).rejects.toMatchObject({ code: 'invalid' });
    }
  });

  test('what is too large', async () => {
    const asks: ((w: StoreWriter) => Promise<unknown>)[] = [
      (w) => w.putObject(object('ü'.repeat(513), 1)),
      (w) => w.putObject(object('o', 1, { shape: 'x'.repeat(8_388_608) })),
      (w) => w.putObject(object('o', 1, { sealed: new Uint8Array(16_777_217) })),
      (w) => w.objects(Array.from({ length: 100_001 }, () => 'x')),
    ];
    for (const ask of asks) {
      await expect(store().write(ask)).rejects.toMatchObject({ code: 'too-large' });
    }
  });

  test('a shape nested too deep', async () => {
    let shape: Json = 0;
    for (let i = 0; i < 100_000; i++) shape = [shape];
    const deep = store().write((w) => w.append([entry('1', { shape })]));
    await expect(deep).rejects.toMatchObject({ code: 'invalid' });
  });
}
