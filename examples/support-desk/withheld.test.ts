import { expect, it } from 'vitest';
import { bank } from './bank.ts';
import { leaksIn, secretsOf, shareWith, type AgentRole } from './withheld.ts';

const roles: AgentRole[] = ['policy-reader', 'account-checker', 'case-writer'];
const withDebitCard = 'lj82d4f1a9';

it.each(roles)('keeps birth date and card code from the %s', (role) => {
  for (const { user_id } of bank().customers()) {
    const record = bank().fullRecord(user_id);
    const secrets = secretsOf(record);
    expect(secrets.length).toBeGreaterThan(0);
    const { shared, withheld } = shareWith(role, record);
    expect(leaksIn(JSON.stringify(shared), secrets)).toEqual([]);
    expect(withheld[0]).toBe('date of birth');
  }
});

const names = (userId: string): string[] =>
  shareWith('case-writer', bank().fullRecord(userId)).withheld;

it('names what the record held: a card code only where there is a card with one', () => {
  expect(names(withDebitCard).slice(0, 2)).toEqual(['date of birth', 'card code']);
  expect(names('af0581dcbf')).not.toContain('card code');
});

it('names nothing for a record that holds nothing', () => {
  expect(shareWith('case-writer', {})).toEqual({ shared: {}, withheld: [] });
});

it('gives the account checker transactions and card types, no person', () => {
  const { shared } = shareWith('account-checker', bank().fullRecord('af0581dcbf'));
  expect(Object.keys(shared).toSorted()).toEqual([
    'credit_card_accounts',
    'credit_card_transaction_history',
  ]);
  expect(JSON.stringify(shared)).not.toMatch(/Priya|af0581dcbf/);
});

it('finds a secret where it stands in a text, and not inside a longer number', () => {
  const secrets = [{ name: 'card code', value: '739' }];
  expect(leaksIn('code 739.', secrets)).toHaveLength(0);
  expect(leaksIn('code "739"', secrets)).toHaveLength(1);
  expect(leaksIn('$1,739.00 or 7390', secrets)).toHaveLength(0);
});
