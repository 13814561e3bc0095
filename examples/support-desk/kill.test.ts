/** The hub is killed in mid-case, at moments that follow from a seed. More: SUPPORT_DESK_KILLS=20. */
import { describe, expect, it } from 'vitest';
import { deskCase } from './cases.ts';
import { expectedCases } from './expected.ts';
import { surviveKills } from './story/kill-driver.ts';

const one = deskCase('task_019');
const disputed = expectedCases().find(({ id }) => id === one.id)?.disputedTransactions ?? [];

const runs = Number(process.env['SUPPORT_DESK_KILLS'] ?? 4);
const firstSeed = Number(process.env['SUPPORT_DESK_SEED'] ?? 1);
const seeds = Array.from({ length: runs }, (_, n) => firstSeed + n);

describe('a case whose hub and desk are killed in the middle', () => {
  it.each(seeds)(
    'ends right, with each task and each output once (seed %i)',
    { timeout: 300_000 },
    async (seed) => {
      const survived = await surviveKills(one, seed);
      const { killedAt, tookMs, tasks, outputs } = survived;
      process.stderr.write(
        `seed ${seed}: killed at ${killedAt.join(', ')} ms, answered after ${tookMs} ms; ` +
          `${JSON.stringify(tasks)}\n`,
      );
      expect(survived.answer).toMatchObject({ state: 'completed' });
      expect(survived.rows).toEqual([...disputed].toSorted());
      expect(survived.listed).toEqual([survived.answer.taskId]);
      expect(survived.again).toBe(survived.answer.taskId);
      const { 'Account checker': checker = [], ...behindTheHub } = tasks;
      expect(behindTheHub).toEqual({
        Desk: ['completed'],
        'Policy reader': ['completed'],
        'Case writer': ['completed'],
      });
      // Somebody else's agent does not know a message that comes again: each time it came is on record.
      expect(new Set(checker)).toEqual(new Set(['completed']));
      expect(outputs).toEqual({
        Desk: ['answer'],
        'Policy reader': ['agent-context', 'passages', 'terms'],
        'Case writer': ['agent-context', 'answer', 'record'],
        'Account checker': ['recomputed rewards'],
      });
      expect(survived.conflicts).toEqual([]);
    },
  );
});
