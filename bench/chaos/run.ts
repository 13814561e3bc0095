import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask, openCaller, openCustomer, work, type Caller } from './callers.ts';
import { disagreements } from './check.ts';
import { Ledger, readEffects } from './ledger.ts';
import { pick, randomFrom } from './random.ts';
import { World, type StoreKind, type Target } from './world.ts';

export interface ChaosOptions {
  readonly store: StoreKind;
  readonly kills: number;
  readonly seed: number;
  readonly callers: number;
  readonly onKill?: (kill: Kill) => void;
}

interface Kill {
  readonly target: Target;
  /** Tasks that were acknowledged and whose end was not, when it was killed. */
  readonly open: number;
  /** Until it was up again. */
  readonly seconds: number;
}

export interface ChaosReport {
  readonly store: StoreKind;
  readonly seed: number;
  readonly callers: number;
  readonly seconds: number;
  readonly kills: Readonly<Partial<Record<Target, number>>>;
  /** Share of the kills between an acknowledgement and the end of what was acknowledged. */
  readonly amidWork: number;
  /** Entries of the ledger, by kind. */
  readonly acknowledged: Readonly<Record<string, number>>;
  /** Runs of the clerk that went on after a process was gone. */
  readonly resumed: number;
  /** Sentences about what does not agree; none when all does. */
  readonly disagreements: readonly string[];
  /** Where the ledger and all else was left; only when something does not agree. */
  readonly folder?: string;
}

const weights: Readonly<Record<StoreKind, readonly (readonly [Target, number])[]>> = {
  sqlite: [
    ['hub', 5],
    ['clerk', 4],
    ['policy reader', 1],
  ],
  postgres: [
    ['hub', 4],
    ['clerk', 3],
    ['policy reader', 1],
    ['database', 2],
    ['connection', 2],
  ],
};
/** Milliseconds between what is up again and the next kill. */
const pauseMs = { least: 50, most: 1_500 };
/** Milliseconds to wait for something to be under way. */
const workMs = 3_000;
const customerCase = 'task_019';

/** Kills again and again while the desk and a load of callers work, then looks what became of it. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const { store, kills: count, seed, callers: crowd, onKill } = options;
  const begun = performance.now();
  const random = randomFrom(seed);
  const world = await World.start(store);
  const ledger = new Ledger(join(world.folder, 'ledger.jsonl'));
  const callers: Caller[] = [];
  let agree = false;
  try {
    for (let at = 0; at < crowd; at++) callers.push(await openCaller(world, `caller-${at}`));
    const customer = await openCustomer(world, customerCase);
    const stopping = new AbortController();
    const { signal } = stopping;
    const working = callers.map((caller, at) =>
      work(caller, { ledger, seed: seed * 1_000 + at, signal }),
    );
    working.push(ask(customer, customerCase, { ledger, signal }));
    const kills: Kill[] = [];
    for (let at = 0; at < count; at++) {
      const target = pick(random, weights[store]);
      await sleep(pauseMs.least + random() * (pauseMs.most - pauseMs.least));
      for (let waited = 0; ledger.open === 0 && waited < workMs; waited += 50) await sleep(50);
      const { open } = ledger;
      const from = performance.now();
      await Promise.race([world.kill(target, random), world.ended]);
      const kill = { target, open, seconds: (performance.now() - from) / 1_000 };
      kills.push(kill);
      onKill?.(kill);
    }
    stopping.abort();
    await Promise.race([Promise.all(working), world.ended]);
    callers.push(customer);
    const wrong = await disagreements(world.operator, callers, ledger, world.effects);
    const amiss = await world.verify();
    if (amiss !== '') wrong.push(`the data: ${amiss}`);
    agree = wrong.length === 0;
    if (!agree) writeFileSync(join(world.folder, 'wrong.txt'), wrong.join('\n'));
    return {
      store,
      seed,
      callers: crowd,
      seconds: Math.round((performance.now() - begun) / 1_000),
      kills: countBy(kills.map(({ target }) => target)),
      amidWork: kills.filter(({ open }) => open > 0).length / Math.max(1, kills.length),
      acknowledged: countBy(ledger.entries.map(({ kind }) => kind)),
      resumed: readEffects(world.effects).filter(({ resumed }) => resumed === true).length,
      disagreements: wrong,
      ...(agree ? {} : { folder: world.folder }),
    };
  } finally {
    for (const caller of callers) await caller.close();
    ledger.close();
    await world.stop();
    if (agree) world.remove();
  }
}

const countBy = <T extends string>(values: readonly T[]): Partial<Record<T, number>> & object => {
  const counts: Partial<Record<T, number>> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
};
