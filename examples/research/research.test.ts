import { describe, expect, it } from 'vitest';
import { told } from '../world/tell.ts';

const checks = ['answers-found', 'own-shelf-only', 'word-for-word', 'at-the-same-time'];

describe('research over four shelves', () => {
  it(
    'finds the answer of each step, each reader on its own shelf, all at once',
    { timeout: 120_000 },
    async () => {
      const { code, names, failed } = await told('research');
      expect(failed).toEqual([]);
      expect(names).toEqual(checks);
      expect(code).toBe(0);
    },
  );

  it.each(checks)(
    'sees that %s is broken on purpose, and nothing else',
    { timeout: 120_000 },
    async (fault) => {
      const { code, failed } = await told('research', '--fault', fault);
      expect(failed).toEqual([fault]);
      expect(code).toBe(1);
    },
  );
});
