/** What the account checker answers, and which of it the desk may rely on. */
import { z } from 'zod';
import type { CardTransaction } from './bank.ts';
import type { Term } from './terms.ts';

const points = z.number().int().min(-1_000_000_000).max(1_000_000_000);
const text = z.string().max(10_000);

const rowSchema = z.object({
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
const rows = z.array(rowSchema).max(1000);

/** The data part of the account checker's artifact. */
export const checkResultSchema = z.object({
  rows,
  checked: z.number().int().nonnegative(),
  /** Off by one point: a fraction rounded the other way, not a wrong rate. */
  withinOnePoint: rows.default([]),
  notAnswerable: z.array(z.object({ transaction_id: text, why: text })).max(1000),
});

/** One transaction credited wrongly. */
export type CheckedRow = z.infer<typeof rowSchema>;
/** {@link checkResultSchema}, parsed. */
export type CheckResult = z.infer<typeof checkResultSchema>;

/** A row with the span of a delivered document it rests on. */
export interface RestingRow extends CheckedRow {
  term: Term;
}

/**
 * Keeps the rows that can be verified: a transaction that was asked about, credited as the row
 * says, a difference that adds up, and a rule quoted word for word from a term that was sent.
 * The checker is somebody else's program, so its word alone is not enough.
 */
export function verifyRows(
  result: CheckResult,
  transactions: readonly CardTransaction[],
  terms: readonly Term[],
): { kept: RestingRow[]; refused: { transaction_id: string; why: string }[] } {
  const kept: RestingRow[] = [];
  const refused: { transaction_id: string; why: string }[] = [];
  const sent = new Map(
    transactions.map((transaction) => [transaction.transaction_id, transaction]),
  );
  for (const row of result.rows) {
    const transaction = sent.get(row.transaction_id);
    const term = terms.find(
      (one) =>
        one.documentId === row.rule.documentId &&
        one.quote === row.rule.quote &&
        (one.card === undefined || one.card === row.card),
    );
    const refuse = (why: string): number =>
      refused.push({ transaction_id: row.transaction_id, why });
    if (transaction === undefined) refuse('not one of the transactions sent');
    else if (transaction.card !== row.card) refuse('names another card');
    else if (transaction.rewards_earned !== `${row.paid} points`) refuse('states another credit');
    else if (row.missing !== row.expected - row.paid) refuse('does not add up');
    else if (term === undefined) refuse('rests on no term that was sent');
    else kept.push({ ...row, term });
  }
  return { kept, refused };
}
