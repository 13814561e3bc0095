import { join } from 'node:path';
import { openSqliteStore } from 'throughline/store';
import { rawWriter } from './raw.ts';
import { assertions, record } from './workload.ts';

const count = 61_440;
const inFlight = 256;
/** Turns in which the compiler warms up. */
const warmUp = 40;

/** Assertions per second, of the store and of the same written raw. */
export interface Recorded {
  readonly store: number;
  readonly raw: number;
}

/** In turns of one commit each, so that a slow moment of the machine hits both. */
export async function measureRecording(folder: string): Promise<Recorded> {
  const work = assertions(count);
  const store = await openSqliteStore({ path: join(folder, 'store.db') });
  const rawPath = join(folder, 'raw.db');
  await (await openSqliteStore({ path: rawPath })).close();
  const raw = rawWriter(rawPath, work);
  let commits = 0;
  store.onCommit(() => (commits += 1));

  const spent = { store: 0, raw: 0 };
  const turns = count / inFlight;
  for (let turn = 0; turn < turns; turn++) {
    const [from, to] = [turn * inFlight, (turn + 1) * inFlight];
    const started = performance.now();
    await Promise.all(work.slice(from, to).map((one) => record(store, one)));
    const between = performance.now();
    raw.write(from, to);
    if (turn < warmUp) continue;
    spent.store += between - started;
    spent.raw += performance.now() - between;
  }
  await store.close();
  raw.close();
  if (commits !== turns) throw new Error(`${commits} commits where raw had ${turns}`);
  const measured = (turns - warmUp) * inFlight * 1_000;
  return { store: measured / spent.store, raw: measured / spent.raw };
}
