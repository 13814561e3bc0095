import { acceptReturn, type AcceptedReturn } from '../handover/accept-return.ts';
import { visibleTraces } from '../handover/visible-traces.ts';
import { judge, type JudgePolicy, type Verdict } from '../handover/judge.ts';
import { abstractLength, fromPlain } from '../handover/plain.ts';
import type { AgentContext } from '../model/agent-context.ts';
import type { AgentTask } from './connection.ts';
import type { RunContext } from './context.ts';
import { returnedContext } from './outputs.ts';
import type { Attempt, Output } from './run-state.ts';
import { priced } from './usage.ts';
import type { Subtask } from '../model/workflow.ts';

export interface Evaluation {
  readonly returned: AgentContext;
  readonly dropped: readonly string[];
  readonly verdict: Verdict;
}

/**
 * Takes over what a completed task returned and judges it. An agent that returned no AgentContext
 * counts as a plain one.
 *
 * @throws ThroughlineError `invalid` or `too-large` when the return may not be taken over.
 */
export async function evaluate(
  run: RunContext,
  subtask: Subtask,
  attempt: Attempt,
  task: AgentTask,
  outputs: readonly Output[],
): Promise<Evaluation> {
  const returned = await accepted(run, attempt, task, outputs);
  const evidence = evidenceOf(attempt, outputs);
  const { trace } = attempt;
  const visible = trace === undefined ? evidence : new Set([...evidence, trace]);
  const { context, dropped } = visibleTraces(returned, visible);
  const verdict = await judged(run, subtask, { attempt, context, evidence }, outputs);
  const missing = subtask.produces
    .filter(({ name }) => !outputs.some((output) => output.name === name))
    .map(({ name }) => `output ${name} was asked for and is not there`);
  return {
    returned: context,
    dropped,
    verdict:
      missing.length === 0
        ? verdict
        : { ...verdict, ok: false, reasons: [...verdict.reasons, ...missing] },
  };
}

async function accepted(
  run: RunContext,
  attempt: Attempt,
  task: AgentTask,
  outputs: readonly Output[],
): Promise<AcceptedReturn> {
  const returned = returnedContext(task);
  if (returned !== undefined) return acceptReturn(attempt.context, returned);
  const abstracts = await Promise.all(
    outputs.map(async ({ name, ref }) => ({
      name,
      abstract: (await run.contents.text(ref)).slice(0, abstractLength + 1).toWellFormed(),
    })),
  );
  const plain = fromPlain(attempt.context, {
    completed: task.state === 'completed',
    text: task.text,
    outputs: abstracts,
  });
  return acceptReturn(attempt.context, plain);
}

interface Judged {
  readonly attempt: Attempt;
  readonly context: AgentContext;
  /** What that Dialog was given or produced. */
  readonly evidence: ReadonlySet<string>;
}

async function judged(
  run: RunContext,
  subtask: Subtask,
  { attempt, context, evidence }: Judged,
  outputs: readonly Output[],
): Promise<Verdict> {
  const policy: JudgePolicy = { relaxed: subtask.evaluation === 'relaxed' };
  // The grader may cost something: it is asked only about what would stand without it.
  const standing = judge({ ...policy, grade: () => ({ ok: true, reason: '' }) }, context, evidence);
  if (!standing.ok) return standing;
  const grade = await run.grade({
    subtask,
    context,
    output: async (name) => {
      const output = outputs.find((each) => each.name === name);
      return output && run.contents.text(output.ref);
    },
    material: async (contextId) => {
      const given = attempt.context.ContextItems.some(({ ContextID }) => ContextID === contextId);
      const item = run.journal.state.items.find(({ ref }) => ref.resource === contextId);
      return given && item !== undefined ? run.contents.text(item.ref) : undefined;
    },
  });
  const used = priced(grade?.usage ?? [], run.prices, 'grader');
  if (used.length > 0) {
    await run.journal.decide((draft) => {
      draft.planning.push(...used);
    });
  }
  return judge({ ...policy, ...(grade && { grade: () => grade }) }, context, evidence);
}

/** Everything that this Dialog was given or produced, under each name that it may go by. */
function evidenceOf(attempt: Attempt, outputs: readonly Output[]): ReadonlySet<string> {
  return new Set([
    ...attempt.context.ContextItems.flatMap(({ ContextID, ContextURI }) => [ContextID, ContextURI]),
    ...outputs.flatMap(({ name, ref }) => [name, ref.resource, ref.uri]),
  ]);
}
