/** Answers a follow-up from the answer that the case holds: no search, no second check. */
import { z } from 'zod';
import { documentOf, isInternal } from './knowledge.ts';
import { citationSchema, type CustomerAnswer, type Citation } from './writer.ts';

/** The answer to a follow-up. */
export const followUpSchema = z.object({
  answer: z.string(),
  /** Public documents only. */
  citations: z.array(citationSchema),
  /** Ids of the recorded transactions the answer speaks of. */
  transactions: z.array(z.string()),
  /** False where the record doesn't hold what was asked. */
  answered: z.boolean(),
});
export type FollowUpAnswer = z.infer<typeof followUpSchema>;

type Row = CustomerAnswer['rows'][number];

function publicCitations(record: CustomerAnswer, rows: readonly Row[]): Citation[] {
  const rules = rows.map((row) => row.rule);
  return record.citations
    .filter((one) => !isInternal(documentOf(one.documentId).title))
    .filter((one) =>
      rules.some((rule) => rule.documentId === one.documentId && rule.quote === one.quote),
    );
}

const listOf = (rows: readonly Row[]): string[] =>
  rows.map(
    (row, index) =>
      `${index + 1}. \`${row.transaction_id}\`: ${row.merchant}, ${row.date}, ${row.card}, ` +
      `credited ${row.paid}, expected ${row.expected} points`,
  );

function howToDispute(record: CustomerAnswer): string[] | undefined {
  const tool = record.disputeTool;
  if (tool === undefined) return undefined;
  const own = tool.parameters.includes('user_id') ? ' with your own user id' : '';
  return [
    `Run the tool \`${tool.name}\` once for each transaction below,${own} and that transaction's id. ` +
      'Check the id before you submit. The review may ask you later what you expected and why: ' +
      'the term beside each transaction in your answer says it. No card number or card code is needed.',
    '',
    ...listOf(record.rows),
  ];
}

function why(record: CustomerAnswer): string[] {
  return record.rows.map((row) => {
    const quote = row.rule.quote.replaceAll(/\s+/g, ' ');
    return `- ${row.merchant}, ${row.date}: “${quote.length > 240 ? `${quote.slice(0, 240)} …` : quote}”`;
  });
}

function howMuch(record: CustomerAnswer): string[] {
  const total = record.rows.reduce((sum, row) => sum + row.missing, 0);
  return [`${total} points over ${record.rows.length} transactions.`, '', ...listOf(record.rows)];
}

const questions: [RegExp, (record: CustomerAnswer) => string[] | undefined][] = [
  [/\b(disput\w*|claim|correct\w*|fix\w*|submit\w*|report)\b/i, howToDispute],
  [/\b(why|rule|term|rate|explain)\b/i, why],
  [/\b(how much|which|total|missing|list|sum)\b/i, howMuch],
];

/**
 * Answers from the record: how to dispute, why a row is wrong, how much is missing. Anything
 * else, and anything about rows when the record has none, is said not to be in the record.
 */
export function answerFollowUp(question: string, record: CustomerAnswer): FollowUpAnswer {
  const answerer = questions.find(([pattern]) => pattern.test(question))?.[1];
  const lines = record.rows.length > 0 ? answerer?.(record) : undefined;
  if (lines === undefined) {
    const answer =
      'The record of this case does not hold that. It would take a new look-up; I have not made one.';
    return { answer, citations: [], transactions: [], answered: false };
  }
  return {
    answer: lines.join('\n'),
    citations: publicCitations(record, record.rows),
    transactions: record.rows.map((row) => row.transaction_id),
    answered: true,
  };
}
