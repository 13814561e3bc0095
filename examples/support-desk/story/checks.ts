/** The checks of the story: each looks at what came out, not at what was meant. */
import { readFileSync } from 'node:fs';
import { countTokens } from 'throughline/handover';
import type { CaseView } from 'throughline/model';
import type { BankRecord } from '../bank.ts';
import { expectedCases } from '../expected.ts';
import { documentOf, isInternal } from '../knowledge.ts';
import { measureRetrieval } from '../retrieval.ts';
import { leaksIn, secretsOf } from '../withheld.ts';
import type { CustomerAnswer } from '../writer.ts';
import type { FollowUpAnswer } from '../followup.ts';
import type { Check } from './check-names.ts';

/** The rows are exactly the transactions that the case disputes, none where it names none, and each adds up. */
export function fourWrongTransactions(caseId: string, answer: Pick<CustomerAnswer, 'rows'>): Check {
  const expected = expectedCases().find(({ id }) => id === caseId)?.disputedTransactions ?? [];
  const rows = answer.rows.map(({ transaction_id, expected: due, paid, missing }) => ({
    transaction_id,
    expected: due,
    paid,
    missing,
  }));
  const found = rows.map((row) => row.transaction_id).toSorted();
  const same = JSON.stringify(found) === JSON.stringify([...expected].toSorted());
  const addUp = rows.every((row) => row.missing === row.expected - row.paid && row.missing !== 0);
  const nothing =
    'the case names no disputed transactions: there is none to check, and no row may be';
  return {
    name: 'four-wrong-transactions',
    ok: same && addUp,
    saw: { expected, rows, ...(expected.length === 0 && { nothing }) },
  };
}

/**
 * Every citation stands in a delivered, public document; every row rests on one. An answer without any
 * says nothing that would need one: neither a quote nor a figure.
 */
export function citationsVerbatim(
  answer: Pick<CustomerAnswer, 'answer' | 'citations' | 'rows'>,
  delivered: readonly string[],
): Check {
  const wrong = answer.citations.filter((one) => {
    const { content, title } = documentOf(one.documentId);
    const stands = content.slice(one.start, one.end) === one.quote && one.quote !== '';
    return !stands || isInternal(title) || !delivered.includes(one.documentId);
  });
  const uncited = answer.rows.filter(
    ({ rule }) =>
      !answer.citations.some(
        (one) => one.documentId === rule.documentId && one.quote === rule.quote,
      ),
  );
  const says = /[“”"\d]/.test(answer.answer);
  const cites = answer.citations.length;
  const ok = wrong.length === 0 && uncited.length === 0 && (cites > 0 || !says);
  const nothing = 'the answer quotes nothing and names no figure: there is no citation to check';
  return {
    name: 'citations-verbatim',
    ok,
    saw: {
      citations: cites,
      wrong,
      uncited: uncited.length,
      ...(cites === 0 && !says && { nothing }),
    },
  };
}

export interface IsolationInput {
  record: BankRecord;
  /** Canaries by where they were put. */
  canaries: Readonly<Record<string, string>>;
  /** Everything that went to each agent: messages with envelopes, contents fetched. */
  given: Readonly<Record<string, string>>;
  transactionIds: readonly string[];
  /** Reads that must be refused, and what came of each. */
  reads: readonly { what: string; refused: boolean }[];
}

/** Nobody was given, or could fetch, what was not meant for them. */
export function isolation(input: IsolationInput): Check {
  const found: string[] = [];
  const secrets = secretsOf(input.record);
  for (const [agent, text] of Object.entries(input.given)) {
    for (const [place, canary] of Object.entries(input.canaries)) {
      if (text.includes(canary)) found.push(`${agent}: ${place}`);
    }
    for (const { name } of leaksIn(text, secrets)) found.push(`${agent}: ${name}`);
  }
  // The transactions are in the context of others' subtasks, never in the policy reader's.
  const reader = input.given['policy-reader'] ?? '';
  for (const id of input.transactionIds) {
    if (reader.includes(id)) found.push(`policy-reader: ${id}`);
  }
  const open = input.reads.filter(({ refused }) => !refused).map(({ what }) => what);
  const searched = Object.values(input.given).reduce((sum, text) => sum + text.length, 0);
  const ok = found.length === 0 && open.length === 0 && searched > 0 && input.reads.length > 0;
  return {
    name: 'isolation',
    ok,
    saw: { found, open, characters: searched, reads: input.reads.length },
  };
}

export interface Tokens {
  handedOver: number;
  fullHistory: number;
  files: { handedOver: string; fullHistory: string };
}

/** The two files, counted again, give the figures. */
export function tokensRecount(tokens: Tokens): Check {
  const again = {
    handedOver: countTokens(readFileSync(tokens.files.handedOver, 'utf8')),
    fullHistory: countTokens(readFileSync(tokens.files.fullHistory, 'utf8')),
  };
  const { handedOver, fullHistory } = tokens;
  const ok = again.handedOver === handedOver && again.fullHistory === fullHistory;
  return {
    name: 'tokens-recount',
    ok: ok && handedOver > 0,
    saw: { again, handedOver, fullHistory },
  };
}

export interface FollowUpInput {
  rows: CustomerAnswer['rows'];
  /** Absent: the second line could not answer. */
  followUp: FollowUpAnswer | undefined;
  contextId: string;
  followUpContextId: string;
  lookUpsBefore: number;
  lookUpsAfter: number;
}

/** The second line answered on the same contextId from the history, without another look-up. */
export function grantFollowUp(input: FollowUpInput): Check {
  const ids = input.rows.map(({ transaction_id }) => transaction_id);
  const named = input.followUp?.transactions ?? [];
  const ok =
    input.followUp !== undefined &&
    ids.every((id) => named.includes(id)) &&
    (ids.length === 0 || input.followUp.answered) &&
    input.followUpContextId === input.contextId &&
    input.lookUpsAfter === input.lookUpsBefore;
  const { contextId, followUpContextId, lookUpsBefore, lookUpsAfter } = input;
  return {
    name: 'grant-follow-up',
    ok,
    saw: {
      answered: input.followUp?.answered ?? false,
      named,
      contextId,
      followUpContextId,
      lookUpsBefore,
      lookUpsAfter,
    },
  };
}

/** A stranger's message, listing and look at the case came to nothing. */
export function strangerRefused(saw: { send: string; listed: number; view: string }): Check {
  const ok = saw.send === 'refused' && saw.listed === 0 && saw.view === 'not-found';
  return { name: 'stranger-refused', ok, saw };
}

/** The killed worker's task was taken up once: one attempt, one task, each output once. */
export function killResume(
  view: CaseView,
  input: { killed: boolean; lookUp: string | undefined },
): Check {
  const dialogs = new Set(
    view.dialogs
      .filter(({ participants }) => participants.includes(input.lookUp ?? ''))
      .map(({ id }) => id),
  );
  const attempts = view.tasks.filter(({ dialog }) => dialogs.has(dialog));
  const ids = new Set(attempts.map(({ id }) => id));
  const outputs = view.relationships
    .filter((each) => each.type === 'output-of' && ids.has(each.to) && each.status === 'active')
    .map(({ from }) => view.resources.find(({ id }) => id === from)?.name ?? from);
  const ok =
    input.killed &&
    attempts.length === 1 &&
    attempts[0]?.state === 'completed' &&
    ['terms', 'passages'].every((name) => outputs.includes(name)) &&
    new Set(outputs).size === outputs.length;
  return {
    name: 'kill-resume',
    ok,
    saw: {
      killed: input.killed,
      attempts: attempts.map(({ id, state }) => ({ id, state })),
      outputs,
    },
  };
}

/** Mean recall@20 of required documents over the shared cases, beside one whole-message query. */
export function retrieval(): Check {
  const { cases, ...measured } = measureRetrieval();
  return {
    name: 'retrieval',
    ok: measured.ratio >= 1.5,
    saw: { ...measured, cases: cases.length },
  };
}
