import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore, type Store } from 'throughline/store';
import { openPostgresStore } from 'throughline/store/postgres';
import { measureReach } from './reach.ts';
import { measureRecording, measureRecordingInPostgres, type Recorded } from './record.ts';
import { startServer, type Server } from './server.ts';

/** One figure beside what it is measured against. */
interface Row {
  readonly name: string;
  readonly unit: string;
  readonly ours: number;
  readonly beside: number;
  readonly besideWhat: string;
  readonly ratio: number;
  readonly bar: string;
  readonly ok: boolean;
}

export interface Result {
  readonly suite: 'store';
  readonly machine: { readonly node: string; readonly cpus: number; readonly cpu: string };
  readonly rows: readonly Row[];
}

const smaller = 10_000;
const larger = 200_000;

/** Measures both stores in temporary folders; takes about two minutes. */
export async function run(): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-store-'));
  const server = await startServer();
  try {
    const rows = [...(await sqliteRows(folder)), ...(await postgresRows(server))];
    const [first] = cpus();
    const machine = { node: process.version, cpus: cpus().length, cpu: first?.model ?? 'unknown' };
    return { suite: 'store', machine, rows };
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

const sqliteRows = async (folder: string): Promise<readonly Row[]> => [
  recording('SQLite', await measureRecording(folder), 0.5),
  await reach('SQLite', 4_000, (size) =>
    openSqliteStore({ path: join(folder, `reach-${size}.db`) }),
  ),
];

const postgresRows = async (server: Server): Promise<readonly Row[]> => [
  recording(
    'PostgreSQL',
    await measureRecordingInPostgres(await server.fresh(), await server.fresh()),
    0.2,
  ),
  await reach('PostgreSQL', 1_000, async () => openPostgresStore({ url: await server.fresh() })),
];

function recording(kind: string, { store, raw }: Recorded, bar: number): Row {
  const ratio = store / raw;
  return {
    name: `assertions recorded durably in ${kind}`,
    unit: 'per second',
    ours: store,
    beside: raw,
    besideWhat: 'the same rows written raw in as many transactions',
    ratio,
    bar: `≥ ${bar}`,
    ok: ratio >= bar,
  };
}

async function reach(
  kind: string,
  reads: number,
  open: (size: number) => Promise<Store>,
): Promise<Row> {
  const [small, large] = await measureReach(open, [smaller, larger], reads);
  const ours = large?.p99 ?? Number.NaN;
  const beside = small?.p99 ?? Number.NaN;
  const ratio = ours / beside;
  return {
    name: `lineage 10 deep, both ways, at ${larger.toLocaleString('en')} dialogs in ${kind}, p99`,
    unit: 'ms',
    ours,
    beside,
    besideWhat: `the same at ${smaller.toLocaleString('en')}`,
    ratio,
    bar: '≤ 10',
    ok: ratio <= 10,
  };
}
