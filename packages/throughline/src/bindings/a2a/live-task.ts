import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import { Message, TaskState, type StreamResponse, type Task } from '@a2a-js/sdk';
import { InvalidAgentResponseError } from '@a2a-js/sdk/errors';
import {
  AgentEvent,
  ResultManager,
  type AgentExecutionEvent,
  type AgentExecutor,
  type RequestContext,
  type ServerCallContext,
} from '@a2a-js/sdk/server';
import { ThroughlineError } from '../../errors.ts';
import { Bursts, HeldStore, type Burst } from './bursts.ts';
import { CheckedBus } from './bus.ts';
import { messageSeen, stateSeen } from './changes.ts';
import { sortedJson } from './digest.ts';
import { History } from './history.ts';
import { snapshotMark, type StreamEvent } from './marks.ts';
import type { TaskRecord } from '../../model/task-record.ts';
import type { A2aPorts } from './ports.ts';
import { Reader } from './reader.ts';
import { retrying, retryingWrite, type Backoff } from './retry.ts';
import { taskOf, type A2aTaskStore, type Arrival, type Work } from './task-store.ts';
import { responsesTo } from './updates.ts';
import { withTrace, type Trace } from '../../telemetry/trace.ts';
import { agentText, isFinal, isSettled, stateOf } from './wire.ts';

/** Updates that may wait for one reader of a stream. */
const readerLimit = 64;
/** Events that an executor may be ahead of the store. */
const pendingLimit = 10_000;

export interface LiveDeps {
  readonly ports: A2aPorts;
  readonly store: A2aTaskStore;
  readonly executor: AgentExecutor;
  readonly now: () => Date;
  readonly newId: () => string;
  /** How a hub that is away is waited for. */
  readonly away: Backoff;
  /** Told of faults that no caller may see in full; never throws. */
  readonly onFault: (error: unknown, about: { taskId: string }) => void;
  /** Told of each change that is stored; must not throw. */
  readonly onStored: (task: Task, update: StreamResponse) => void;
  /** Told of a task that was given up since its hub stayed away, once no executor is at it. */
  readonly onLeft: (taskId: string) => void;
}

/** One message's way through the executor; several may be under way in one task. */
interface Turn {
  /** Something that it published is stored. */
  spoke: boolean;
  /** Its executor returned, and all that it published is stored. */
  returned: boolean;
}

/** The turn in which something is published, wherever the executor does it from. */
const speaking = new AsyncLocalStorage<Turn>();

interface Waiter {
  /** Whose answer it is; absent for one that came late. What other turns say is no answer to it. */
  readonly turn: Turn | undefined;
  /** Content with the first thing published. */
  readonly immediate: boolean;
  readonly resolve: (answer: Message | Task) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * One task while an executor of this process works on it. Events are stored one after the other,
 * whoever reads or has stopped reading; readers get what is stored, after it is stored.
 */
export class LiveTask {
  readonly id: string;
  readonly contextId: string;
  readonly bus: CheckedBus;
  /** Resolves when nothing more will be stored. */
  readonly done: Promise<void>;
  readonly #deps: LiveDeps;
  readonly #work: Work;
  readonly #context: ServerCallContext;
  readonly #results: ResultManager;
  readonly #held: HeldStore;
  readonly #bursts: Bursts<Turn>;
  /** Reader → its turn, and whether it has had its Task, after which only updates come. */
  readonly #readers = new Map<Reader<StreamEvent>, { turn: Turn | undefined; hasTask: boolean }>();
  readonly #history: History;
  readonly #waiters = new Set<Waiter>();
  readonly #finish: () => void;
  #tail: Promise<void> = Promise.resolve();
  #pending = 0;
  #running = 0;
  #executing = 0;
  #isLeft = false;
  /** Of the message that comes next: whoever attaches before `start` waits for that one. */
  #next: Turn = { spoke: false, returned: false };
  #last: Arrival | undefined;
  #reply: Message | undefined;
  #breach: InvalidAgentResponseError | undefined;
  /** Why it ended, when it did not end well; set when it is over. */
  #failure: unknown;
  /** An event could not be stored: what was published after it would hide that. */
  #gap = false;
  #over = false;

  /** `context` is the one that the store knows this work by. */
  constructor(
    deps: LiveDeps,
    ids: { id: string; contextId: string },
    work: Work,
    context: ServerCallContext,
  ) {
    this.id = ids.id;
    this.contextId = ids.contextId;
    this.#deps = deps;
    this.#work = work;
    this.#context = context;
    this.#held = new HeldStore(deps.store);
    this.#results = new ResultManager(this.#held, context);
    this.#history = new History(work.record?.version ?? 0);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.done = promise;
    this.#finish = resolve;
    this.#bursts = new Bursts(this.task()?.status?.state);
    this.bus = new CheckedBus({
      taskId: ids.id,
      contextId: ids.contextId,
      before: this.task(),
      newId: deps.newId,
      accept: (event) => this.#accept(event),
      stored: async () => {
        await this.#tail;
        return this.#work.record !== undefined;
      },
      refuse: (reason) => this.#refuse(reason),
    });
  }

  /** Nothing more will happen here; the task itself may go on elsewhere. */
  get over(): boolean {
    return this.#over;
  }

  /** As stored; undefined before the first write and for a reply by message alone. */
  task(): Task | undefined {
    return this.#work.record === undefined ? undefined : taskOf(this.#work.record);
  }

  /** Runs the executor for a message (or, after a restart, for one that came before). */
  start(request: RequestContext, arrival: Arrival | undefined, trace: Trace | undefined): void {
    this.#running += 1;
    this.#executing += 1;
    const turn = this.#next;
    this.#next = { spoke: false, returned: false };
    if (arrival !== undefined) this.#enqueue(() => this.#arrive(arrival));
    const run = async (): Promise<void> => {
      await this.#tail;
      try {
        if (!this.#over) {
          await speaking.run(turn, () => this.#deps.executor.execute(request, this.bus));
        }
      } catch (error) {
        this.#deps.onFault(error, { taskId: this.id });
        const known = error instanceof ThroughlineError ? `: ${error.message}` : '';
        this.#fail(`The agent failed${known}`);
      }
      this.#executing -= 1;
      this.#leave();
      // What it published may still wait to be stored: until then it counts as running.
      this.#enqueue(() => {
        this.#running -= 1;
        turn.returned = true;
        return this.#settle();
      });
    };
    void withTrace(trace, run);
  }

  /** The answer by message alone, where that was the answer. */
  reply(): Message | undefined {
    return this.#reply;
  }

  /**
   * The next answer to a blocking call, or with `immediate` the first thing published. `late`: what
   * was published before counts as well.
   */
  answer(immediate: boolean, late: boolean): Promise<Message | Task> {
    return new Promise((resolve, reject) => {
      const waiter = { turn: late ? undefined : this.#next, immediate, resolve, reject };
      const present = this.#reply ?? (immediate ? this.task() : undefined);
      if (this.#over) this.#answer(waiter);
      else if (late && present !== undefined) resolve(present);
      else this.#waiters.add(waiter);
    });
  }

  /**
   * Updates from now on, the first of them a Task unless the reader has one. Leaving it early
   * changes nothing for the task.
   */
  subscribe(hasTask: boolean): Reader<StreamEvent> {
    const reader = new Reader<StreamEvent>(readerLimit, () => this.#readers.delete(reader));
    const turn = hasTask ? undefined : this.#next;
    if (!this.#over) this.#readers.set(reader, { turn, hasTask });
    else if (this.#failure === undefined) reader.end();
    else reader.fail(this.#failure);
    return reader;
  }

  /**
   * What a reader that comes late gets first: after a cursor all that it missed, where that is
   * still here, else the task as it stands. Empty before there is a task.
   */
  present(cursor: number | undefined): StreamEvent[] {
    const task = this.task();
    if (task === undefined) return [];
    const mark = snapshotMark(this.#history.head, cursor);
    const missed = cursor === undefined ? undefined : this.#history.since(cursor);
    if (missed !== undefined && missed.length > 0) return missed;
    const { seq, gap } = mark;
    // Writes that show nothing are no gap.
    const stated = gap === undefined || missed !== undefined ? { seq } : { seq, gap };
    return [{ payload: { $case: 'task', value: task }, mark: stated }];
  }

  async #arrive(arrival: Arrival): Promise<void> {
    this.#last = arrival;
    const known = this.task();
    const { message } = arrival;
    if (known?.history.some(({ messageId }) => messageId === message.messageId) === true) return;
    this.#work.arrive(arrival);
    if (known === undefined) this.#results.setContext(message);
    else {
      await this.#deps.store.save(
        { ...known, history: [...known.history, message] },
        this.#context,
      );
      this.#history.add(this.#version(), []);
    }
  }

  #version(): number {
    return this.#work.record?.version ?? 0;
  }

  #accept(event: AgentExecutionEvent): void {
    if (this.#pending >= pendingLimit) {
      this.bus.close();
      this.#refuse(`published more than ${pendingLimit} events ahead of what could be stored`);
      return;
    }
    this.#pending += 1;
    const turn = speaking.getStore();
    const burst = this.#bursts.take(event, turn);
    if (burst === undefined) return;
    this.#append(async () => {
      this.#bursts.close(burst);
      this.#pending -= burst.events.length;
      if (this.#gap) return;
      await (event.kind === 'message'
        ? this.#storeReply(event.data, turn)
        : this.#storeBurst(burst));
    });
  }

  /** Together, or one by one where not all of it can be stored. */
  async #storeBurst({ events, turn }: Burst<Turn>): Promise<void> {
    try {
      await this.#storeUpdates(events, turn);
    } catch (error) {
      if (events.length === 1 || !isUnstorable(error)) throw error;
      for (const event of events) await this.#storeUpdates([event], turn);
    }
  }

  async #storeUpdates(events: readonly AgentExecutionEvent[], turn?: Turn): Promise<void> {
    await this.#held.together(this.#context, async () => {
      for (const event of events) await this.#results.processEvent(event);
    });
    this.#tell(events, turn);
    // A burst must not drop a reader that would keep up if it got a turn.
    const crowded = [...this.#readers.keys()].some(({ waiting }) => waiting > readerLimit / 2);
    if (crowded) await setImmediate();
  }

  async #storeReply(reply: Message, turn: Turn | undefined): Promise<void> {
    const { ports, now, away } = this.#deps;
    const arrival = this.#last;
    if (arrival === undefined) throw new ThroughlineError('internal', 'a reply to no message');
    const seen = this.#work.seen(this.contextId, now());
    const task = this.task();
    const observations = task
      ? [stateSeen(seen, task.id, stateOf(task))]
      : [
          messageSeen(seen, arrival.message, reply.messageId),
          stateSeen(seen, reply.messageId, { state: 'completed' }),
        ];
    const agent = this.#work.agent.principal.id;
    const { messageId } = arrival.message;
    const { caller, admission } = arrival;
    const body = Message.toJSON(reply);
    const kept = { agent, messageId, contextId: this.contextId, reply: body };
    await retryingWrite(
      away,
      async () => {
        await ports.saveReply(caller, kept, observations);
        return true;
      },
      async () => {
        if (admission === undefined) return undefined;
        const before = await ports.admit(caller, admission);
        if (before.kind === 'new') return undefined;
        return sortedJson(before.reply) === sortedJson(body) || undefined;
      },
    );
    this.#reply = reply;
    this.#tell([{ kind: 'message', data: reply }], turn);
  }

  /** What is stored now goes to everybody who reads or waits, once their own turn has come. */
  #tell(told: readonly AgentExecutionEvent[], turn?: Turn): void {
    if (turn !== undefined) turn.spoke = true;
    const task = this.task();
    const updates = told.flatMap((event) => responsesTo(event, task));
    const isReply = told.some(({ kind }) => kind === 'message');
    const events = isReply ? updates : this.#history.add(this.#version(), updates);
    const first = isReply ? events : this.present(undefined);
    for (const [reader, { turn: own, hasTask }] of this.#readers) {
      if (turn !== undefined && own?.spoke === false && !own.returned) continue;
      for (const response of hasTask ? events : first) reader.push(response);
      if (this.#readers.has(reader)) this.#readers.set(reader, { turn: own, hasTask: true });
    }
    if (task !== undefined && !isReply) for (const each of told) this.#announce(task, each);
    const state = task === undefined ? undefined : stateOf(task);
    const moved = told.some(({ kind }) => kind !== 'artifactUpdate');
    const settled = moved && state !== undefined && isSettled(state);
    const concerns = (own: Turn | undefined): boolean =>
      turn === undefined || own === undefined || own === turn || own.returned;
    for (const waiter of this.#breach === undefined ? this.#waiters : []) {
      if (!concerns(waiter.turn)) continue;
      if (waiter.immediate || settled || this.#reply !== undefined) this.#answer(waiter);
    }
    if (state !== undefined && isFinal(state)) this.#close();
    else if (this.#reply !== undefined || (moved && state?.awaiting === 'input'))
      this.#endReaders(concerns);
  }

  #announce(task: Task, event: AgentExecutionEvent): void {
    const { onStored } = this.#deps;
    if (event.kind === 'task') onStored(task, { payload: { $case: 'task', value: task } });
    else for (const update of responsesTo(event, task)) onStored(task, update);
  }

  #answer(waiter: Waiter): void {
    this.#waiters.delete(waiter);
    const answer = this.#reply ?? this.task();
    if (this.#failure === undefined && answer !== undefined) waiter.resolve(answer);
    else
      waiter.reject(this.#failure ?? new InvalidAgentResponseError('The agent published nothing'));
  }

  /** The executor returned and all it published is stored. */
  async #settle(): Promise<void> {
    if (this.#running > 0 || this.#over) return;
    const task = this.task();
    const state = task === undefined ? undefined : stateOf(task);
    if (this.#reply === undefined && (state === undefined || !isSettled(state))) {
      const what = state === undefined ? 'published nothing' : 'ended without finishing the task';
      this.#refuse(what);
      return;
    }
    this.#close();
  }

  #refuse(reason: string): void {
    this.#breach ??= new InvalidAgentResponseError(`The agent ${reason}`);
    this.#deps.onFault(this.#breach, { taskId: this.id });
    this.#fail(`The agent's answer is invalid: it ${reason}`);
  }

  /** Ends the task as failed. */
  #fail(text: string): void {
    this.bus.close();
    this.#enqueue(async () => {
      const status = {
        state: TaskState.TASK_STATE_FAILED,
        message: agentText(
          { messageId: this.#deps.newId(), taskId: this.id, contextId: this.contextId },
          text,
        ),
        timestamp: this.#deps.now().toISOString(),
      };
      const about = { contextId: this.contextId, status, metadata: undefined };
      await this.#storeUpdates([
        this.#work.record === undefined
          ? AgentEvent.task({ id: this.id, ...about, artifacts: [], history: [] })
          : AgentEvent.statusUpdate({ taskId: this.id, ...about }),
      ]);
      this.#close();
    });
  }

  #enqueue(step: () => Promise<void>): void {
    this.#bursts.close();
    this.#append(step);
  }

  #append(step: () => Promise<void>): void {
    this.#tail = this.#after(this.#tail, step);
  }

  async #after(before: Promise<void>, step: () => Promise<void>): Promise<void> {
    await before;
    if (this.#over) return;
    try {
      await step();
    } catch (error) {
      await this.#stop(error);
    }
  }

  /** Nothing can be stored any more: the task ended elsewhere, or the store can't be had. */
  async #stop(error: unknown): Promise<void> {
    const { onFault } = this.#deps;
    const code = error instanceof ThroughlineError ? error.code : undefined;
    if (isUnstorable(error) && this.#breach === undefined) {
      this.#gap = true;
      onFault(error, { taskId: this.id });
      this.#refuse(`put out what can not be stored (${code})`);
      return;
    }
    if (code === 'terminal') {
      const stored = await this.#reload();
      if (stored !== undefined) {
        this.#work.record = { ...stored, contextId: this.contextId };
        const { contextId } = this;
        const { status } = taskOf({ ...stored, contextId });
        const data = { taskId: this.id, contextId, status, metadata: undefined };
        this.#tell([{ kind: 'statusUpdate', data }]);
        return;
      }
    }
    onFault(error, { taskId: this.id });
    this.#close(error);
    this.#isLeft = error instanceof ThroughlineError && error.retryable;
    this.#leave();
  }

  #leave(): void {
    if (!this.#isLeft || this.#executing > 0 || this.#work.record === undefined) return;
    this.#isLeft = false;
    this.#deps.onLeft(this.id);
  }

  async #reload(): Promise<TaskRecord | undefined> {
    try {
      const { ports, away } = this.#deps;
      return await retrying(away, () => ports.loadTask(this.#work.agent, this.id));
    } catch {
      return undefined;
    }
  }

  #close(error?: unknown): void {
    if (this.#over) return;
    this.#over = true;
    this.#failure = error ?? this.#breach;
    this.bus.close();
    for (const waiter of this.#waiters) this.#answer(waiter);
    this.#endReaders();
    this.#finish();
  }

  #endReaders(concerns: (turn: Turn | undefined) => boolean = () => true): void {
    for (const [reader, { turn }] of this.#readers) {
      if (!concerns(turn)) continue;
      this.#readers.delete(reader);
      if (this.#failure === undefined) reader.end();
      else reader.fail(this.#failure);
    }
  }
}

const isUnstorable = (error: unknown): boolean =>
  error instanceof ThroughlineError && ['too-large', 'invalid'].includes(error.code);
