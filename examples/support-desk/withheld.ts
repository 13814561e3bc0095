/** Who may have which fields of a customer's record, and what was therefore kept back. */
import type { BankRecord, BankRow } from './bank.ts';

/** The desk's agents. */
export type AgentRole = 'policy-reader' | 'account-checker' | 'case-writer';

/** By agent: table and fields it needs. What isn't listed is withheld. */
const allowed: Record<AgentRole, Record<string, readonly string[]>> = {
  'policy-reader': {
    credit_card_accounts: ['card_type', 'date_of_account_open'],
    accounts: ['class', 'level'],
  },
  'account-checker': {
    credit_card_accounts: ['card_type', 'date_of_account_open'],
    credit_card_transaction_history: [
      'transaction_id',
      'credit_card_type',
      'merchant_name',
      'transaction_amount',
      'transaction_date',
      'category',
      'status',
      'rewards_earned',
    ],
  },
  'case-writer': {
    users: ['name'],
    credit_card_accounts: ['card_type'],
    accounts: ['class', 'level'],
  },
};

/** What people call a field, the most sensitive first. The tables it may stand in don't matter. */
const names: [field: string, name: string][] = [
  ['date_of_birth', 'date of birth'],
  ['cvv', 'card code'],
  ['last_4_digits', 'card number ending'],
  ['card_last_4_digits', 'card number ending'],
  ['card_id', 'card number'],
  ['expiration_date', 'card expiry date'],
  ['cardholder_name', 'name on the card'],
  ['phone_number', 'phone number'],
  ['phone', 'phone number'],
  ['email', 'e-mail address'],
  ['address', 'postal address'],
  ['shipping_address', 'postal address'],
  ['name', 'full name'],
  ['full_name', 'full name'],
  ['user_id', 'user id'],
  ['account_id', 'account number'],
  ['credit_card_account_id', 'account number'],
  ['annual_income', 'income'],
  ['current_balance', 'balance'],
  ['current_holdings', 'balance'],
  ['credit_limit', 'credit limit'],
  ['past_due_amount', 'amount past due'],
  ['description', 'bank transactions'],
];
/** Field → what people call it, for fields that tell something of a person. */
export const namesOfFields: ReadonlyMap<string, string> = new Map(names);

const sensitivity = names.map(([field]) => field);

const nameOf = (field: string): string =>
  names.find(([known]) => known === field)?.[1] ?? field.replaceAll('_', ' ');

const place = (field: string): number =>
  sensitivity.includes(field) ? sensitivity.indexOf(field) : sensitivity.length;

/** A record cut down for one agent. */
export interface Share {
  shared: BankRecord;
  /** Names of what the record held and the agent did not get, most sensitive first. */
  withheld: string[];
}

function cutRow(row: BankRow, fields: readonly string[]): BankRow {
  return Object.fromEntries(Object.entries(row).filter(([field]) => fields.includes(field)));
}

/** The part of a record an agent may have, and the names of the rest. */
export function shareWith(role: AgentRole, record: BankRecord): Share {
  const tables = allowed[role];
  const shared: BankRecord = {};
  const keptBack = new Set<string>();
  const given = new Set<string>();
  for (const [table, rows] of Object.entries(record)) {
    const fields = tables[table] ?? [];
    if (fields.length > 0) shared[table] = rows.map((row) => cutRow(row, fields));
    for (const field of rows.flatMap((row) => Object.keys(row))) {
      (fields.includes(field) ? given : keptBack).add(field);
    }
  }
  const fields = [...keptBack].filter((field) => !given.has(field));
  const ordered = fields.toSorted((a, b) => place(a) - place(b) || a.localeCompare(b));
  return { shared, withheld: [...new Set(ordered.map(nameOf))] };
}

/** A value of the record that no agent may see, with its name. */
export interface Secret {
  name: string;
  value: string;
}

/** Birth dates and card codes of a record: what a check for leaks looks for. */
export function secretsOf(record: BankRecord): Secret[] {
  const secret = ['date_of_birth', 'cvv'];
  return Object.values(record)
    .flat()
    .flatMap((row) => secret.map((field) => ({ name: nameOf(field), value: row[field] })))
    .flatMap(({ name, value }) => (typeof value === 'string' ? [{ name, value }] : []));
}

/** The secrets that stand in a text as words of their own. */
export function leaksIn(text: string, secrets: readonly Secret[]): Secret[] {
  return secrets.filter(({ value }) => {
    const escaped = value.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
    return new RegExp(String.raw`(?<![\w.])${escaped}(?![\w.])`).test(text);
  });
}
