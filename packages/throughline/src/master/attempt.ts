import { ThroughlineError } from '../errors.ts';
import type { TaskState } from '../model/task.ts';
import { neverSentDrafts, outputDrafts, partnerOf } from './assertions.ts';
import type { AgentTask } from './connection.ts';
import type { RunContext } from './context.ts';
import { evaluate, type Evaluation } from './evaluate.ts';
import { exchange, type Exchanged } from './exchange.ts';
import { keepable, tellHandover, type HandoverTexts } from './handover-texts.ts';
import { collectOutputs } from './outputs.ts';
import { planAttempt } from './plan-attempt.ts';
import { takeQuestion } from './questions.ts';
import {
  isOpen,
  openAttempt,
  type Attempt,
  type Output,
  type RunItem,
  type RunState,
  type SubtaskState,
} from './run-state.ts';
import { afterStop } from './stop.ts';
import { progressOf } from './task-context.ts';
import { claimsOf, priced } from './usage.ts';
import type { Compression, Usage } from '../model/usage.ts';
import type { Subtask } from '../model/workflow.ts';

/** Characters of an agent's own words that are kept as the reason of a failure. */
const reasonLength = 2_000;

interface Ending {
  readonly outcome: Exclude<NonNullable<Attempt['outcome']>, 'stopped'>;
  readonly reason?: string | undefined;
  readonly outputs?: readonly Output[];
  readonly evaluation?: Evaluation | undefined;
  readonly spent?: Spent;
}

/** Figures of one hand-over: counted by us, and as its agent says. */
interface Spent {
  readonly tokens: NonNullable<Attempt['tokens']>;
  readonly usage: readonly Usage[];
  readonly compression?: Compression;
}

/**
 * One step of a subtask: takes up the attempt that is not over, or decides the next one and makes it.
 * Whether another follows is decided by how it ended.
 */
export async function advance(run: RunContext, subtask: Subtask): Promise<void> {
  const now = (): SubtaskState => run.journal.subtask(subtask.id);
  if (openAttempt(now()) === undefined && !(await begin(run, subtask))) return;
  if (openAttempt(now())?.stop === undefined) {
    try {
      await makeAttempt(run, subtask);
      return;
    } catch (error) {
      // It was told to stop in the middle; all else is trouble.
      if (openAttempt(now())?.stop === undefined || !run.signal.aborted) throw error;
    }
  }
}

/** Writes the next attempt down; false when a decision from outside came first. */
async function begin(run: RunContext, subtask: Subtask): Promise<boolean> {
  const { revision } = run.journal.state;
  const planned = planAttempt(run, subtask);
  const agent = run.agents.get(planned.agent);
  // Of an agent of one's own hub it is known beforehand; of others, when they are reached or are not.
  const opened = agent?.behind === 'hub' ? await partnerOf(run, agent) : undefined;
  const attempt: Attempt = { ...planned, ...(opened && { opened }) };
  let isBegun = false;
  await run.journal.decide((draft) => {
    const mine = draft.subtasks[subtask.id];
    isBegun = mine !== undefined && draft.revision === revision;
    if (mine === undefined || !isBegun) return;
    mine.status = 'running';
    mine.attempts.push(attempt);
    delete mine.next;
    draft.taskContext = progressOf(draft, run.now());
  });
  return isBegun;
}

async function makeAttempt(run: RunContext, subtask: Subtask): Promise<void> {
  const { attempts, past } = run.journal.subtask(subtask.id);
  const attempt = attempts.at(-1);
  const agent = attempt && run.agents.get(attempt.agent);
  if (attempt === undefined || agent === undefined) {
    throw new ThroughlineError(
      'invalid',
      `Subtask ${subtask.id}: its agent is not known any more.`,
    );
  }
  const { dialog, task, requirement } = attempt;
  run.emit({
    kind: 'subtask-started',
    subtask: subtask.id,
    agent: agent.id,
    attempt: attempts.length - past,
    dialog,
    task,
    ...(requirement !== undefined && { requirement }),
  });
  const exchanged = await exchange(run, subtask, agent);
  const isAsking =
    exchanged.kind === 'settled' &&
    exchanged.task.awaiting === 'input' &&
    exchanged.task.taskId !== undefined;
  if (isAsking && (await takeQuestion(run, subtask, exchanged.task.text))) return;
  const ending = await endOf(run, subtask, exchanged);
  await tellEnding(run, subtask, ending);
  await end(run, subtask, ending);
}

/** What the graph would not learn from anybody else. */
async function tellEnding(run: RunContext, subtask: Subtask, { outcome }: Ending): Promise<void> {
  const attempt = run.journal.subtask(subtask.id).attempts.at(-1);
  if (attempt === undefined) return;
  if (outcome === 'unresolved') {
    await run.ports.assert([
      { about: attempt.task, statement: { says: 'task.unresolved' }, basis: 'observed' },
    ]);
  }
  if (outcome === 'failed' && !attempt.asserted) {
    const drafts = await neverSentDrafts(run, subtask, attempt, 'timed-out');
    if (drafts.length > 0) await run.ports.assert(drafts);
  }
}

async function endOf(run: RunContext, subtask: Subtask, exchanged: Exchanged): Promise<Ending> {
  if (exchanged.kind === 'refused') return { outcome: 'failed', reason: exchanged.reason };
  if (exchanged.kind === 'unknown') {
    return {
      outcome: 'unresolved',
      reason: `nobody knows what became of it by its deadline: ${exchanged.reason}`,
    };
  }
  const { task, texts } = exchanged;
  // What failed has cost something, too.
  const spent = await countReturn(run, subtask, task, texts);
  return task.state === 'completed'
    ? { ...(await completed(run, subtask, task)), spent }
    : { outcome: 'failed', reason: whyNot(task), spent };
}

const saysOf: Partial<Record<TaskState, string>> = {
  failed: 'the agent failed',
  rejected: 'the agent rejected it',
  cancelled: 'the agent cancelled it',
  awaiting: 'the agent waits for what this Master cannot give',
};

function whyNot({ state, text }: AgentTask): string {
  const words = text.slice(0, reasonLength).toWellFormed();
  return `${saysOf[state] ?? `the task ended as ${state}`}${words === '' ? '' : `: ${words}`}`;
}

/** Takes over what a completed task brought; what may not be taken over fails the attempt. */
async function completed(run: RunContext, subtask: Subtask, task: AgentTask): Promise<Ending> {
  const latest = (): Attempt | undefined => run.journal.subtask(subtask.id).attempts.at(-1);
  let attempt = latest();
  if (attempt === undefined) throw new ThroughlineError('internal', 'no attempt was decided');
  let evaluation: Evaluation;
  try {
    if (attempt.outputs.length === 0) {
      const outputs = await collectOutputs(run, attempt, task, subtask.produces);
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
  const { verdict } = evaluation;
  return {
    outcome: verdict.ok ? 'answered' : 'failed',
    ...(!verdict.ok && { reason: verdict.reasons.join('; ') }),
    outputs,
    evaluation,
  };
}

/** What the agent sent is at fault, not the hub or this process. */
const isTheirs = (error: unknown): error is ThroughlineError =>
  error instanceof ThroughlineError &&
  ['invalid', 'too-large', 'not-found', 'gone', 'unsupported'].includes(error.code);

/** Adds to the hand-over what came back and what its agent claims, before what came is looked at. */
async function countReturn(
  run: RunContext,
  subtask: Subtask,
  task: AgentTask,
  texts: HandoverTexts,
): Promise<Spent> {
  const attempt = run.journal.subtask(subtask.id).attempts.at(-1);
  if (attempt === undefined) throw new ThroughlineError('internal', 'no attempt was decided');
  const inline = task.outputs.flatMap(({ parts }) =>
    parts.map((part) => (part.kind === 'bytes' ? `[${part.bytes.length} bytes]` : part)),
  );
  const returned = keepable(JSON.stringify({ text: task.text, outputs: inline }));
  const tokens = {
    sent: run.count(texts.sent),
    fullHistory: run.count(texts.fullHistory),
    returned: run.count(returned),
  };
  const { dialog, agent, withheld } = attempt;
  const claims = claimsOf(task);
  const usage = priced(claims.usage, run.prices, agent);
  const compressed = claims.compression && { compression: claims.compression };
  await tellHandover(
    run,
    {
      task: attempt.task,
      dialog,
      agent,
      withheld,
      tokenizer: run.tokenizer,
      ...tokens,
      ...(usage.length > 0 && { usage }),
      ...compressed,
    },
    { ...texts, returned },
  );
  return { tokens, usage, ...compressed };
}

/**
 * Writes how an attempt ended and what follows for its subtask and the TaskContext, in one decision. One
 * that was to stop was over before it could be asked: what it brought is on record, and not used.
 */
async function end(run: RunContext, subtask: Subtask, ending: Ending): Promise<void> {
  const { outcome, reason, evaluation, spent } = ending;
  await run.journal.decideAttempt(subtask.id, (attempt, mine, draft) => {
    attempt.outcome = attempt.stop === undefined ? outcome : 'stopped';
    if (spent !== undefined) {
      attempt.tokens = spent.tokens;
      attempt.usage = [...spent.usage];
      if (spent.compression !== undefined) attempt.compression = spent.compression;
    }
    delete attempt.notReached;
    if (reason !== undefined) attempt.reason = reason;
    if (evaluation !== undefined) {
      attempt.returned = evaluation.returned;
      attempt.dropped = [...evaluation.dropped];
      const { criteria, ...verdict } = evaluation.verdict;
      attempt.verdict = {
        ...verdict,
        reasons: [...verdict.reasons],
        relaxed: [...verdict.relaxed],
        ...(criteria && { criteria: [...criteria] }),
      };
    }
    if (attempt.stop === undefined) {
      mine.status = statusAfter(outcome, mine.attempts.length - mine.past, subtask);
      if (mine.status === 'completed') draft.items.push(...producedItems(subtask, attempt));
    } else {
      afterStop(mine, attempt.stop, 'already-over');
    }
    draft.taskContext = progressOf(draft, run.now());
  });
  tellEnd(run, subtask.id);
}

/** Tells whoever watches how the latest attempt ended, and its subtask where it is over with it. */
export function tellEnd(run: RunContext, subtask: string): void {
  const state = run.journal.subtask(subtask);
  const { task = '', outcome, reason, stop, requirement } = state.attempts.at(-1) ?? {};
  if (outcome === undefined) return;
  run.emit({
    kind: 'attempt-ended',
    subtask,
    task,
    outcome,
    ...(reason !== undefined && { reason }),
    ...(stop?.answer !== undefined && { stop: stop.answer }),
    ...(requirement !== undefined && { requirement }),
  });
  if (!isOpen(state)) run.emit({ kind: 'subtask-finished', subtask, status: state.status });
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
