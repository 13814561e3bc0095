import type { ThroughlineError } from '../errors.ts';
import type { StopAnswer } from '../model/run.ts';
import { finalTaskStates } from '../model/task.ts';
import type { Subtask } from '../model/workflow.ts';
import { AgentFailure, fromAgent, sleep } from './agent-failure.ts';
import { cancelDrafts, neverSentDrafts } from './assertions.ts';
import type { KnownAgent } from './connection.ts';
import type { RunContext } from './context.ts';
import type { Cancelled, StoppedWork } from './master.ts';
import {
  openAttempt,
  type Attempt,
  type RunState,
  type Stop,
  type SubtaskState,
} from './run-state.ts';
import { progressOf } from './task-context.ts';

/** What follows for a subtask whose attempt was to stop, whatever its agent made of that. */
export function afterStop(subtask: SubtaskState, stop: Stop, answer: StopAnswer): void {
  stop.answer = answer;
  subtask.status = stop.follows === 'again' ? 'waiting' : stop.follows;
  if (stop.follows === 'again' || stop.follows === 'suspended')
    subtask.past = subtask.attempts.length;
}

const reasons: Readonly<Record<StopAnswer, string>> = {
  stopped: 'it was asked to stop and did',
  'already-over': 'it was over before it could be asked to stop',
  declined: 'it was asked to stop and goes on; what it brings is not used',
  unreachable: 'it could not be asked to stop; what it brings is not used',
};

/**
 * Asks the agent of an attempt to stop, says so in the graph first, and writes down what came of it. An
 * agent decides for itself: whatever it answers, the attempt is over for this run.
 */
export async function stopAttempt(run: RunContext, subtask: Subtask): Promise<void> {
  const attempt = openAttempt(run.journal.subtask(subtask.id));
  if (attempt?.stop === undefined) return;
  const answer = await askToStop(run, subtask, attempt);
  await run.journal.decideAttempt(subtask.id, (latest, mine, draft) => {
    if (latest.stop === undefined || latest.outcome !== undefined) return;
    latest.outcome = 'stopped';
    latest.reason = reasons[answer];
    delete latest.notReached;
    afterStop(mine, latest.stop, answer);
    draft.taskContext = progressOf(draft, run.now());
  });
}

async function askToStop(run: RunContext, subtask: Subtask, attempt: Attempt): Promise<StopAnswer> {
  const { dialog, task, local, asserted } = attempt;
  if (!asserted) {
    // Nothing went out, so nothing runs on.
    const drafts = await neverSentDrafts(run, subtask, attempt, 'cancelled');
    if (drafts.length > 0) await run.ports.assert(drafts);
    return 'stopped';
  }
  await run.ports.assert(cancelDrafts(run.journal.state, attempt));
  const agent = run.agents.get(attempt.agent) ?? agentOf(attempt);
  if (agent === undefined || local?.taskId === undefined) return 'unreachable';
  const taskId = local.taskId;
  const place = { activity: run.journal.state.activity, dialog, task };
  const signal = AbortSignal.any([run.signal, AbortSignal.timeout(run.stopMs)]);
  for (let wait = run.retryMs; ; wait *= 2) {
    try {
      const connection = await fromAgent(() => run.connect(agent, signal), signal);
      try {
        const { state } = await fromAgent(() => connection.cancel(taskId, place, signal), signal);
        if (state === 'cancelled') return 'stopped';
        return finalTaskStates.includes(state) ? 'already-over' : 'declined';
      } finally {
        await connection.close().catch(() => undefined);
      }
    } catch (error) {
      run.signal.throwIfAborted();
      if (!(error instanceof AgentFailure)) throw error;
      if (!error.error.retryable) return answerOf(error.error);
      if (signal.aborted) return 'unreachable';
    }
    await sleep(wait, signal);
    run.signal.throwIfAborted();
  }
}

/** An agent that nobody here knows, by what its attempt says of it. */
const agentOf = ({ agent: id, address }: Attempt): KnownAgent | undefined =>
  address && { id, name: id, ...address };

/** A task that is over, or that the agent does not know any more, does not run. */
const answerOf = ({ code }: ThroughlineError): StopAnswer =>
  code === 'terminal' || code === 'not-found' ? 'already-over' : 'declined';

/** The latest attempt of each subtask that was handed out, by what came of asking it to stop. */
export function answersOf(state: RunState): Cancelled['answers'] {
  const answers: Record<StopAnswer, StoppedWork[]> = {
    stopped: [],
    'already-over': [],
    declined: [],
    unreachable: [],
  };
  for (const { id: subtask } of state.workflow.subtasks) {
    const last = state.subtasks[subtask]?.attempts.at(-1);
    if (last === undefined) continue;
    const { agent, task, stop } = last;
    answers[stop?.answer ?? 'already-over'].push({ subtask, agent, task });
  }
  return answers;
}
