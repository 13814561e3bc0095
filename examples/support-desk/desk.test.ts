import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startChecker, type RunningChecker } from './account-checker/run-checker.ts';
import { bank } from './bank.ts';
import { deskCase, deskCases } from './cases.ts';
import { checkResultSchema, faultsIn, restRows, type CheckResult } from './checked-rows.ts';
import { answerFollowUp } from './followup.ts';
import { documentOf, isInternal } from './knowledge.ts';
import { readPolicy } from './policy.ts';
import { leaksIn, secretsOf, shareWith } from './withheld.ts';
import {
  writeAnswer,
  writeRecord,
  type CaseRecord,
  type Citation,
  type Findings,
} from './writer.ts';

let checker: RunningChecker;
beforeAll(async () => {
  checker = await startChecker('node');
});
afterAll(() => checker.stop());

const replySchema = z.object({
  result: z.object({
    task: z.object({
      artifacts: z.array(z.object({ parts: z.array(z.object({ data: checkResultSchema })) })),
    }),
  }),
});

async function ask(data: unknown[]): Promise<CheckResult> {
  const message = {
    messageId: crypto.randomUUID(),
    role: 'ROLE_USER',
    parts: data.map((one) => ({ data: one })),
  };
  const response = await fetch(`${checker.url}/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }),
  });
  const reply = replySchema.parse(await response.json());
  const data0 = reply.result.task.artifacts[0]?.parts[0]?.data;
  if (data0 === undefined) throw new Error('no artifact');
  return data0;
}

/** A case from end to end without the platform; `sent` is everything an agent was given. */
async function solve(
  id: string,
): Promise<{ record: CaseRecord; findings: Findings; sent: string }> {
  const one = deskCase(id);
  const holdings = bank().holdings(one.customer);
  const policy = readPolicy(one.openingMessage, holdings);
  const full = one.customer === null ? {} : bank().fullRecord(one.customer);
  const name = shareWith('case-writer', full).shared['users']?.[0]?.['name'];
  const findings: Findings = {
    message: one.openingMessage,
    ...(typeof name === 'string' ? { firstName: name.split(' ')[0] ?? name } : {}),
    terms: policy.terms,
    passages: policy.passages,
    procedures: policy.procedures,
  };
  const asked: unknown[] = [];
  if (policy.needsCheck) {
    const transactions = one.customer === null ? [] : bank().cardTransactions(one.customer);
    const terms = policy.terms.map(({ documentId, quote, card }) => ({ documentId, quote, card }));
    asked.push({ transactions, cards: holdings.cards }, { terms });
    const result = await ask(asked);
    expect(faultsIn(result.rows, transactions)).toEqual([]);
    const { kept, refused } = restRows(result.rows, policy.terms);
    expect(refused).toEqual([]);
    findings.check = { ...result, rows: kept };
  }
  const answer = writeAnswer(findings);
  const sent = JSON.stringify([one.openingMessage, holdings, asked, findings, answer]);
  return { record: writeRecord(findings, answer), findings, sent };
}

const verbatim = (citation: Citation): boolean =>
  documentOf(citation.documentId).content.slice(citation.start, citation.end) === citation.quote;

describe('the case of the story', () => {
  it('answers with the four transactions, each figure cited from a public document', async () => {
    const { record } = await solve('task_019');
    expect(record.rows.map((row) => [row.merchant, row.expected, row.paid, row.missing])).toEqual([
      ['Thrive Market', 875, 175, 700],
      ['Uber', 600, 240, 360],
      ['Tentree', 1000, 600, 400],
      ['Nordstrom', 800, 775, 25],
    ]);
    expect(record.answer).toContain('| 10/29/2025 | Uber | Gold Rewards Card | 600 | 240 | 360 |');
    expect(record.answer).toContain('You are missing 1485 points in all, $14.85');
    for (const row of record.rows) {
      expect(record.citations).toContainEqual(expect.objectContaining(row.rule));
    }
  });

  it('keeps the internal spans it rests on in the record alone', async () => {
    const { record } = await solve('task_019');
    const titles = record.internalCitations.map((one) => documentOf(one.documentId).title);
    expect(titles).toContain('Submitting a Cash Back Dispute (Internal)');
    expect(titles).toContain('Internal: Credit Card Rewards - Points vs Cash Back Representation');
    expect(record.internalCitations.every(verbatim)).toBe(true);
    expect(record.answer).not.toContain('submit_cash_back_dispute');
  });

  it('tells from the record how to dispute, naming the tool and the transactions', async () => {
    const { record } = await solve('task_019');
    const followUp = answerFollowUp('How do I dispute these?', record);
    expect(followUp.answered).toBe(true);
    expect(followUp.answer).toContain('submit_cash_back_dispute_0589');
    for (const row of record.rows) expect(followUp.answer).toContain(row.transaction_id);
    expect(followUp.transactions).toHaveLength(4);
    expect(followUp.citations.length).toBeGreaterThan(0);
    for (const one of followUp.citations) {
      expect(isInternal(documentOf(one.documentId).title)).toBe(false);
    }
  });

  it('says so when the record does not hold what a follow-up asks', async () => {
    const { record } = await solve('task_019');
    expect(answerFollowUp('What is the weather?', record).answered).toBe(false);
    const empty = { ...record, rows: [] };
    expect(answerFollowUp('How do I dispute these?', empty).answered).toBe(false);
    const { disputeTool: _tool, ...without } = record;
    expect(answerFollowUp('How do I dispute these?', without).answered).toBe(false);
  });
});

describe.each(deskCases())('$id', ({ id, customer }) => {
  it('cites public documents word for word and leaks neither birth date nor card code', async () => {
    const { record, findings, sent } = await solve(id);
    for (const citation of record.citations) {
      expect(verbatim(citation)).toBe(true);
      expect(isInternal(documentOf(citation.documentId).title)).toBe(false);
    }
    for (const term of [...findings.terms, ...findings.passages, ...findings.procedures]) {
      expect(verbatim(term)).toBe(true);
    }
    for (const row of record.rows) {
      expect(record.citations).toContainEqual(expect.objectContaining(row.rule));
    }
    const internalTitles = record.internalCitations.map((one) => documentOf(one.documentId).title);
    for (const title of internalTitles) expect(record.answer).not.toContain(title);
    const secrets = secretsOf(customer === null ? {} : bank().fullRecord(customer));
    expect(leaksIn(sent, secrets)).toEqual([]);
  });
});

describe('cases the desk cannot settle', () => {
  it('says that it found nothing rather than cite what is beside the point', async () => {
    const { record } = await solve('task_004');
    expect(record.citations).toEqual([]);
    expect(record.answer).toContain('I found nothing in the documents');
  });

  it('says what it cannot do beside what it found', async () => {
    const { record } = await solve('task_051');
    expect(record.citations.length).toBeGreaterThan(0);
    expect(record.answer).toContain('it changes nothing on an account');
  });

  it('says that nobody known has transactions to check', () => {
    const check = { checked: 0, rows: [], withinOnePoint: [], notAnswerable: [] };
    const nobody: Findings = { message: '', check, terms: [], passages: [], procedures: [] };
    expect(writeAnswer(nobody).answer).toContain('I found no card transactions of yours');
  });

  it('says how many transactions it could not check, and why', () => {
    const notAnswerable = [{ transaction_id: 'txn_1', why: 'no term given states a rate' }];
    const check = { checked: 0, rows: [], withinOnePoint: [], notAnswerable };
    const open: Findings = { message: '', check, terms: [], passages: [], procedures: [] };
    expect(writeAnswer(open).answer).toContain(
      'I could not check 1 transaction: no term given states a rate.',
    );
  });

  it('states no figure that rests on an internal document', async () => {
    const { findings } = await solve('task_019');
    if (findings.check === undefined) throw new Error('no check');
    const rows = findings.check.rows.map((row) => ({
      ...row,
      term: { ...row.term, internal: true },
    }));
    const answer = writeAnswer({ ...findings, check: { ...findings.check, rows } });
    expect(answer.rows).toEqual([]);
    expect(answer.answer).not.toContain('Thrive Market');
    expect(answer.answer).toContain('4 more need a colleague');
  });
});

describe('rows from somebody else’s program', () => {
  const lies: [string, Record<string, unknown>, string][] = [
    ['an unknown transaction', { transaction_id: 'txn_unknown' }, 'was not sent'],
    ['another card', { card: 'Silver Rewards Card' }, 'another card'],
    ['another credit', { paid: 1, missing: 874 }, 'another credit'],
    ['a wrong difference', { missing: 1 }, 'does not add up'],
    ['an invented rule', { rule: { documentId: 'doc', quote: 'Earn 90%' } }, 'rests on no term'],
  ];
  it.each(lies)('are refused with %s', async (_name, change, why) => {
    const holdings = bank().holdings('af0581dcbf');
    const transactions = bank().cardTransactions('af0581dcbf');
    const { terms } = readPolicy(deskCase('task_019').openingMessage, holdings);
    const result = await ask([{ transactions, cards: holdings.cards }, { terms }]);
    const [first] = result.rows;
    const lying = checkResultSchema.parse({ ...result, rows: [{ ...first, ...change }] });
    const refused = restRows(lying.rows, terms).refused.map((each) => each.why);
    expect([...faultsIn(lying.rows, transactions), ...refused].join('; ')).toContain(why);
  });
});
