/** The checks by themselves: where there is nothing to check they say so, and can still fail. */
import { describe, expect, it } from 'vitest';
import { citationsVerbatim, fourWrongTransactions } from './checks.ts';

const rule = { documentId: 'doc', quote: 'Earn' };
const row = (transaction_id: string, paid = 175) => ({
  transaction_id,
  merchant: 'Uber',
  date: '10/29/2025',
  card: 'EcoCard',
  expected: 875,
  paid,
  missing: 875 - paid,
  unit: 'points' as const,
  rule,
});
const nothing = expect.stringMatching(/nothing|none to check/);

describe('the transactions of a case that names none', () => {
  it('say that there is nothing to check', () => {
    const { ok, saw } = fourWrongTransactions('task_001', { rows: [] });
    expect([ok, saw]).toEqual([true, { expected: [], rows: [], nothing }]);
  });

  it('are not right where a row comes out though none was expected', () => {
    expect(fourWrongTransactions('task_001', { rows: [row('txn_1')] }).ok).toBe(false);
  });
});

describe('the transactions of a case that names some', () => {
  const ids = ['f093f96e2001', '580773a8649e', 'd398545ca1a2', '37b5b8e67a5e'];
  const rows = ids.map((id) => row(`txn_${id}`));

  it('are all of them, in any order, each adding up', () => {
    expect(fourWrongTransactions('task_019', { rows: rows.toReversed() }).ok).toBe(true);
    const { saw } = fourWrongTransactions('task_019', { rows });
    expect(saw).not.toHaveProperty('nothing');
  });

  it.each([
    ['none came out', []],
    ['one is missing', rows.slice(1)],
    ['one is too many', [...rows, row('txn_1')]],
    ['one adds up to nothing', [...rows.slice(1), row('txn_f093f96e2001', 875)]],
  ])('are not right where %s', (_, found) => {
    expect(fourWrongTransactions('task_019', { rows: found }).ok).toBe(false);
  });
});

describe('an answer without a citation', () => {
  const silent = { citations: [], rows: [] };

  it('is right where it says nothing that would need one, and says that there is none to check', () => {
    const answer = 'Hello Kenji, I found nothing, so I will not guess.';
    const { ok, saw } = citationsVerbatim({ ...silent, answer }, []);
    expect([ok, saw]).toEqual([true, expect.objectContaining({ citations: 0, nothing })]);
  });

  it.each(['Our terms say “earn more”.', 'You earn 5 points.'])('is wrong with %s', (answer) => {
    expect(citationsVerbatim({ ...silent, answer }, []).ok).toBe(false);
  });
});
