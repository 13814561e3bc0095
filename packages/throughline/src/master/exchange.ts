import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import { itemStateSchema } from '../model/agent-context.ts';
import { contentAccessKey } from '../model/content.ts';
import { utf8Length } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import { correlationExtension } from '../model/envelope.ts';
import { finalTaskStates } from '../model/task.ts';
import type { Handover } from '../model/usage.ts';
import { attemptDrafts } from './assertions.ts';
import type { AgentConnection, AgentTask, KnownAgent } from './connection.ts';
import type { RunContext } from './context.ts';
import { composeMessage, type ComposedMessage } from './message.ts';
import type { Attempt } from './run-state.ts';
import { fullHistory } from './transcript.ts';
import type { Subtask } from './workflow.ts';

/** Milliseconds between two tries to reach an agent, at most. */
const longestWaitMs = 5_000;

/** Milliseconds to look for the outcome of what was sent before its deadline, by a Master that is late. */
const lateLookMs = 10_000;

/** The agent, or the way to it, failed: everything else is the Master's own trouble. */
class AgentFailure extends Error {
  readonly error: ThroughlineError;
  constructor(error: ThroughlineError) {
    super('the agent failed', { cause: error });
    this.error = error;
  }
}

const gone: readonly string[] = ['damaged', 'not-found', 'invalid', 'too-large'];

/** What was to be handed over is not there any more, or not what it was. */
class NothingToSend extends Error {}

/** It may have been done, and may not be asked for twice. */
class Unrepeatable extends AgentFailure {}

/** The texts of a hand-over as they are counted and kept. */
export interface HandoverTexts {
  readonly sent: string;
  readonly fullHistory: string;
}

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
  try {
    return await exchangeWith(run, step);
  } finally {
    await step.close();
  }
}

async function exchangeWith(run: RunContext, step: Step): Promise<Exchanged> {
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
      reason = error.error.message;
      if (error instanceof Unrepeatable) return { kind: 'unknown', reason };
      if (!error.error.retryable) return { kind: 'refused', reason };
    }
    run.signal.throwIfAborted();
    if (deadline.aborted) {
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
    return this.#texts ?? this.#count(await this.#compose());
  }

  async close(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.close().catch(() => undefined);
  }

  /** Sends or follows; undefined when the connection ended before the task did. */
  async once(signal: AbortSignal): Promise<AgentTask | undefined> {
    this.#connection ??= await fromAgent(() => this.#run.connect(this.#agent, signal), signal);
    const connection = this.#connection;
    try {
      return await this.#watch(await this.#open(connection, signal), signal);
    } catch (error) {
      if (error instanceof AgentFailure) {
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

  async #open(connection: AgentConnection, signal: AbortSignal): Promise<AsyncIterable<AgentTask>> {
    const run = this.#run;
    const { dialog, task, local } = this.attempt;
    const place = { activity: run.journal.state.activity, dialog, task };
    if (local?.taskId !== undefined && !this.#lost) {
      return connection.follow(local.taskId, place, signal);
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
    const drafts = this.attempt.asserted
      ? []
      : await attemptDrafts(run, this.#subtask, this.attempt, this.#agent, connection);
    const composed = await this.#compose();
    if (drafts.length > 0) await run.ports.assert(drafts);
    if (this.attempt.tokens === undefined || drafts.length > 0) await this.#record(composed);
    this.#lost = false;
    return connection.send(composed.message, place, signal);
  }

  /** Reads and checks each item: what can't be handed over as it was offered is not handed over. */
  async #compose(): Promise<ComposedMessage> {
    if (this.#connection === undefined) {
      throw new ThroughlineError('internal', 'a message needs its connection');
    }
    try {
      return await composeMessage(this.#run, this.attempt, this.#agent, this.#connection);
    } catch (error) {
      const isGone = error instanceof ThroughlineError && gone.includes(error.code);
      throw isGone && !this.attempt.asserted ? new NothingToSend(error.message) : error;
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
    await run.journal.decideAttempt(this.#subtask.id, (attempt) => {
      attempt.tokens = tokens;
      attempt.asserted = true;
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
    if (local?.taskId !== task.taskId || local?.contextId !== task.contextId) {
      await this.#run.journal.decideAttempt(this.#subtask.id, (attempt) => {
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

/**
 * A text as a hub keeps it, and so as it is counted: whoever counts again has the same. One that is too
 * long is cut with a mark, which can only make the full history look smaller than it was.
 */
function keepable(text: string): string {
  const clean = text.toWellFormed();
  if (utf8Length(clean) <= limits.bodyBytes) return clean;
  // A UTF-16 unit takes at most 3 bytes.
  const head = clean.slice(0, Math.floor(limits.bodyBytes / 3) - 64).toWellFormed();
  return `${head}\n[cut: ${clean.length - head.length} more characters]`;
}

const progressSchema = z.object({ ItemStateUpdates: z.array(itemStateSchema).max(256) });

/** Marks what the agent is to blame for; never waits beyond the signal. */
async function fromAgent<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const late = new ThroughlineError('timeout', 'The agent did not answer in time.');
  const onAbort = (): void => reject(late);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    if (signal.aborted) onAbort();
    return await Promise.race([signal.aborted ? aborted : work(), aborted]);
  } catch (error) {
    if (signal.aborted) throw new AgentFailure(late);
    throw error instanceof ThroughlineError ? new AgentFailure(error) : error;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}

/** A hand-over is told once: counted again by a Master that was killed in between, the first word stands. */
export async function tellHandover(
  run: RunContext,
  handover: Handover,
  texts: HandoverTexts & { readonly returned?: string },
): Promise<void> {
  try {
    await run.ports.saveHandover(handover, texts);
  } catch (error) {
    if (!(error instanceof ThroughlineError) || error.code !== 'conflict') throw error;
  }
}
