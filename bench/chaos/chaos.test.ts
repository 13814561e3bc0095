/**
 * Hub, database and agents are killed while they work; the outside ledger of what was acknowledged is held
 * against what is there afterwards. More, and other seeds: CHAOS_KILLS, CHAOS_SEED, or
 * `npm run bench -- chaos`.
 */
import { describe, expect, it } from 'vitest';
import { runChaos } from './run.ts';
import type { StoreKind } from './world.ts';

const kills = Number(process.env['CHAOS_KILLS'] ?? 30);
const seed = Number(process.env['CHAOS_SEED'] ?? 1);
/** What a machine that checks every change can take. */
const callers = 4;

const parts: readonly (readonly [StoreKind, number])[] = [
  ['sqlite', Math.ceil(kills / 2)],
  ['postgres', Math.floor(kills / 2)],
];

describe('killed with SIGKILL in the middle of its work', () => {
  it.each(parts)(
    'everything acknowledged is there, once, and everything open ends (%s, %i kills)',
    { timeout: 900_000 },
    async (store, count) => {
      const report = await runChaos({ store, kills: count, seed, callers });
      process.stderr.write(`${JSON.stringify(report)}\n`);
      expect(report.disagreements, `seed ${seed}`).toEqual([]);
      expect(report.amidWork).toBeGreaterThanOrEqual(2 / 3);
      expect(report.acknowledged['ended']).toBeGreaterThan(count / 3);
    },
  );
});
