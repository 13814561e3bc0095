/**
 * Masters and agents of two examples are killed while they work; each run must come out like one that
 * nobody disturbed. More, and all examples: `npm run bench -- examples-chaos`.
 */
import { describe, expect, it } from 'vitest';
import { runExamplesChaos } from './run.ts';

const kills = Number(process.env['CHAOS_KILLS'] ?? 12);
const seed = Number(process.env['CHAOS_SEED'] ?? 1);
const names = ['with-a-model', 'by-command'] as const;

describe('examples whose processes are killed with SIGKILL', () => {
  it(
    'end as they do undisturbed: nothing finished is done again, nothing is lost or twice',
    { timeout: 600_000 },
    async () => {
      const reports = await runExamplesChaos({ names, kills, seed });
      process.stderr.write(`${JSON.stringify(reports)}\n`);
      const none = { repeated: [], doubled: [], open: [], different: [] };
      const all = reports.flatMap(({ kills: by }) => Object.values(by));
      expect(all.reduce((sum, count) => sum + count, 0)).toBe(kills);
      for (const { name, faults } of reports)
        expect({ name, faults }).toEqual({ name, faults: none });
      const amid = reports.reduce((sum, { amidWork }) => sum + amidWork, 0);
      expect(amid).toBeGreaterThanOrEqual((2 / 3) * kills);
    },
  );
});
