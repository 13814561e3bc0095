import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { measureReach } from './reach.ts';
import { measureRecording } from './record.ts';

/** One figure beside what it is measured against. */
export interface Row {
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

/** Measures the SQLite store in a temporary folder; takes about half a minute. */
export async function run(): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-store-'));
  try {
    const rows = [await recording(folder), await reach(folder)];
    const [first] = cpus();
    const machine = { node: process.version, cpus: cpus().length, cpu: first?.model ?? 'unknown' };
    return { suite: 'store', machine, rows };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function recording(folder: string): Promise<Row> {
  const { store, raw } = await measureRecording(folder);
  const ratio = store / raw;
  return {
    name: 'assertions recorded durably',
    unit: 'per second',
    ours: store,
    beside: raw,
    besideWhat: 'the same rows written raw in as many transactions',
    ratio,
    bar: '≥ 0.5',
    ok: ratio >= 0.5,
  };
}

async function reach(folder: string): Promise<Row> {
  const [small, large] = await measureReach(folder, [smaller, larger]);
  const ours = large?.p99 ?? Number.NaN;
  const beside = small?.p99 ?? Number.NaN;
  const ratio = ours / beside;
  return {
    name: `lineage 10 deep, both ways, at ${larger.toLocaleString('en')} dialogs, p99`,
    unit: 'ms',
    ours,
    beside,
    besideWhat: `the same at ${smaller.toLocaleString('en')}`,
    ratio,
    bar: '≤ 10',
    ok: ratio <= 10,
  };
}
