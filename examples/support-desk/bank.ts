/** The bank's account database, read from `data/db.json`. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';

const record = z.record(z.string(), z.unknown());
const table = z.object({ data: z.record(z.string(), record) });
const database = z.record(z.string(), table);

const customerSchema = z.object({
  name: z.string(),
  user_id: z.string(),
  address: z.string(),
  email: z.string(),
  phone_number: z.string(),
  date_of_birth: z.string(),
});
const accountSchema = z.object({
  account_id: z.string(),
  class: z.string(),
  level: z.string(),
  status: z.string(),
});
const cardSchema = z.object({
  account_id: z.string(),
  card_type: z.string(),
  date_of_account_open: z.string(),
});
const transactionSchema = z.object({
  transaction_id: z.string(),
  user_id: z.string(),
  credit_card_type: z.string(),
  merchant_name: z.string(),
  transaction_amount: z.string(),
  transaction_date: z.string(),
  category: z.string(),
  status: z.string(),
  rewards_earned: z.string(),
});

/** A customer as the bank knows them. */
export type Customer = z.infer<typeof customerSchema>;
/** One row of any table, fields as stored. */
export type BankRow = Record<string, unknown>;
/** Every row the bank holds about one customer, by table name. */
export type BankRecord = Record<string, BankRow[]>;

/** A card transaction as the account checker gets it: no name, no address, no card number. */
export interface CardTransaction {
  transaction_id: string;
  card: string;
  amount: string;
  category: string;
  merchant: string;
  /** MM/DD/YYYY */
  date: string;
  status: string;
  rewards_earned: string;
}

/** A card type the customer holds and the day (MM/DD/YYYY) its account was opened. */
export interface HeldCard {
  card: string;
  opened: string;
}

/** What a customer holds: the products alone, no numbers and no balances. */
export interface Holdings {
  cards: HeldCard[];
  accounts: { class: string; level: string }[];
}

/** Read access to the account database. */
export interface Bank {
  customers(): Customer[];
  customer(userId: string): Customer | undefined;
  /** The full record: only the desk itself may hold it; see `withheld.ts`. */
  fullRecord(userId: string): BankRecord;
  holdings(userId: string | null): Holdings;
  cardTransactions(userId: string): CardTransaction[];
}

function ownedBy(row: BankRow, userId: string, accountIds: ReadonlySet<unknown>): boolean {
  return (
    row['user_id'] === userId || row['referrer_id'] === userId || accountIds.has(row['account_id'])
  );
}

function open(tables: z.infer<typeof database>): Bank {
  const rows = (name: string): BankRow[] => Object.values(tables[name]?.data ?? {});
  const of = (name: string, userId: string): BankRow[] =>
    rows(name).filter((row) => row['user_id'] === userId);
  const customers = rows('users').map((row) => customerSchema.parse(row));
  const byId = new Map(customers.map((customer) => [customer.user_id, customer]));
  return {
    customers: () => customers,
    customer: (userId) => byId.get(userId),
    fullRecord(userId) {
      const ids = new Set(of('accounts', userId).map((row) => row['account_id']));
      const owned = Object.keys(tables).map((name): [string, BankRow[]] => [
        name,
        rows(name).filter((row) => ownedBy(row, userId, ids)),
      ]);
      return Object.fromEntries(owned.filter(([, found]) => found.length > 0));
    },
    holdings(userId) {
      if (userId === null) return { cards: [], accounts: [] };
      const cards = of('credit_card_accounts', userId).map((row) => cardSchema.parse(row));
      const accounts = of('accounts', userId).map((row) => accountSchema.parse(row));
      return {
        cards: cards.map((card) => ({ card: card.card_type, opened: card.date_of_account_open })),
        accounts: accounts
          .filter((account) => account.status === 'OPEN')
          .map((account) => ({ class: account.class, level: account.level })),
      };
    },
    cardTransactions(userId) {
      const found = of('credit_card_transaction_history', userId);
      return found.map((row) => {
        const one = transactionSchema.parse(row);
        return {
          transaction_id: one.transaction_id,
          card: one.credit_card_type,
          amount: one.transaction_amount,
          category: one.category,
          merchant: one.merchant_name,
          date: one.transaction_date,
          status: one.status,
          rewards_earned: one.rewards_earned,
        };
      });
    },
  };
}

let loaded: Bank | undefined;

/** The account database, read once per process. Throws when the file doesn't have its shape. */
export function bank(): Bank {
  loaded ??= open(
    database.parse(JSON.parse(readFileSync(new URL('data/db.json', import.meta.url), 'utf8'))),
  );
  return loaded;
}
