import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifyChain } from '../chain.ts';
import { entry } from '../conformance.ts';
import { openPostgresStore } from '../postgres.ts';
import { startPostgres, type TestServer } from './conformance.ts';

let server: TestServer;
const children = new Set<ChildProcess>();
beforeAll(async () => {
  server = await startPostgres();
}, 60_000);
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await server.stop();
}, 60_000);

/** Writes for as long as it lives, eight at a time; says what was acknowledged. */
const program = `
  import { openPostgresStore } from ${JSON.stringify(new URL('../postgres.ts', import.meta.url).href)};
  const [url, name] = process.argv.slice(1);
  const store = await openPostgresStore({ url });
  console.log('open');
  let next = 0;
  await Promise.all(Array.from({ length: 8 }, async () => {
    for (;;) {
      const id = name + '.' + next++;
      const seq = await store.write(async (w) => {
        const [entry] = await w.append([{ id, about: name, shape: { id }, sealed: Buffer.from(id) }]);
        await w.putObject({ id, kind: 'task', shape: { id }, seq: entry.seq });
        await w.putEdge({
          id: 'e' + id, type: 't', from: name, to: id, status: 'active', shape: {}, seq: entry.seq,
        });
        await w.edges([name], { direction: 'out', types: ['none'] });
        await w.putRecord({ kind: 'k', key: id, sort: entry.seq, index: { by: name }, shape: {} });
        return entry.seq;
      });
      console.log(seq + ' ' + id);
    }
  }));
`;

test(
  'hubs killed with SIGKILL in the middle: all that was acknowledged is there whole, and others go on',
  { timeout: 120_000 },
  async () => {
    const url = await server.fresh();
    const store = await openPostgresStore({ url });
    const acknowledged = new Map<number, string>();
    for (let round = 0; round < 8; round++) {
      const child = spawn(
        process.execPath,
        ['--input-type=module', '--eval', program, url, `r${round}`],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      );
      children.add(child);
      const lines = createInterface({ input: child.stdout });
      lines.on('line', (line) => {
        const [seq, id] = line.split(' ');
        if (id !== undefined) acknowledged.set(Number(seq), id);
      });
      await once(lines, 'line');
      const ours = setTimeout(Math.random() * 200).then(() =>
        store.write((w) => w.append([entry(`own.${round}`)])),
      );
      await setTimeout(Math.random() * 200);
      child.kill('SIGKILL');
      await Promise.all([once(lines, 'close'), once(child, 'exit'), ours]);
    }
    const log = await store.read((r) => r.log({ after: 0, limit: 100_000 }));
    expect(await verifyChain(store)).toEqual({ verified: log.length });
    const stored = new Map(log.map(({ seq, id }) => [seq, id]));
    for (const [seq, id] of acknowledged) expect(stored.get(seq)).toBe(id);
    expect(acknowledged.size).toBeGreaterThan(0);
    const theirs = log.map(({ id }) => id).filter((id) => !id.startsWith('own.'));
    expect(theirs).toHaveLength(log.length - 8);
    await store.read(async (r) => {
      expect(await r.objects(theirs)).toHaveLength(theirs.length);
      expect(await r.edges(theirs, { direction: 'in' })).toHaveLength(theirs.length);
      for (const key of theirs) expect(await r.record({ kind: 'k', key })).toBeDefined();
    });
    await store.close();
  },
);
