import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { verifyChain } from '../chain.ts';
import { openSqliteStore } from '../sqlite.ts';
import type { Store } from '../store.ts';

const folder = mkdtempSync(join(tmpdir(), 'store-process-'));
const children = new Set<ChildProcess>();
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

/** Writes for as long as it lives or is asked to, eight at a time; says what was acknowledged. */
const program = `
  import { openSqliteStore } from ${JSON.stringify(new URL('../sqlite.ts', import.meta.url).href)};
  const [path, name, count, pauseMs] = process.argv.slice(1);
  const store = await openSqliteStore({ path });
  console.log('open');
  let next = 0;
  await Promise.all(Array.from({ length: 8 }, async () => {
    while (next < Number(count)) {
      const id = name + '.' + next++;
      const seq = await store.write(async (w) => {
        const [entry] = await w.append([{ id, about: name, shape: { id }, sealed: Buffer.from(id) }]);
        await w.putObject({ id, kind: 'task', shape: { id }, seq: entry.seq });
        await w.putEdge({
          id: 'e' + id, type: 't', from: name, to: id, status: 'active', shape: {}, seq: entry.seq,
        });
        await w.putRecord({ kind: 'k', key: id, sort: entry.seq, index: { by: name }, shape: {} });
        return entry.seq;
      });
      console.log(seq + ' ' + id);
      if (pauseMs !== '0') await new Promise((resolve) => setTimeout(resolve, Number(pauseMs)));
    }
  }));
  await store.close();
`;

interface Writer {
  readonly child: ChildProcess;
  /** Acknowledged number → id, as far as the child could say so. */
  readonly acknowledged: Map<number, string>;
  readonly opened: Promise<unknown>;
  readonly ended: Promise<unknown>;
}

function startWriter(path: string, name: string, count: number, pauseMs = 0): Writer {
  const child = spawn(
    process.execPath,
    ['--input-type=module', '--eval', program, path, name, `${count}`, `${pauseMs}`],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  children.add(child);
  const acknowledged = new Map<number, string>();
  const lines = createInterface({ input: child.stdout });
  const opened = once(lines, 'line');
  lines.on('line', (line) => {
    const [seq, id] = line.split(' ');
    if (id !== undefined) acknowledged.set(Number(seq), id);
  });
  const ended = Promise.all([once(lines, 'close'), once(child, 'exit')]);
  return { child, acknowledged, opened, ended };
}

/** Everything acknowledged is there whole, and nothing is there by halves. */
async function check(store: Store, acknowledged: ReadonlyMap<number, string>): Promise<number> {
  const { seq } = await store.read((r) => r.head());
  expect(await verifyChain(store)).toEqual({ verified: seq });
  const log = await store.read((r) => r.log({ after: 0, limit: 100_000 }));
  const ids = log.map(({ id }) => id);
  const stored = new Map(log.map((entry) => [entry.seq, entry.id]));
  for (const [number, id] of acknowledged) expect(stored.get(number)).toBe(id);
  await store.read(async (r) => {
    expect(await r.objects(ids)).toHaveLength(ids.length);
    expect(await r.edges(ids, { direction: 'in' })).toHaveLength(ids.length);
  });
  return seq;
}

describe('several processes', () => {
  test('two that write at once number one log without a hole', { timeout: 120_000 }, async () => {
    const path = join(folder, 'two.db');
    const store = await openSqliteStore({ path });
    const writer = startWriter(path, 'other', 200);
    await writer.opened;
    const ours = new Map<number, string>();
    for (let i = 0; i < 200; i++) {
      const [entry] = await store.write((w) =>
        w.append([{ id: `own.${i}`, about: 'own', shape: { i } }]),
      );
      if (entry !== undefined) ours.set(entry.seq, entry.id);
    }
    await writer.ended;
    expect(writer.acknowledged.size).toBe(200);
    const log = await store.read((r) => r.log({ after: 0, limit: 1_000 }));
    expect(log.map(({ seq }) => seq)).toEqual(Array.from({ length: 400 }, (_, i) => i + 1));
    expect(await verifyChain(store)).toEqual({ verified: 400 });
    for (const [seq, id] of [...ours, ...writer.acknowledged]) {
      expect(log[seq - 1]?.id).toBe(id);
    }
    await store.close();
  });

  test('several that make the same new file at once share it', { timeout: 120_000 }, async () => {
    const path = join(folder, 'race.db');
    const writers = ['a', 'b', 'c'].map((name) => startWriter(path, name, 20));
    await Promise.all(writers.map(({ ended }) => ended));
    const store = await openSqliteStore({ path });
    const all = new Map(writers.flatMap(({ acknowledged }) => [...acknowledged]));
    expect(all.size).toBe(60);
    expect(await check(store, all)).toBe(60);
    await store.close();
  });

  test('a second one can be opened while the first writes', { timeout: 120_000 }, async () => {
    const path = join(folder, 'busy.db');
    const writer = startWriter(path, 'busy', Infinity, 10);
    await writer.opened;
    for (let i = 0; i < 5; i++) {
      const store = await openSqliteStore({ path });
      const { seq } = await store.read((r) => r.head());
      await store.write((w) => w.append([{ id: `visit.${i}`, about: 'v', shape: i }]));
      expect((await store.read((r) => r.head())).seq).toBeGreaterThan(seq);
      await store.close();
    }
    writer.child.kill('SIGKILL');
    await writer.ended;
    const store = await openSqliteStore({ path });
    expect((await verifyChain(store)).broken).toBeUndefined();
    await store.close();
  });
});

describe('kill -9', () => {
  test(
    'everything acknowledged outlives it, and the chain holds',
    { timeout: 60_000 },
    async () => {
      const path = join(folder, 'killed.db');
      const acknowledged = new Map<number, string>();
      let seq = 0;
      for (let round = 0; round < 10; round++) {
        const writer = startWriter(path, `r${round}`, Infinity);
        await writer.opened;
        // Soon after opening or well under way, so that some kills hit a checkpoint.
        await setTimeout(Math.random() * 150);
        writer.child.kill('SIGKILL');
        await writer.ended;
        for (const [number, id] of writer.acknowledged) acknowledged.set(number, id);
        const store = await openSqliteStore({ path });
        seq = await check(store, acknowledged);
        await store.close();
      }
      expect(acknowledged.size).toBeGreaterThan(0);
      expect(seq).toBeGreaterThanOrEqual(acknowledged.size);
    },
  );

  test('a store whose making was cut short can be opened', { timeout: 60_000 }, async () => {
    for (let round = 0; round < 5; round++) {
      const path = join(folder, `born-${round}.db`);
      const writer = startWriter(path, 'n', Infinity);
      await Promise.race([writer.opened, setTimeout(50 + round * 15)]);
      writer.child.kill('SIGKILL');
      await writer.ended;
      const store = await openSqliteStore({ path });
      await check(store, writer.acknowledged);
      await store.close();
    }
  });
});
