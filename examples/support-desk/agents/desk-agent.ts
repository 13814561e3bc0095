/** The desk: takes a customer's message, has the Master run the case, gives the answer. */
import { readFileSync } from 'node:fs';
import { ThroughlineError } from 'throughline/model';
import { z } from 'zod';
import type { MessageHandler } from 'throughline/agent';
import { parseWorkflow, type Grader, type Master, type RunEvent } from 'throughline/master';
import { needsCheck } from '../policy.ts';
import { bank, type CardTransaction } from '../bank.ts';
import { checkResultSchema, faultsIn } from '../checked-rows.ts';
import { deriveSubQuestions } from '../sub-questions.ts';
import { customerAnswerSchema, type CustomerAnswer } from '../writer.ts';
import { offerOf, type Offered } from './offer.ts';

const workflowFile = (name: string): ReturnType<typeof parseWorkflow> =>
  parseWorkflow(readFileSync(new URL(`../workflows/${name}.yaml`, import.meta.url), 'utf8'));

const workflows = { rewards: workflowFile('rewards'), lookUp: workflowFile('look-up') };

/** Customers come as principals named after the bank's user id; others are visitors. */
export const customerPrincipal = (userId: string | null): string =>
  userId === null ? 'visitor' : `customer-${userId}`;

const customerOf = (principal: string): string | null =>
  /^customer-(.+)$/.exec(principal)?.[1] ?? null;

export interface DeskOptions {
  /** A Master that looks at results with this grader. */
  masterWith: (grade: Grader) => Master;
  read: (uri: string) => Promise<string>;
  onEvent: (event: RunEvent) => void;
  /** More that the desk knows of each case and hands to nobody unless a plan asks for it. */
  known?: readonly Offered[];
}

/** The desk's second look at what the account checker says of these transactions. */
const gradeOf =
  (transactions: readonly CardTransaction[]): Grader =>
  async ({ subtask, output }) => {
    if (subtask.id !== 'check-account') return undefined;
    const text = await output('recomputed rewards');
    const result = checkResultSchema.safeParse(JSON.parse(text ?? 'null'));
    if (!result.success) return { ok: false, reason: 'the rows do not have their shape' };
    const faults = faultsIn(result.data.rows, transactions);
    return { ok: faults.length === 0, reason: faults.join('; ') };
  };

/** Answers customers' messages. Asked again after a crash, it goes on with the run it began. */
export function desk({ masterWith, read, onEvent, known = [] }: DeskOptions): MessageHandler {
  return async ({ text }, io) => {
    const customer = customerOf(io.caller.id);
    const questions = deriveSubQuestions(text, bank().holdings(customer));
    io.progress('The desk is looking into it.');
    const transactions = customer === null ? [] : bank().cardTransactions(customer);
    const report = await masterWith(gradeOf(transactions)).run(
      {
        taskId: io.taskId,
        query: text,
        workflow: needsCheck(questions) ? workflows.rewards : workflows.lookUp,
        offered: [...offerOf(text, customer), ...known],
      },
      { onEvent, signal: io.signal },
    );
    const output = report.subtasks
      .flatMap(({ outputs }) => outputs)
      .find(({ name }) => name === 'answer');
    if (output === undefined) {
      const open = report.subtasks.filter(({ status }) => status !== 'completed');
      const steps = open.map(({ id, status, attempts, verdict }) =>
        [
          `${id} ${status}`,
          ...attempts.map(({ reason = '' }) => reason),
          ...(verdict?.reasons ?? []),
        ]
          .filter(Boolean)
          .join(': '),
      );
      throw new ThroughlineError('unavailable', `The case has no answer. ${steps.join('; ')}`);
    }
    const answer = customerAnswerSchema.parse(JSON.parse(await read(output.ref.uri)));
    return { text: answer.answer, parts: [answerPart(answer)] };
  };
}

/** The answer for programs, beside its text; what a follow-up is answered from. */
const answerPart = (answer: CustomerAnswer) =>
  ({ kind: 'data', mediaType: 'application/json', data: answer }) as const;

/** Finds the desk's answer among the parts of a case's artifacts. */
export function answerIn(parts: readonly unknown[]): CustomerAnswer | undefined {
  const partSchema = z.object({ data: customerAnswerSchema });
  for (const part of parts) {
    const parsed = partSchema.safeParse(part);
    if (parsed.success) return parsed.data.data;
  }
  return undefined;
}
