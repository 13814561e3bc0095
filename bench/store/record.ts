import { join } from 'node:path';
import { openSqliteStore, type Store } from 'throughline/store';
import { openPostgresStore } from 'throughline/store/postgres';
import { rawPostgresWriter } from './raw-postgres.ts';
import { rawWriter } from './raw.ts';
import { type Assertion, assertions, record } from './workload.ts';

const count = 61_440;
const inFlight = 256;
/** Turns in which the compiler warms up. */
const warmUp = 40;

/** Assertions per second, of the store and of the same written raw. */
export interface Recorded {
  readonly store: number;
  readonly raw: number;
}

/** Writes the assertions from one number up to another raw, in one synced transaction. */
type WriteRaw = (from: number, to: number) => void | Promise<void>;

/** In turns of one commit each, so that a slow moment of the machine hits both. */
async function inTurns(
  store: Store,
  work: readonly Assertion[],
  writeRaw: WriteRaw,
): Promise<Recorded> {
  let commits = 0;
  const stop = store.onCommit(() => (commits += 1));
  const spent = { store: 0, raw: 0 };
  const turns = work.length / inFlight;
  for (let turn = 0; turn < turns; turn++) {
    const [from, to] = [turn * inFlight, (turn + 1) * inFlight];
    const started = performance.now();
    await Promise.all(work.slice(from, to).map((one) => record(store, one)));
    const between = performance.now();
    await writeRaw(from, to);
    if (turn < warmUp) continue;
    spent.store += between - started;
    spent.raw += performance.now() - between;
  }
  stop();
  if (commits !== turns) throw new Error(`${commits} commits where raw had ${turns}`);
  const measured = (turns - warmUp) * inFlight * 1_000;
  return { store: measured / spent.store, raw: measured / spent.raw };
}

export async function measureRecording(folder: string): Promise<Recorded> {
  const work = assertions(count);
  const store = await openSqliteStore({ path: join(folder, 'store.db') });
  const rawPath = join(folder, 'raw.db');
  await (await openSqliteStore({ path: rawPath })).close();
  const raw = rawWriter(rawPath, work);
  const recorded = await inTurns(store, work, (from, to) => raw.write(from, to));
  await store.close();
  raw.close();
  return recorded;
}

/** The same in two empty databases of one server. */
export async function measureRecordingInPostgres(url: string, rawUrl: string): Promise<Recorded> {
  const work = assertions(count / 2);
  const store = await openPostgresStore({ url });
  await (await openPostgresStore({ url: rawUrl })).close();
  const raw = await rawPostgresWriter(rawUrl, work, inFlight);
  const recorded = await inTurns(store, work, (from) => raw.write(from));
  await store.close();
  await raw.close();
  return recorded;
}
