/** Composes the customer's answer and the case record from what was found. */
import { z } from 'zod';
import { checkedRowSchema, type CheckedRow, type RestingRow } from './checked-rows.ts';
import { documentOf } from './knowledge.ts';
import { publicPassages, type Passage, type Term } from './terms.ts';

/** A verbatim part of a delivered document: `content.slice(start, end) === quote`. */
export const citationSchema = z.object({
  documentId: z.string(),
  quote: z.string(),
  start: z.number().int(),
  end: z.number().int(),
});
export type Citation = z.infer<typeof citationSchema>;

/** What the desk's agents found about one case. */
export interface Findings {
  message: string;
  /** The customer's first name, or absent where the case has no known customer. */
  firstName?: string;
  /** Absent where the case asks for no check of rewards. */
  check?: {
    checked: number;
    rows: readonly RestingRow[];
    withinOnePoint: readonly CheckedRow[];
    notAnswerable: readonly { transaction_id: string; why: string }[];
  };
  terms: readonly Term[];
  passages: readonly Passage[];
  procedures: readonly Passage[];
}

/** What the customer gets. Cites public documents only. */
export const customerAnswerSchema = z.object({
  answer: z.string(),
  citations: z.array(citationSchema),
  rows: z.array(checkedRowSchema),
  /** What a procedure tells the bank's agents to hand to the customer, for a follow-up. */
  disputeTool: z.object({ name: z.string(), parameters: z.array(z.string()) }).optional(),
});
export type CustomerAnswer = z.infer<typeof customerAnswerSchema>;

/** What stays with the case: the answer's grounds, internal spans included. */
export interface CaseRecord extends CustomerAnswer {
  /** Marks the record as not for customers. */
  internal: true;
  message: string;
  /** Internal spans the case rests on. */
  internalCitations: (Citation & { question?: string })[];
  checked: number;
  withinOnePoint: CheckedRow[];
  notAnswerable: { transaction_id: string; why: string }[];
}

const citationOf = (term: Term): Citation => ({
  documentId: term.documentId,
  quote: term.quote,
  start: term.start,
  end: term.end,
});

/** Numbers citations as the text mentions them. Refuses internal documents. */
class Citations {
  readonly list: Citation[] = [];

  mark(term: Term): string {
    if (term.internal) throw new Error(`Internal document ${term.documentId} in a customer's text`);
    const same = (one: Citation): boolean =>
      one.documentId === term.documentId && one.start === term.start && one.end === term.end;
    const at = this.list.findIndex(same);
    return `[${at < 0 ? this.list.push(citationOf(term)) : at + 1}]`;
  }

  /** The sources as a list; a long quote is shown by its first and last words, cited in full. */
  sources(): string[] {
    return this.list.map((one, index) => {
      const flat = one.quote.replaceAll(/\s+/g, ' ');
      const shown = flat.length <= 240 ? flat : `${flat.slice(0, 200)} … ${flat.slice(-30)}`;
      return `[${index + 1}] “${shown}” (${documentOf(one.documentId).title})`;
    });
  }
}

const count = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;

function table(rows: readonly RestingRow[], citations: Citations): string[] {
  const cells = rows.map((row) => [
    row.date,
    row.merchant,
    row.card,
    String(row.expected),
    String(row.paid),
    String(row.missing),
    citations.mark(row.term),
  ]);
  return [
    '| date | merchant | card | expected | paid | missing | term |',
    '|---|---|---|---:|---:|---:|---|',
    ...cells.map((row) => `| ${row.join(' | ')} |`),
  ];
}

const dollars = (cents: number): string => `$${(cents / 100).toFixed(2)}`;

/** What the difference comes to, in points, and in money where a public term says what a point is worth. */
function total(rows: readonly RestingRow[], terms: readonly Term[], citations: Citations): string {
  const under = rows.filter((row) => row.missing > 0).reduce((sum, row) => sum + row.missing, 0);
  const over = rows.filter((row) => row.missing < 0).reduce((sum, row) => sum - row.missing, 0);
  const worth = terms.find((term) => !term.internal && /1 point = \$0\.01\b/.test(term.quote));
  const money = (points: number): string =>
    worth === undefined
      ? ''
      : `, ${dollars(points)} as a statement credit ${citations.mark(worth)}`;
  const said = [
    under > 0 ? `You are missing ${count(under, 'point')} in all${money(under)}.` : '',
    over > 0 ? `You were credited ${count(over, 'point')} too many${money(over)}.` : '',
  ];
  return said.filter(Boolean).join(' ');
}

function checkText(
  check: NonNullable<Findings['check']>,
  terms: readonly Term[],
  citations: Citations,
): string[] {
  // A figure the customer can't look up is not stated to them.
  const rows = check.rows.filter((row) => !row.term.internal);
  const hidden = check.rows.length - rows.length;
  const lines = [
    `I compared ${count(check.checked, 'card transaction')} with the terms of your cards.`,
  ];
  if (check.checked === 0 && check.notAnswerable.length === 0) {
    return [
      'I found no card transactions of yours to check, so I cannot say whether they are right.',
    ];
  }
  if (rows.length > 0) {
    lines.push(
      `${count(rows.length, 'was', 'were')} credited differently (points):`,
      '',
      ...table(rows, citations),
      '',
      total(rows, terms, citations),
    );
  } else if (check.checked > 0 && hidden === 0) {
    lines.push('All of them were credited as the terms say.');
  }
  const rounding = terms.find((term) => !term.internal && /\brounded down\b/i.test(term.quote));
  if (check.withinOnePoint.length > 0 && rounding !== undefined) {
    const off = count(check.withinOnePoint.length, 'more differs', 'more differ');
    lines.push(`${off} by a single point, the rounding of a fraction ${citations.mark(rounding)}.`);
  }
  if (hidden > 0) lines.push(`${count(hidden, 'more needs', 'more need')} a colleague's review.`);
  const reasons = new Map<string, number>();
  for (const { why } of check.notAnswerable) reasons.set(why, (reasons.get(why) ?? 0) + 1);
  for (const [why, n] of reasons)
    lines.push(`I could not check ${count(n, 'transaction')}: ${why}.`);
  return lines;
}

function passageText(passages: readonly Passage[], citations: Citations): string[] {
  if (passages.length === 0) {
    return [
      'I found nothing in the documents open to customers that answers this, so I will not guess.',
    ];
  }
  return [
    'The passages of our documents that come nearest to your question; they may not answer it in full:',
    ...passages.map((one) => {
      const title = documentOf(one.documentId).title;
      return `- ${title}: “${one.quote.replaceAll(/\s+/g, ' ')}” ${citations.mark(one)}`;
    }),
  ];
}

const cannot =
  'This desk looks things up and recomputes; it changes nothing on an account, so anything to be ' +
  'opened, closed, blocked, ordered or refunded needs a colleague. I pass your case on with what was found.';

/** The tool that an internal procedure tells agents to hand to the customer, with its parameters. */
function toolForCustomers(procedures: readonly Passage[]): CustomerAnswer['disputeTool'] {
  for (const { quote } of procedures) {
    const handed = /to provide to the (?:user|customer): `([a-z_]+_\d{4})\(([^)`]*)\)`/i.exec(
      quote,
    );
    if (handed?.[1] !== undefined) {
      const parameters = (handed[2] ?? '').split(',').map((one) => one.split(':')[0]?.trim() ?? '');
      return { name: handed[1], parameters };
    }
  }
  return undefined;
}

/** The customer's answer. Every figure from a document carries its citation; no internal document is cited. */
export function writeAnswer(findings: Findings): CustomerAnswer {
  const citations = new Citations();
  const greeting = findings.firstName === undefined ? 'Hello,' : `Hello ${findings.firstName},`;
  const open = publicPassages(findings.message, findings.passages).slice(0, 5);
  const { check } = findings;
  const help = open.filter((passage) => /cash back/i.test(documentOf(passage.documentId).title));
  const body =
    check === undefined
      ? [...passageText(open, citations), '', cannot]
      : [
          ...checkText(check, findings.terms, citations),
          ...(check.rows.length > 0
            ? ['', 'Ask “how do I dispute these?” and I tell you the steps.']
            : ['', ...passageText(help.slice(0, 2), citations)]),
        ];
  const sources = citations.sources();
  const tool = toolForCustomers(findings.procedures);
  const foot = sources.length === 0 ? [] : ['', 'Sources:', ...sources];
  return {
    answer: [greeting, '', ...body, ...foot].join('\n'),
    citations: citations.list,
    rows: (check?.rows ?? [])
      .filter((row) => !row.term.internal)
      .map(({ term: _term, ...row }) => row),
    ...(tool === undefined ? {} : { disputeTool: tool }),
  };
}

/** The case record: the customer's answer with everything it rests on. For the desk and its grantees only. */
export function writeRecord(findings: Findings, answer: CustomerAnswer): CaseRecord {
  const spans = [
    ...findings.terms.map((term) => ({ term, question: undefined })),
    ...[...findings.procedures, ...findings.passages].map((term) => ({
      term,
      question: term.question,
    })),
  ].filter(({ term }) => term.internal);
  const unique = new Map(
    spans.map(({ term, question }) => [
      `${term.documentId}:${term.start}:${term.end}`,
      { ...citationOf(term), ...(question === undefined ? {} : { question }) },
    ]),
  );
  return {
    ...answer,
    internal: true,
    message: findings.message,
    internalCitations: [...unique.values()],
    checked: findings.check?.checked ?? 0,
    withinOnePoint: [...(findings.check?.withinOnePoint ?? [])],
    notAnswerable: [...(findings.check?.notAnswerable ?? [])],
  };
}
