import { describe, expect, it } from 'vitest';
import { told } from '../world/tell.ts';

const checks = ['answers-right', 'one-at-a-time', 'passages-alone', 'cited'];

describe('a diagnosis from three papers', () => {
  it(
    'ends with answers that stand in the papers, one agent after the other',
    { timeout: 120_000 },
    async () => {
      const { code, names, failed } = await told('diagnosis');
      expect(failed).toEqual([]);
      expect(names).toEqual(checks);
      expect(code).toBe(0);
    },
  );

  it.each(checks)('sees that %s is broken on purpose', { timeout: 120_000 }, async (fault) => {
    const { code, failed } = await told('diagnosis', '--fault', fault);
    expect(failed).toEqual([fault]);
    expect(code).toBe(1);
  });
});
