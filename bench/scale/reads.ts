import type { Hub } from 'throughline/hub';
import type { KnownCase } from './known.ts';
import { boss } from './workload.ts';

/** Milliseconds. */
export interface Latency {
  readonly p50: number;
  readonly p99: number;
}

export interface Side {
  readonly hub: Hub;
  readonly cases: readonly KnownCase[];
}

/** What people ask of a hub, each of one case picked by lot. */
const questions: Readonly<Record<string, (hub: Hub, one: KnownCase) => Promise<unknown>>> = {
  'case show': (hub, { activity }) => hub.caseView(boss, activity),
  'case show, by its owner': (hub, { activity, owner }) => hub.caseView(owner, activity),
  timeline: (hub, { activity }) => hub.timeline(boss, activity),
  'explain (where a result is from)': (hub, { result }) => hub.explain(boss, result),
  'cases of one person': (hub, { owner }) => hub.cases(owner, { pageSize: 20 }),
  'latest cases of all': (hub) => hub.cases(boss, { pageSize: 20 }),
  'search for words': (hub) => hub.cases(boss, { text: 'refund of 13', pageSize: 20 }),
};

/** Questions that look at many cases are asked less often. */
const readsOf = (name: string, reads: number): number =>
  name.startsWith('case show') || name === 'timeline' ? reads : Math.ceil(reads / 8);

function latency(times: readonly number[]): Latency {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

/** Asks both sides the same, in turns, so that a slow moment of the machine hits both. */
export async function measureReads(
  [small, big]: readonly [Side, Side],
  reads: number,
): Promise<ReadonlyMap<string, readonly [Latency, Latency]>> {
  const measured = new Map<string, readonly [Latency, Latency]>();
  for (const [name, ask] of Object.entries(questions)) {
    const sides = [small, big].map(({ hub, cases }) => ({
      hub,
      cases,
      times: new Array<number>(),
    }));
    const turns = readsOf(name, reads);
    for (let i = 0; i < turns + turns / 10; i++) {
      for (const { hub, cases, times } of sides) {
        const one = cases[Math.floor(Math.random() * cases.length)];
        if (one === undefined) throw new Error('there is no case to ask for');
        const started = performance.now();
        await ask(hub, one);
        // The first tenth warms up.
        if (i >= turns / 10) times.push(performance.now() - started);
      }
    }
    const [first, second] = sides.map(({ times }) => latency(times));
    if (first !== undefined && second !== undefined) measured.set(name, [first, second]);
  }
  return measured;
}
