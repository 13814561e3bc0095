import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Hub } from 'throughline/hub';
import { openSqliteStore, type Store } from 'throughline/store';
import { openPostgresStore } from 'throughline/store/postgres';
import { startServer } from '../store/server.ts';
import { copyStore } from './copy.ts';
import { fill, type Filled, type Sample } from './fill.ts';
import { knownCases } from './known.ts';
import { measureReads } from './reads.ts';

export const kinds = ['sqlite', 'postgres'] as const;
export type Kind = (typeof kinds)[number];

/** One figure beside what it is measured against. */
export interface Row {
  readonly name: string;
  readonly store: string;
  readonly unit: string;
  readonly ours: number;
  readonly beside: number;
  readonly besideWhat: string;
  readonly ratio: number;
  /** The most that the ratio may be; absent where nothing is asked. */
  readonly bar?: number;
  readonly ok: boolean;
}

export interface Result {
  readonly suite: 'scale';
  readonly machine: { readonly node: string; readonly cpus: number; readonly cpu: string };
  /** By store: assertions in it, how many of them this run recorded through the hub, and how fast. */
  readonly filled: Readonly<
    Record<string, { assertions: number; recorded: number; seconds: number; perSecond: number }>
  >;
  readonly rows: readonly Row[];
}

const smaller = 10_000;
const bars = { memory: 1.15, p99: 10 } as const;
/** Samples of memory below which nothing can be said of it: a minute of recording. */
const leastSamples = 240;

export interface Options {
  readonly size: number;
  readonly stores: readonly Kind[];
  /** Assertions that are recorded through the hub in PostgreSQL, on top of those that are copied there. */
  readonly through: number;
  readonly reads: number;
  /** Where the SQLite files stay, so that another run goes on with them. Absent: nothing stays. */
  readonly folder: string | undefined;
  readonly tell: (line: string) => void;
}

interface Side {
  readonly store: Store;
  readonly hub: Hub;
}

/** Fills a hub and asks it what people ask, then the same of a copy in PostgreSQL. */
export async function run(options: Options): Promise<Result> {
  const { size, stores, through, tell } = options;
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'bench-scale-'));
  mkdirSync(folder, { recursive: true });
  const server = stores.includes('postgres') ? await startServer() : undefined;
  const opened: Hub[] = [];
  const side = async (store: Store): Promise<Side> => {
    const key = new Uint8Array(32).fill(7);
    const hub = await Hub.open({ store, domainKey: key, origin: 'https://hub.example' });
    opened.push(hub);
    return { store, hub };
  };
  try {
    const files = {
      small: await side(await openSqliteStore({ path: join(folder, 'small.db') })),
      big: await side(await openSqliteStore({ path: join(folder, 'big.db') })),
    };
    await fill(files.small.hub, smaller, progress('SQLite:', smaller, tell));
    const filled = await fill(files.big.hub, size, progress('SQLite:', size, tell));
    const results = [];
    if (stores.includes('sqlite')) results.push(await result('SQLite', files, filled, options));
    if (server !== undefined) {
      const copies = {
        small: await copied(files.small.store, server, side, tell),
        big: await copied(files.big.store, server, side, tell),
      };
      const { seq } = await copies.big.hub.health();
      const to = seq + through;
      const more = await fill(copies.big.hub, to, progress('PostgreSQL:', to, tell));
      results.push(await result('PostgreSQL', copies, more, options));
    }
    const [first] = cpus();
    const machine = { node: process.version, cpus: cpus().length, cpu: first?.model ?? 'unknown' };
    const all = Object.fromEntries(results.map(({ store, amount }) => [store, amount]));
    return { suite: 'scale', machine, filled: all, rows: results.flatMap(({ rows }) => rows) };
  } finally {
    for (const hub of opened) await hub.close();
    await server?.stop();
    if (options.folder === undefined) rmSync(folder, { recursive: true });
  }
}

async function copied(
  from: Store,
  server: { fresh(): Promise<string> },
  side: (store: Store) => Promise<Side>,
  tell: (line: string) => void,
): Promise<Side> {
  const { seq } = await from.read((reader) => reader.head());
  const store = await openPostgresStore({ url: await server.fresh() });
  await copyStore(from, store, progress('PostgreSQL, copied:', seq, tell));
  return side(store);
}

async function result(
  store: string,
  { small, big }: { small: Side; big: Side },
  { samples, recorded, seconds }: Filled,
  { reads, tell }: Options,
) {
  const { seq: assertions } = await big.hub.health();
  tell(`${store}: asking …`);
  const sides = [
    { hub: small.hub, cases: await knownCases(small.hub) },
    { hub: big.hub, cases: await knownCases(big.hub) },
  ] as const;
  const measured = await measureReads(sides, reads);
  const rows: Row[] = memoryRows(store, samples);
  for (const [name, [before, after]] of measured) {
    for (const which of ['p50', 'p99'] as const) {
      const ratio = after[which] / before[which];
      const at = `the same at ${smaller.toLocaleString('en')} assertions`;
      const compared = { ours: after[which], beside: before[which], besideWhat: at, ratio };
      const judged = which === 'p50' ? { ok: true } : { bar: bars.p99, ok: ratio <= bars.p99 };
      rows.push({ name: `${name}, ${which}`, store, unit: 'ms', ...compared, ...judged });
    }
  }
  const amount = { assertions, recorded, seconds, perSecond: recorded / seconds };
  return { store, rows, amount };
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** Memory is flat when the median of the last quarter is hardly more than that of the second. */
function memoryRows(store: string, samples: readonly Sample[]): Row[] {
  if (samples.length < leastSamples) return [];
  const quarter = Math.floor(samples.length / 4);
  return (['rss', 'heapUsed'] as const).map((what) => {
    const values = samples.map((sample) => sample[what] / 2 ** 20);
    const ours = median(values.slice(-quarter));
    const beside = median(values.slice(quarter, 2 * quarter));
    const ratio = ours / beside;
    const name = what === 'rss' ? 'resident memory' : 'heap in use';
    const compared = { ours, beside, besideWhat: 'the second quarter', ratio };
    const judged = { bar: bars.memory, ok: ratio <= bars.memory };
    return {
      name: `${name}, last quarter of recording`,
      store,
      unit: 'MiB',
      ...compared,
      ...judged,
    };
  });
}

/** Tells how far it is, each twentieth. */
function progress(what: string, size: number, tell: (line: string) => void): (seq: number) => void {
  let told = -1;
  return (seq) => {
    const part = Math.min(20, Math.floor((seq / size) * 20));
    if (part === told) return;
    told = part;
    const rss = Math.round(process.memoryUsage.rss() / 2 ** 20);
    const of = `${seq.toLocaleString('en')} of ${size.toLocaleString('en')} assertions`;
    tell(`${new Date().toISOString().slice(11, 19)} ${what} ${of}, ${rss} MiB`);
  };
}
