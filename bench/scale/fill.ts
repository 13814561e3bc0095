import type { Hub } from 'throughline/hub';
import { Workload } from './workload.ts';

/** Cases under way at once. */
const parallel = 64;
const sampleMs = 250;

/** What the process holds at one moment, in bytes. */
export interface Sample {
  readonly rss: number;
  readonly heapUsed: number;
}

export interface Filled {
  readonly samples: readonly Sample[];
  /** Recorded now, and in how many seconds. */
  readonly recorded: number;
  readonly seconds: number;
}

/** Records whole cases until the hub holds so many assertions, and watches the process meanwhile. */
export async function fill(hub: Hub, size: number, tell: (seq: number) => void): Promise<Filled> {
  const workload = new Workload(hub);
  const started = performance.now();
  const samples: Sample[] = [];
  const { seq: before } = await hub.health();
  const state = { isFull: before >= size };
  const watch = async (): Promise<void> => {
    while (!state.isFull) {
      await new Promise((resolve) => setTimeout(resolve, sampleMs));
      const { seq } = await hub.health();
      const { rss, heapUsed } = process.memoryUsage();
      samples.push({ rss, heapUsed });
      tell(seq);
      state.isFull = seq >= size;
    }
  };
  const work = async (): Promise<void> => {
    while (!state.isFull) await workload.makeCase();
  };
  await Promise.all([watch(), ...Array.from({ length: parallel }, work)]);
  const { seq } = await hub.health();
  return { samples, recorded: seq - before, seconds: (performance.now() - started) / 1_000 };
}
