/** What the account checker answers, and which of it the desk may rely on. */
import { z } from 'zod';
import type { CardTransaction } from './bank.ts';
import type { Term } from './terms.ts';

const points = z.number().int().min(-1_000_000_000).max(1_000_000_000);
const text = z.string().max(10_000);

export const checkedRowSchema = z.object({
  transaction_id: text,
  merchant: text,
  /** MM/DD/YYYY */
  date: text,
  card: text,
  expected: points,
  paid: points,
  /** `expected - paid`: negative where too much was credited. */
  missing: points,
  unit: z.literal('points'),
  rule: z.object({ documentId: text, quote: text }),
});
const rowsSchema = z.array(checkedRowSchema).max(1000);

/** The data part of the account checker's artifact. */
export const checkResultSchema = z.object({
  rows: rowsSchema,
  checked: z.number().int().nonnegative(),
  /** Off by one point: a fraction rounded the other way, not a wrong rate. */
  withinOnePoint: rowsSchema.default([]),
  notAnswerable: z.array(z.object({ transaction_id: text, why: text })).max(1000),
});

/** One transaction credited wrongly. */
export type CheckedRow = z.infer<typeof checkedRowSchema>;
/** {@link checkResultSchema}, parsed. */
export type CheckResult = z.infer<typeof checkResultSchema>;

/** A row with the span of a delivered document it rests on. */
export interface RestingRow extends CheckedRow {
  term: Term;
}

/** Puts each row on the term that it quotes; one that quotes none of them word for word is refused. */
export function restRows(
  rows: readonly CheckedRow[],
  terms: readonly Term[],
): { kept: RestingRow[]; refused: { transaction_id: string; why: string }[] } {
  const resting = rows.map((row) => ({ row, term: terms.find((term) => restsOn(row, term)) }));
  return {
    kept: resting.flatMap(({ row, term }) => (term === undefined ? [] : [{ ...row, term }])),
    refused: resting
      .filter(({ term }) => term === undefined)
      .map(({ row }) => ({
        transaction_id: row.transaction_id,
        why: 'rests on no term that was sent',
      })),
  };
}

const restsOn = ({ rule, card }: CheckedRow, term: Term): boolean =>
  term.documentId === rule.documentId &&
  term.quote === rule.quote &&
  (term.card === undefined || term.card === card);

/**
 * What is wrong with rows, by transaction: they must be about transactions that were sent, credited
 * as the row says, and add up. The checker is somebody else's program, so its word is not enough.
 */
export function faultsIn(
  rows: readonly CheckedRow[],
  transactions: readonly CardTransaction[],
): string[] {
  const sent = new Map(transactions.map((each) => [each.transaction_id, each]));
  const faultOf = (row: CheckedRow): string | undefined => {
    const transaction = sent.get(row.transaction_id);
    if (transaction === undefined) return 'was not sent';
    if (transaction.card !== row.card) return 'names another card';
    if (transaction.rewards_earned !== `${row.paid} points`) return 'states another credit';
    return row.missing === row.expected - row.paid ? undefined : 'does not add up';
  };
  return rows.flatMap((row) => {
    const fault = faultOf(row);
    return fault === undefined ? [] : [`${row.transaction_id} ${fault}`];
  });
}
