import { describe, expect, it } from 'vitest';
import { told } from '../world/tell.ts';

const checks = ['answers', 'judged', 'leak', 'usage'];

describe('a question that models plan, work on and judge', () => {
  it(
    'ends with the answers, judged, and no canary in any prompt',
    { timeout: 120_000 },
    async () => {
      const { code, names, failed } = await told('with-a-model');
      expect(failed).toEqual([]);
      expect(names).toEqual(checks);
      expect(code).toBe(0);
    },
  );

  it.each(checks)('sees that %s is broken on purpose', { timeout: 120_000 }, async (fault) => {
    const { code, failed } = await told('with-a-model', '--fault', fault);
    expect(failed).toEqual([fault]);
    expect(code).toBe(1);
  });
});
