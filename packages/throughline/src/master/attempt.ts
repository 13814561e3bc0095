import { ThroughlineError } from '../errors.ts';
import type { TaskState } from '../model/task.ts';
import { outputDrafts } from './assertions.ts';
import type { AgentTask } from './connection.ts';
import type { RunContext } from './context.ts';
import { evaluate, type Evaluation } from './evaluate.ts';
import { exchange, tellHandover, type Exchanged, type HandoverTexts } from './exchange.ts';
import { collectOutputs } from './outputs.ts';
import { planAttempt } from './plan-attempt.ts';
import type { Attempt, Output, RunItem, RunState, SubtaskState } from './run-state.ts';
import { progressOf } from './task-context.ts';
import type { Subtask } from './workflow.ts';

/** Characters of an agent's own words that are kept as the reason of a failure. */
const reasonLength = 2_000;

interface Ending {
  readonly outcome: NonNullable<Attempt['outcome']>;
  readonly reason?: string | undefined;
  readonly outputs?: readonly Output[];
  readonly evaluation?: Evaluation | undefined;
  readonly tokens?: Attempt['tokens'];
}

/** Brings a subtask to its end: attempt after attempt, each decided before it is made. */
export async function runSubtask(run: RunContext, subtask: Subtask): Promise<void> {
  const state = (): SubtaskState => run.journal.subtask(subtask.id);
  while (state().status === 'waiting' || state().status === 'running') {
    const last = state().attempts.at(-1);
    if (last === undefined || last.outcome !== undefined) {
      const attempt = planAttempt(run, subtask);
      await run.journal.decide((draft) => {
        const mine = draft.subtasks[subtask.id];
        if (mine === undefined) return;
        mine.status = 'running';
        mine.attempts.push(attempt);
        draft.taskContext = progressOf(draft, run.now());
      });
    }
    await makeAttempt(run, subtask);
  }
}

async function makeAttempt(run: RunContext, subtask: Subtask): Promise<void> {
  const { attempts } = run.journal.subtask(subtask.id);
  const attempt = attempts.at(-1);
  const agent = attempt && run.agents.get(attempt.agent);
  if (attempt === undefined || agent === undefined) {
    throw new ThroughlineError(
      'invalid',
      `Subtask ${subtask.id}: its agent is not known any more.`,
    );
  }
  run.emit({
    kind: 'subtask-started',
    subtask: subtask.id,
    agent: agent.id,
    attempt: attempts.length,
    dialog: attempt.dialog,
    task: attempt.task,
  });
  const exchanged = await exchange(run, subtask, agent);
  const ending = await endOf(run, subtask, exchanged);
  if (ending.outcome === 'unresolved') {
    await run.ports.assert([
      { about: attempt.task, statement: { says: 'task.unresolved' }, basis: 'observed' },
    ]);
  }
  await end(run, subtask, ending);
}

async function endOf(run: RunContext, subtask: Subtask, exchanged: Exchanged): Promise<Ending> {
  if (exchanged.kind === 'refused') return { outcome: 'failed', reason: exchanged.reason };
  if (exchanged.kind === 'unknown') {
    return {
      outcome: 'unresolved',
      reason: `nobody knows what became of it by its deadline: ${exchanged.reason}`,
    };
  }
  return exchanged.task.state === 'completed'
    ? completed(run, subtask, exchanged.task, exchanged.texts)
    : { outcome: 'failed', reason: whyNot(exchanged.task) };
}

const saysOf: Partial<Record<TaskState, string>> = {
  failed: 'the agent failed',
  rejected: 'the agent rejected it',
  cancelled: 'the agent cancelled it',
  awaiting: 'the agent asks for what this Master cannot give',
};

function whyNot({ state, text }: AgentTask): string {
  const words = text.slice(0, reasonLength).toWellFormed();
  return `${saysOf[state] ?? `the task ended as ${state}`}${words === '' ? '' : `: ${words}`}`;
}

/** Takes over what a completed task brought; what may not be taken over fails the attempt. */
async function completed(
  run: RunContext,
  subtask: Subtask,
  task: AgentTask,
  texts: HandoverTexts,
): Promise<Ending> {
  const latest = (): Attempt | undefined => run.journal.subtask(subtask.id).attempts.at(-1);
  let attempt = latest();
  if (attempt === undefined) throw new ThroughlineError('internal', 'no attempt was decided');
  let evaluation: Evaluation;
  try {
    if (attempt.outputs.length === 0) {
      const outputs = await collectOutputs(run, attempt, task);
      if (outputs.length > 0) {
        await run.journal.decideAttempt(subtask.id, (draft) => {
          draft.outputs = outputs;
        });
        attempt = latest() ?? attempt;
      }
    }
    evaluation = await evaluate(run, subtask, attempt, task, attempt.outputs);
  } catch (error) {
    if (!isTheirs(error)) throw error;
    return { outcome: 'failed', reason: error.message };
  }
  const { outputs } = attempt;
  const drafts = outputDrafts(run.journal.state, attempt, outputs);
  if (drafts.length > 0) await run.ports.assert(drafts);
  const tokens = await countReturn(run, attempt, task, texts);
  const { verdict } = evaluation;
  return {
    outcome: verdict.ok ? 'answered' : 'failed',
    ...(!verdict.ok && { reason: verdict.reasons.join('; ') }),
    outputs,
    evaluation,
    tokens,
  };
}

/** What the agent sent is at fault, not the hub or this process. */
const isTheirs = (error: unknown): error is ThroughlineError =>
  error instanceof ThroughlineError && ['invalid', 'too-large', 'not-found'].includes(error.code);

async function countReturn(
  run: RunContext,
  attempt: Attempt,
  task: AgentTask,
  texts: HandoverTexts,
): Promise<NonNullable<Attempt['tokens']>> {
  const inline = task.outputs.flatMap(({ parts }) =>
    parts.map((part) => (part.kind === 'bytes' ? `[${part.bytes.length} bytes]` : part)),
  );
  const returned = JSON.stringify({ text: task.text, outputs: inline });
  const tokens = {
    sent: run.count(texts.sent),
    fullHistory: run.count(texts.fullHistory),
    returned: run.count(returned),
  };
  const { dialog, agent, withheld } = attempt;
  await tellHandover(
    run,
    { task: attempt.task, dialog, agent, withheld, tokenizer: run.tokenizer, ...tokens },
    { ...texts, returned },
  );
  return tokens;
}

/** Writes how an attempt ended and what follows for its subtask and the TaskContext, in one decision. */
async function end(run: RunContext, subtask: Subtask, ending: Ending): Promise<void> {
  const { outcome, reason, evaluation, tokens } = ending;
  await run.journal.decideAttempt(subtask.id, (attempt, mine, draft) => {
    attempt.outcome = outcome;
    if (reason !== undefined) attempt.reason = reason;
    if (tokens !== undefined) attempt.tokens = tokens;
    if (evaluation !== undefined) {
      attempt.returned = evaluation.returned;
      attempt.dropped = [...evaluation.dropped];
      attempt.verdict = {
        ...evaluation.verdict,
        reasons: [...evaluation.verdict.reasons],
        relaxed: [...evaluation.verdict.relaxed],
      };
    }
    mine.status = statusAfter(outcome, mine.attempts.length, subtask);
    if (mine.status === 'completed') draft.items.push(...producedItems(subtask, attempt));
    draft.taskContext = progressOf(draft, run.now());
  });
  const { status, attempts } = run.journal.subtask(subtask.id);
  const task = attempts.at(-1)?.task ?? '';
  run.emit({
    kind: 'attempt-ended',
    subtask: subtask.id,
    task,
    outcome,
    ...(reason !== undefined && { reason }),
  });
  if (status !== 'running') run.emit({ kind: 'subtask-finished', subtask: subtask.id, status });
}

function statusAfter(
  outcome: Ending['outcome'],
  attempts: number,
  subtask: Subtask,
): SubtaskState['status'] {
  if (outcome === 'answered') return 'completed';
  // Trying again what may have been done already is not ours to decide.
  if (outcome === 'unresolved') return 'unresolved';
  return attempts < subtask.attempts ? 'running' : 'failed';
}

/** What later subtasks may need, described by the plan and never in the agent's words. */
function producedItems(subtask: Subtask, attempt: Attempt): RunState['items'] {
  return subtask.produces.flatMap(({ name, description, type, priority }): RunItem[] => {
    const output = attempt.outputs.find((each) => each.name === name);
    if (output === undefined) return [];
    const { ref } = output;
    return [
      {
        name,
        ref,
        producedBy: subtask.id,
        item: {
          ContextID: ref.resource,
          ContextType: type,
          MediaType: ref.mediaType,
          ContextURI: ref.uri,
          Description: description,
          Priority: priority,
        },
      },
    ];
  });
}
