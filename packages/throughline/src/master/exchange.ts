import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import { itemStateSchema } from '../model/agent-context.ts';
import type { DraftInput } from '../model/assertion.ts';
import { contentAccessKey } from '../model/content.ts';
import { correlationExtension } from '../model/envelope.ts';
import { finalTaskStates } from '../model/task.ts';
import { spendingOf } from '../model/usage.ts';
import { AgentFailure, reasonOf, fromAgent, sleep, StoreAway } from './agent-failure.ts';
import { answerDrafts, inputDrafts, openingDrafts, partnerOf } from './assertions.ts';
import type { AgentConnection, AgentTask, KnownAgent } from './connection.ts';
import type { RunContext } from './context.ts';
import { keepable, tellHandover, type HandoverTexts } from './handover-texts.ts';
import { lost } from './contents.ts';
import { composeAnswer, composeMessage, type ComposedMessage } from './message.ts';
import type { Asked, Attempt } from './run-state.ts';
import { inSpan, note } from '../telemetry/span.ts';
import { currentTrace, traceIdOf } from '../telemetry/trace.ts';
import { fullHistory } from './transcript.ts';
import { claimsOf } from './usage.ts';
import type { Subtask } from '../model/workflow.ts';

/** Milliseconds between two tries to reach an agent, at most. */
const longestWaitMs = 5_000;

/** Milliseconds to look for the outcome of what was sent before its deadline, by a Master that is late. */
const lateLookMs = 10_000;

/** Milliseconds without a connection after which an agent counts as not reached, for now. */
const slowConnectMs = 2_000;

/** What was to be handed over is not there any more, or not what it was. */
class NothingToSend extends Error {}

/** It may have been done, and may not be asked for twice. */
class Unrepeatable extends AgentFailure {}

export type Exchanged =
  | { readonly kind: 'settled'; readonly task: AgentTask; readonly texts: HandoverTexts }
  /** Nothing went out, or the agent refused: it is known that the work was not done. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** The deadline passed and nobody can say what became of it. */
  | { readonly kind: 'unknown'; readonly reason: string };

/**
 * Brings one attempt to the agent and waits for its end: says it in the graph, counts it, sends it,
 * follows it. A broken connection is taken up again with the same task, or the same message, until
 * the deadline.
 */
export async function exchange(
  run: RunContext,
  subtask: Subtask,
  agent: KnownAgent,
): Promise<Exchanged> {
  const step = new Step(run, subtask, agent);
  const { dialog, task } = step.attempt;
  const attributes = {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.id': agent.id,
    'throughline.dialog.id': dialog,
    'throughline.task.id': task,
  };
  try {
    const exchanged = async (): Promise<Exchanged> => {
      const ending = await exchangeWith(run, step, agent);
      if (ending.kind === 'settled') noteUsage(ending.task);
      return ending;
    };
    return await inSpan('invoke_agent', exchanged, { kind: 'client', attributes });
  } finally {
    await step.close();
  }
}

/** Tells the span what the agent's models used, as it says, by the names of the semantic conventions. */
function noteUsage(task: AgentTask): void {
  const { inputTokens, outputTokens } = spendingOf([], claimsOf(task).usage);
  if (inputTokens + outputTokens === 0) return;
  note({
    'gen_ai.usage.input_tokens': inputTokens,
    'gen_ai.usage.output_tokens': outputTokens,
  });
}

async function exchangeWith(run: RunContext, step: Step, agent: KnownAgent): Promise<Exchanged> {
  const left = Date.parse(step.attempt.deadline) - run.now().getTime();
  const least = step.attempt.asserted ? lateLookMs : 0;
  const deadline = AbortSignal.timeout(Math.min(Math.max(left, least), 2 ** 31 - 1));
  const signal = AbortSignal.any([deadline, run.signal]);
  let reason = 'the agent did not answer';
  for (let wait = run.retryMs; ; wait = Math.min(wait * 2, longestWaitMs)) {
    try {
      const task = await step.once(signal);
      if (task !== undefined) return { kind: 'settled', task, texts: await step.texts() };
    } catch (error) {
      if (error instanceof NothingToSend) return { kind: 'refused', reason: error.message };
      if (!(error instanceof AgentFailure)) throw error;
      reason = reasonOf(error.error, agent);
      if (error instanceof Unrepeatable) return { kind: 'unknown', reason };
      if (!error.error.retryable) return { kind: 'refused', reason };
    }
    run.signal.throwIfAborted();
    if (deadline.aborted) {
      const { notReached } = step.attempt;
      if (notReached !== undefined) reason = `It was not reached in time: ${notReached.reason}`;
      return { kind: step.attempt.asserted ? 'unknown' : 'refused', reason };
    }
    await sleep(wait, signal);
  }
}

/** One attempt's way to its agent and back. */
class Step {
  readonly #run: RunContext;
  readonly #subtask: Subtask;
  readonly #agent: KnownAgent;
  readonly #told = new Map<string, 0 | 1>();
  #connection: AgentConnection | undefined;
  #texts: HandoverTexts | undefined;
  #lost = false;
  /** The message went out, as far as anybody knows. */
  #mayHaveArrived: boolean;

  constructor(run: RunContext, subtask: Subtask, agent: KnownAgent) {
    this.#run = run;
    this.#subtask = subtask;
    this.#agent = agent;
    this.#mayHaveArrived = this.attempt.asserted;
  }

  get attempt(): Attempt {
    const attempt = this.#run.journal.subtask(this.#subtask.id).attempts.at(-1);
    if (attempt === undefined) throw new ThroughlineError('internal', 'no attempt was decided');
    return attempt;
  }

  /** Texts of the hand-over; made again when another process sent it. */
  async texts(): Promise<HandoverTexts> {
    if (this.#texts !== undefined) return this.#texts;
    const { contents } = this.#run;
    return this.#count(await this.#compose({ ...this.#run, contents: contents.forCounting }));
  }

  async close(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.close().catch(() => undefined);
  }

  /** Sends or follows; undefined when the connection ended before the task did. */
  async once(signal: AbortSignal): Promise<AgentTask | undefined> {
    const connection = (this.#connection ??= await this.#connect(signal));
    try {
      return await this.#watch(await this.#message(connection, signal), signal);
    } catch (error) {
      if (error instanceof AgentFailure && !(error instanceof StoreAway)) {
        this.#mayHaveArrived ||= this.attempt.asserted && error.error.details['sent'] !== 'no';
        await this.close();
        // A task that the agent no longer knows is begun again, by the very same message.
        if (error.error.code === 'not-found' && this.attempt.local?.taskId !== undefined) {
          if (this.#lost) throw error;
          this.#lost = true;
          return undefined;
        }
      }
      throw error;
    }
  }

  /** Connects; while that does not succeed, the graph and whoever watches are told whose step it is. */
  async #connect(signal: AbortSignal): Promise<AgentConnection> {
    const done = new AbortController();
    const connecting = fromAgent(() => this.#run.connect(this.#agent, signal), signal);
    const settled = connecting.then(
      () => true,
      () => true,
    );
    const isSlow = sleep(slowConnectMs, AbortSignal.any([signal, done.signal]));
    try {
      if ((await Promise.race([settled, isSlow])) !== true) {
        await this.#notReached('it has not answered yet');
      }
      const connection = await connecting;
      if (this.attempt.notReached !== undefined) await this.#reached();
      return connection;
    } catch (error) {
      // Given up or told to stop: that says nothing of the agent.
      if (error instanceof AgentFailure && !this.#run.signal.aborted) {
        await this.#notReached(error.error.message);
      }
      throw error;
    } finally {
      done.abort();
    }
  }

  /** Says once that the agent can't be reached: its Dialog and Task are there, and nothing went out. */
  async #notReached(reason: string): Promise<void> {
    const run = this.#run;
    if (this.attempt.asserted || this.attempt.notReached !== undefined) return;
    const opened = await this.#open();
    const { dialog: about } = this.attempt;
    await run.ports.assert([
      ...(await openingDrafts(run, this.#subtask, this.attempt, opened)),
      { about, statement: { says: 'dialog.state', state: 'interrupted' }, basis: 'observed' },
    ]);
    await run.journal.decideAttempt(this.#subtask.id, (attempt) => {
      attempt.notReached = { since: run.now().toISOString(), reason };
    });
    run.emit({
      kind: 'agent-not-reached',
      subtask: this.#subtask.id,
      agent: this.#agent.id,
      reason,
      deadline: this.attempt.deadline,
    });
  }

  async #reached(): Promise<void> {
    const { dialog: about } = this.attempt;
    await this.#run.ports.assert([
      { about, statement: { says: 'dialog.state', state: 'active' }, basis: 'observed' },
    ]);
    await this.#run.journal.decideAttempt(this.#subtask.id, (attempt) => {
      delete attempt.notReached;
    });
  }

  async #message(
    connection: AgentConnection,
    signal: AbortSignal,
  ): Promise<AsyncIterable<AgentTask>> {
    const run = this.#run;
    const { dialog, task, local } = this.attempt;
    const place = { activity: run.journal.state.activity, dialog, task };
    if (local?.taskId !== undefined && !this.#lost) {
      const asked = this.#unsent();
      if (asked?.answer === undefined) return connection.follow(local.taskId, place, signal);
      await run.ports.assert(answerDrafts(run.journal.state, this.attempt, asked.answer));
      const to = { agent: this.#agent, connection };
      const message = await composeAnswer(run, this.attempt, asked.answer, to);
      return connection.send(message, place, signal);
    }
    const isKnownById = connection.extensions.has(correlationExtension);
    if (this.#mayHaveArrived && !isKnownById && !this.#subtask.repeatable) {
      throw new Unrepeatable(
        new ThroughlineError(
          'unavailable',
          'The message may have arrived and must not go out twice.',
        ),
      );
    }
    const drafts = this.attempt.asserted ? [] : await this.#drafts(connection);
    const composed = await this.#compose();
    if (drafts.length > 0) await run.ports.assert(drafts);
    if (this.attempt.tokens === undefined || drafts.length > 0) await this.#record(composed);
    this.#lost = false;
    return connection.send(composed.message, place, signal);
  }

  /** Everything that must be in the graph before the message goes out. */
  async #drafts(connection: AgentConnection): Promise<DraftInput[]> {
    const [run, subtask] = [this.#run, this.#subtask];
    const opened = await this.#open(connection);
    const { participant } = await partnerOf(run, this.#agent, connection);
    const { dialog: about } = this.attempt;
    const joined: DraftInput = { about, statement: { says: 'dialog.joined', participant } };
    return [
      ...(await openingDrafts(run, subtask, this.attempt, opened)),
      ...(participant === opened.participant ? [] : [joined]),
      ...inputDrafts(run.journal.state, subtask, this.attempt),
    ];
  }

  /** Writes down with whom the Dialog is opened, once: every process then says the same. */
  async #open(connection?: AgentConnection): Promise<NonNullable<Attempt['opened']>> {
    const known = this.attempt.opened;
    if (known !== undefined) return known;
    const opened = await partnerOf(this.#run, this.#agent, connection);
    await this.#run.journal.decideAttempt(this.#subtask.id, (attempt) => {
      attempt.opened = opened;
    });
    return opened;
  }

  /** What the agent asked and does not know the answer to yet, though we do. */
  #unsent(): Asked | undefined {
    return this.attempt.questions.find(({ answer }) => answer?.sent === false);
  }

  /** Reads and checks each item: what can't be handed over as it was offered is not handed over. */
  async #compose(run = this.#run): Promise<ComposedMessage> {
    if (this.#connection === undefined) {
      throw new ThroughlineError('internal', 'a message needs its connection');
    }
    try {
      return await composeMessage(run, this.attempt, this.#agent, this.#connection);
    } catch (error) {
      if (!(error instanceof ThroughlineError) || !lost.includes(error.code)) throw error;
      throw this.attempt.asserted ? new Unrepeatable(error) : new NothingToSend(error.message);
    }
  }

  async #count(composed: ComposedMessage): Promise<HandoverTexts> {
    this.#texts = {
      sent: keepable(composed.sent),
      fullHistory: keepable(await fullHistory(this.#run, this.attempt)),
    };
    return this.#texts;
  }

  async #record(composed: ComposedMessage): Promise<void> {
    const run = this.#run;
    const texts = await this.#count(composed);
    const tokens = { sent: run.count(texts.sent), fullHistory: run.count(texts.fullHistory) };
    const { task, dialog, withheld, agent } = this.attempt;
    await tellHandover(
      run,
      { task, dialog, agent, withheld, tokenizer: run.tokenizer, ...tokens },
      texts,
    );
    const trace = traceIdOf(currentTrace());
    await run.journal.decideAttempt(this.#subtask.id, (attempt) => {
      attempt.tokens = tokens;
      attempt.asserted = true;
      if (trace !== undefined) attempt.trace = trace;
    });
    run.emit({
      kind: 'handover-counted',
      subtask: this.#subtask.id,
      agent,
      task,
      withheld,
      ...tokens,
    });
  }

  async #watch(
    stream: AsyncIterable<AgentTask>,
    signal: AbortSignal,
  ): Promise<AgentTask | undefined> {
    const iterator = stream[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await fromAgent(() => iterator.next(), signal);
        if (next.done === true) return undefined;
        await this.#note(next.value);
        const { state } = next.value;
        if (finalTaskStates.includes(state) || state === 'awaiting') return next.value;
      }
    } finally {
      // Not awaited: a stream that hangs may hang in this, too.
      iterator.return?.().catch(() => undefined);
    }
  }

  async #note(task: AgentTask): Promise<void> {
    const { local } = this.attempt;
    const isNew = local?.taskId !== task.taskId || local?.contextId !== task.contextId;
    if (isNew || this.#unsent() !== undefined) {
      await this.#run.journal.decideAttempt(this.#subtask.id, (attempt) => {
        for (const { answer } of attempt.questions) if (answer !== undefined) answer.sent = true;
        attempt.local = {
          contextId: task.contextId,
          ...(task.taskId !== undefined && { taskId: task.taskId }),
        };
      });
    }
    const progress = progressSchema.safeParse(task.metadata[contentAccessKey]);
    const own = new Set(this.attempt.context.todoItems.map(({ itemID }) => itemID));
    for (const { itemID: item, state } of progress.data?.ItemStateUpdates ?? []) {
      if (!own.has(item) || (this.#told.get(item) ?? 0) === state) continue;
      this.#told.set(item, state);
      this.#run.emit({ kind: 'item-state', subtask: this.#subtask.id, item, state });
    }
  }
}

const progressSchema = z.object({ ItemStateUpdates: z.array(itemStateSchema).max(256) });
