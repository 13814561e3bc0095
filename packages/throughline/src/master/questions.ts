import { ThroughlineError } from '../errors.ts';
import { limits } from '../model/limits.ts';
import { utf8Length } from '../model/ids.ts';
import type { Subtask } from '../model/workflow.ts';
import type { RunContext } from './context.ts';
import type { Journal } from './journal.ts';
import type { MasterPorts } from './ports.ts';
import { openQuestions, type OpenQuestion, type RunState } from './run-state.ts';
import { progressOf } from './task-context.ts';

/** How often one attempt may ask. */
const mostQuestions = 16;

/** Characters of a question that are kept. */
const questionLength = 8_000;

/** An answer on its way in. */
export interface Answer {
  /** Of the message or call that brought it: the same again changes nothing. */
  readonly id: string;
  readonly text: string;
  /** Default: what was asked first. */
  readonly question?: string;
}

/**
 * Takes an agent's question: writes it down, and asks whoever answers for the user. False when the agent
 * has asked too often, which is a failure.
 */
export async function takeQuestion(
  run: RunContext,
  subtask: Subtask,
  words: string,
): Promise<boolean> {
  const attempt = run.journal.subtask(subtask.id).attempts.at(-1);
  if (attempt === undefined || attempt.questions.length >= mostQuestions) return false;
  const asked = {
    id: run.ports.newId('message'),
    text: words.slice(0, questionLength).toWellFormed(),
    askedAt: run.now().toISOString(),
  };
  await run.journal.decideAttempt(subtask.id, (latest, mine, draft) => {
    if (latest.stop !== undefined) return;
    latest.questions.push(asked);
    mine.status = 'awaiting';
    draft.taskContext = progressOf(draft, run.now());
  });
  const isAsked = run.journal.subtask(subtask.id).status === 'awaiting';
  if (isAsked) await put(run, { ...asked, subtask: subtask.id }, attempt.agent);
  return true;
}

/** Asks whoever answers for the user; without an answer the question stays open. */
export async function put(run: RunContext, question: OpenQuestion, agent?: string): Promise<void> {
  const { id, subtask, text } = question;
  run.emit({ kind: 'question', id, text, ...(subtask !== undefined && { subtask }) });
  const answer = await run.onQuestion?.({
    runId: run.journal.state.id,
    question,
    signal: run.signal,
    ...(agent !== undefined && { agent }),
  });
  if (answer === undefined || run.signal.aborted) return;
  const ground = { ports: run.ports, journal: run.journal, now: run.now };
  await takeAnswer(ground, { id: `answer-${id}`, text: answer, question: id });
  run.emit({ kind: 'answered', id, ...(subtask !== undefined && { subtask }) });
}

interface Ground {
  readonly ports: Pick<MasterPorts, 'newId' | 'putContent'>;
  readonly journal: Journal;
  readonly now: () => Date;
}

/** Whether a message was acted on before: as an answer, as a barge-in, or as leave to go on. */
export const isTaken = (
  { subtasks, questions, interruptions, released }: RunState,
  id: string,
): boolean =>
  questions.some(({ by }) => by === id) ||
  interruptions.some((each) => each.id === id) ||
  released.includes(id) ||
  Object.values(subtasks).some(({ attempts }) =>
    attempts.some((attempt) => attempt.questions.some(({ answer }) => answer?.by === id)),
  );

/**
 * Takes an answer: a Resource for the subtask that asked, or the Master's own to act on. Gives the
 * question that it answers; undefined when nothing is asked or the message was taken already.
 *
 * @throws ThroughlineError `not-found` for a question that is not open, `too-large`.
 */
export async function takeAnswer(
  ground: Ground,
  answer: Answer,
): Promise<OpenQuestion | undefined> {
  const { journal } = ground;
  const open = openQuestions(journal.state);
  if (isTaken(journal.state, answer.id)) return undefined;
  const question =
    answer.question === undefined ? open[0] : open.find(({ id }) => id === answer.question);
  if (question === undefined) {
    if (answer.question === undefined) return undefined;
    throw new ThroughlineError('not-found', `There is no open question ${answer.question}.`);
  }
  if (utf8Length(answer.text) > limits.contentBytes) {
    throw new ThroughlineError(
      'too-large',
      `The answer is over ${limits.contentBytes} bytes; offer such content to a run instead.`,
    );
  }
  const { subtask } = question;
  if (subtask === undefined) await decideLimit(ground, question.id, answer);
  else await hand(ground, subtask, question.id, answer);
  return question;
}

async function hand(
  { ports, journal, now }: Ground,
  subtask: string,
  question: string,
  { id, text }: Answer,
): Promise<void> {
  const ref = await ports.putContent({
    activity: journal.state.activity,
    resource: ports.newId('resource'),
    mediaType: 'text/plain',
    bytes: new TextEncoder().encode(text.toWellFormed()),
  });
  const ids = { messageId: ports.newId('message'), edge: ports.newId('relationship') };
  await journal.decideAttempt(subtask, (attempt, mine, draft) => {
    const asked = attempt.questions.find((each) => each.id === question);
    if (asked === undefined || asked.answer !== undefined || mine.status !== 'awaiting') return;
    asked.answer = { ref, ...ids, by: id, sent: false };
    draft.revision += 1;
    mine.status = 'running';
    // The time that the user took is not the agent's.
    const timeout = draft.workflow.subtasks.find((each) => each.id === subtask)?.timeoutSeconds;
    attempt.deadline = new Date(now().getTime() + (timeout ?? 0) * 1_000).toISOString();
    draft.taskContext = progressOf(draft, now());
  });
}

const isYes = (text: string): boolean => /^\s*(?:yes|y|ok|okay|go on|continue)\b/i.test(text);

async function decideLimit(
  { journal, now }: Ground,
  question: string,
  { id, text }: Answer,
): Promise<void> {
  await journal.decide((draft) => {
    const asked = draft.questions.find((each) => each.id === question);
    if (asked === undefined || asked.by !== undefined) return;
    asked.by = id;
    draft.revision += 1;
    if (isYes(text)) draft.raised[asked.limit] = (draft.raised[asked.limit] ?? 0) + 1;
    else draft.ending = { status: 'failed', reason: asked.text };
    draft.taskContext = progressOf(draft, now());
  });
}
