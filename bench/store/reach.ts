import type { Store } from 'throughline/store';

/** Dialogs of one case: a chain this long with a leaf at every link. */
const chain = 12;
const perCase = chain * 2;
const depth = 10;

/** Milliseconds. */
export interface Latency {
  readonly p50: number;
  readonly p99: number;
}

const dialog = (inCase: number, n: number): string => `dlg_${inCase}.${n}`;

async function load(store: Store, dialogs: number): Promise<void> {
  for (let inCase = 0; inCase < dialogs / perCase; inCase++) {
    // Waiting now and then keeps the queue short and the commits large.
    const written = store.write(async (writer) => {
      for (let n = 0; n < perCase; n++) {
        const from = dialog(inCase, n);
        const common = { activity: `act_${inCase}`, shape: { n }, seq: inCase };
        await writer.putObject({ ...common, id: from, kind: 'dialog' });
        if (n === 0) continue;
        const to = dialog(inCase, n < chain ? n - 1 : n - chain);
        const id = `rel_${inCase}.${n}`;
        await writer.putEdge({ ...common, id, type: 'delegated-from', from, to, status: 'active' });
      }
    });
    if (inCase % 100 === 0) await written;
  }
  await store.write(async () => {});
}

/** Ancestors from the far end of a case picked by `pick`, and what came of its root. */
async function reachBoth(store: Store, inCase: number): Promise<number> {
  const query = { types: ['delegated-from'], depth, limit: 1_000 };
  const [up, down] = await store.read(async (reader) => [
    await reader.reach([dialog(inCase, perCase - 1)], { ...query, direction: 'out' }),
    await reader.reach([dialog(inCase, 0)], { ...query, direction: 'in' }),
  ]);
  return (up?.length ?? 0) + (down?.length ?? 0);
}

const expected = depth + (depth + depth);

function latency(times: readonly number[]): Latency {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

/** The same reads of stores of different sizes, in turns. `open` gives an empty store. */
export async function measureReach(
  open: (size: number) => Promise<Store>,
  sizes: readonly number[],
  reads: number,
): Promise<readonly Latency[]> {
  const sides: { store: Store; cases: number; times: number[] }[] = [];
  for (const size of sizes) {
    const store = await open(size);
    await load(store, size);
    sides.push({ store, cases: Math.floor(size / perCase), times: [] });
  }
  for (let i = 0; i < reads; i++) {
    for (const { store, cases, times } of sides) {
      const inCase = (i * 7_919) % cases;
      const started = performance.now();
      const found = await reachBoth(store, inCase);
      times.push(performance.now() - started);
      if (found !== expected) throw new Error(`reached ${found} dialogs instead of ${expected}`);
    }
  }
  for (const { store } of sides) await store.close();
  return sides.map(({ times }) => latency(times.slice(reads / 10)));
}
