/** What the story says at each of its steps. */
import { describeSent } from 'throughline/model';
import { z } from 'zod';
import { documentOf } from '../knowledge.ts';
import type { CustomerAnswer } from '../writer.ts';
import type { DeskProcesses } from './desk-processes.ts';
import type { Teller } from './tell.ts';

export function tellProcesses(tell: Teller, { parts }: DeskProcesses): void {
  tell.title('Hub up, four processes');
  const rows = [
    ['hub with the desk', String(parts.hub.pid), parts.hub.url],
    ['policy reader', String(parts.policyReader.pid), parts.policyReader.url],
    [
      `account checker (${parts.accountChecker.language}, plain A2A)`,
      String(parts.accountChecker.process.pid ?? ''),
      parts.accountChecker.url,
    ],
    ['case writer', String(parts.caseWriter.pid), parts.caseWriter.url],
  ];
  tell.table(['process', 'pid', 'address'], rows, [1]);
  tell.title('Hand-overs');
}

const countedSchema = z.object({
  kind: z.literal('handover-counted'),
  agent: z.string(),
  sent: z.number(),
  fullHistory: z.number(),
  withheld: z.array(z.string()),
});

/** Names of what was kept back, told in one line: the most sensitive, and how many more. */
const shownWithheld = 3;

function keptBack(withheld: readonly string[]): string {
  const more = withheld.length - shownWithheld;
  const names = withheld.slice(0, shownWithheld).join(', ');
  return more > 0 ? `${names} and ${more} more` : names;
}

/** One line for each hand-over as it goes out. */
export function tellHandover(tell: Teller, event: unknown): void {
  const { data } = countedSchema.safeParse(event);
  if (data === undefined) return;
  const { agent, withheld } = data;
  const name = agent.replace('-', ' ').padEnd(15);
  tell.line(`  → ${name} ${describeSent(data)},`);
  tell.line(`    withheld: ${keptBack(withheld)}`);
}

/** The transactions credited wrongly, each with the sentence it rests on. */
export function tellRows(tell: Teller, answer: CustomerAnswer): void {
  const { rows } = answer;
  if (rows.length === 0) {
    tell.title('The answer');
    tell.quote(answer.answer);
    return;
  }
  const rules = new Map(rows.map(({ rule }) => [keyOf(rule), rule]));
  const numbers = new Map([...rules.keys()].map((key, index) => [key, `[${index + 1}]`]));
  tell.title(`${rows.length} transactions credited differently from the terms (in points)`);
  tell.table(
    ['date', 'merchant', 'card', 'expected', 'paid', 'missing', 'term'],
    rows.map((row) => [
      row.date,
      row.merchant,
      row.card,
      String(row.expected),
      String(row.paid),
      String(row.missing),
      numbers.get(keyOf(row.rule)) ?? '',
    ]),
    [3, 4, 5],
  );
  tell.line();
  for (const [key, { documentId, quote }] of rules) {
    const words = quote.replaceAll(/\s+/g, ' ');
    tell.quote(`${numbers.get(key)} “${words}” (${documentOf(documentId).title})`);
  }
  const sum = /^You (?:are missing|were credited).*$/m.exec(answer.answer)?.[0];
  if (sum === undefined) return;
  tell.line();
  tell.quote(`To the customer: “${sum.replaceAll(/ \[\d+\]/g, '')}”`);
}

const keyOf = (rule: { documentId: string; quote: string }): string =>
  `${rule.documentId} ${rule.quote}`;
