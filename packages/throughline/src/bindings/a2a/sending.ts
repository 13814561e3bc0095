import { Message, type SendMessageRequest, type Task } from '@a2a-js/sdk';
import {
  ExtensionSupportRequiredError,
  PushNotificationNotSupportedError,
} from '@a2a-js/sdk/errors';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import { ThroughlineError } from '../../errors.ts';
import type { Admission, AdmissionRequest } from '../../model/admission.ts';
import type { Caller } from '../../model/principal.ts';
import type { TaskRecord } from '../../model/task-record.ts';
import { admissionRequest, messageOf } from './admission.ts';
import { recordFor, type AgentSide } from './agent-side.ts';
import { callerOf, traceOf } from './call.ts';
import { followRecord } from './follow.ts';
import type { LiveTask } from './live-task.ts';
import { snapshotMark, type StreamEvent } from './marks.ts';
import { sleep } from './retry.ts';
import { taskOf, type Arrival } from './task-store.ts';
import { pushConfigOf } from './push-configs.ts';
import { envelopeIn, isFinal, isSettled, stateOf } from './wire.ts';

/** What a message led to: work of this process, or what the same message led to before. */
type Entered<T> =
  | { readonly kind: 'live'; readonly attached: T }
  | { readonly kind: 'reply'; readonly reply: Message }
  | { readonly kind: 'record'; readonly record: TaskRecord; readonly caller: Caller };

/** `late`: another call with the same message began this work. */
type Attach<T> = (live: LiveTask, late: boolean) => T;

const tooLong = (ms: number): ThroughlineError =>
  new ThroughlineError(
    'timeout',
    `the same message came before and has led to nothing for ${ms} ms; send it again unchanged`,
  );

/** Messages on their way in: nothing runs before the hub has admitted it, and nothing runs twice. */
export class Sending {
  readonly #side: AgentSide;
  /** (tenant, caller, messageId) → what this process does for it. */
  readonly #byMessage = new Map<string, Promise<LiveTask>>();

  constructor(side: AgentSide) {
    this.#side = side;
  }

  /** A blocking send, or one that returns at once: the message or task to answer with. */
  async send(params: SendMessageRequest, context: ServerCallContext): Promise<Message | Task> {
    const immediate = params.configuration?.returnImmediately === true;
    const { waits } = this.#side;
    const entered = await this.#enter(params, context, (live, late) => {
      const answer = live.answer(immediate, late);
      return late ? within(waits.replayMs, answer) : answer;
    });
    if (entered.kind === 'live') return entered.attached;
    if (entered.kind === 'reply') return entered.reply;
    return this.#settled(entered.record, entered.caller, immediate);
  }

  /** The stream of a send: a Task and its updates, or one message. */
  async *stream(
    params: SendMessageRequest,
    context: ServerCallContext,
  ): AsyncGenerator<StreamEvent, void, undefined> {
    const entered = await this.#enter(params, context, snapshotAndUpdates);
    switch (entered.kind) {
      case 'live':
        yield* entered.attached;
        return;
      case 'reply':
        yield { payload: { $case: 'message', value: entered.reply } };
        return;
      case 'record':
        yield* this.follow(entered.record, entered.caller);
    }
  }

  /** A task from now on: what it missed after a cursor, or the task as it stands; then what changes. */
  async *follow(
    record: TaskRecord,
    caller: Caller,
    cursor?: number,
  ): AsyncGenerator<StreamEvent, void, undefined> {
    const live = this.#side.lives.get(record.id);
    const load = (): Promise<TaskRecord> => recordFor(this.#side, caller, record.id, 'subscribe');
    if (live?.task() !== undefined) {
      let checked = performance.now();
      for await (const update of snapshotAndUpdates(live, true, cursor)) {
        if (performance.now() - checked > this.#side.waits.rightsMs) {
          await load();
          checked = performance.now();
        }
        yield update;
      }
      return;
    }
    const task = taskOf(record);
    const mark = snapshotMark(record.version, cursor);
    yield { payload: { $case: 'task', value: task }, mark };
    if (isFinal(stateOf(task))) return;
    yield* followRecord(record, load, this.#side.waits.record);
  }

  async #enter<T>(
    params: SendMessageRequest,
    context: ServerCallContext,
    attach: Attach<T>,
  ): Promise<Entered<T>> {
    const caller = callerOf(context);
    const message = messageOf(params);
    const envelope = envelopeIn(message.metadata);
    this.#requireExtensions(context);
    const push = this.#pushOf(params, message, context);
    const { self, worker } = this.#side;
    const about = { pushConfig: push?.id, worker: worker?.id };
    const request = admissionRequest(message, self.principal.id, about);
    const key = [caller.principal.tenant, caller.principal.id, message.messageId].join('\0');
    const deadline = performance.now() + this.#side.waits.replayMs;
    for (let pause = 20; ; pause = Math.min(pause * 2, 500)) {
      const admission = await this.#side.ports.admit(caller, request);
      if (admission.kind === 'new') {
        // The hub may give up on a message before its executor has published anything.
        const twin = await this.#byMessage.get(key);
        if (twin?.over === false) return { kind: 'live', attached: attach(twin, true) };
        const admitted = { ...message, contextId: admission.contextId };
        const turn = { request: params, message: admitted, caller, context, envelope, push };
        return { kind: 'live', attached: await this.#begin(key, turn, request, attach) };
      }
      const before = await this.#before(key, admission, caller, attach);
      if (before !== undefined) return before;
      if (performance.now() > deadline) throw tooLong(this.#side.waits.replayMs);
      await sleep(pause);
    }
  }

  /** What the same message led to; undefined when it has led to nothing yet. */
  async #before<T>(
    key: string,
    admission: Extract<Admission, { kind: 'replay' }>,
    caller: Caller,
    attach: Attach<T>,
  ): Promise<Entered<T> | undefined> {
    const twin = await this.#byMessage.get(key);
    if (twin !== undefined) return { kind: 'live', attached: attach(twin, true) };
    if (admission.reply !== undefined) {
      return { kind: 'reply', reply: Message.fromJSON(admission.reply) };
    }
    if (admission.taskId === undefined) return undefined;
    const record = await this.#side.ports.loadTask(caller, admission.taskId);
    return record && { kind: 'record', record, caller };
  }

  async #begin<T>(
    key: string,
    turn: {
      request: SendMessageRequest;
      message: Message;
      caller: Caller;
      context: ServerCallContext;
      envelope: ReturnType<typeof envelopeIn>;
      push: Arrival['push'];
    },
    admission: AdmissionRequest,
    attach: Attach<T>,
  ): Promise<T> {
    const { taskId, referenceTaskIds } = admission;
    const started = Promise.withResolvers<LiveTask>();
    // A failure is the first caller's to hear; others with the same message ask the hub again.
    const twin = started.promise.finally(() => undefined);
    twin.catch(() => this.#byMessage.delete(key));
    this.#byMessage.set(key, twin);
    try {
      const { caller, context } = turn;
      const load = (id: string): Promise<TaskRecord> => recordFor(this.#side, caller, id);
      const record = taskId === undefined ? undefined : await load(taskId);
      const referenceTasks = (await Promise.all(referenceTaskIds.map(load))).map(taskOf);
      const { live, attached } = this.#side.lives.begin(
        { ...turn, record, referenceTasks, trace: traceOf(context), admission, resumed: false },
        (opened) => attach(opened, false),
      );
      started.resolve(live);
      void live.done.then(() => this.#byMessage.delete(key));
      return attached;
    } catch (error) {
      started.reject(error);
      throw error;
    }
  }

  /** The task of an earlier equal message, when it has come to rest. */
  async #settled(first: TaskRecord, caller: Caller, immediate: boolean): Promise<Message | Task> {
    const deadline = performance.now() + this.#side.waits.replayMs;
    for (let record = first; ; record = await recordFor(this.#side, caller, first.id)) {
      const live = this.#side.lives.get(record.id);
      if (live !== undefined)
        return within(this.#side.waits.replayMs, live.answer(immediate, true));
      const task = taskOf(record);
      if (immediate || isSettled(stateOf(task))) return task;
      if (performance.now() > deadline) throw tooLong(this.#side.waits.replayMs);
      await sleep(this.#side.waits.record.everyMs);
    }
  }

  /** Where the sender wants to be told; refused before anything is written. */
  #pushOf(
    { configuration }: SendMessageRequest,
    { messageId }: Message,
    context: ServerCallContext,
  ): Arrival['push'] {
    const wanted = configuration?.taskPushNotificationConfig;
    if (wanted === undefined) return undefined;
    const { push } = this.#side;
    if (push === undefined) throw new PushNotificationNotSupportedError();
    // The message's own id, so that the same message again asks for the same once.
    const id = wanted.id === '' ? messageId : wanted.id;
    return pushConfigOf(push, wanted, context.requestedVersion, id);
  }

  #requireExtensions(context: ServerCallContext): void {
    const declared = this.#side.card.capabilities?.extensions ?? [];
    const asked = new Set(context.requestedExtensions);
    const missing = declared.filter(({ required, uri }) => required && !asked.has(uri));
    if (missing.length > 0) {
      const uris = missing.map(({ uri }) => uri).join(', ');
      throw new ExtensionSupportRequiredError(`name these extensions in A2A-Extensions: ${uris}`);
    }
    context.setRequestedExtensions(declared.map(({ uri }) => uri).filter((uri) => asked.has(uri)));
  }
}

/** With nothing in between: a late reader first gets what is stored, then what comes after it. */
function snapshotAndUpdates(
  live: LiveTask,
  late: boolean,
  cursor?: number,
): AsyncGenerator<StreamEvent, void, undefined> {
  const reply = late ? live.reply() : undefined;
  const first: StreamEvent[] =
    reply !== undefined
      ? [{ payload: { $case: 'message', value: reply } }]
      : late
        ? live.present(cursor)
        : [];
  const reader = live.subscribe(first.length > 0);
  return (async function* updates() {
    try {
      yield* first;
      if (reply === undefined) yield* reader;
    } finally {
      await reader.return();
    }
  })();
}

async function within<T>(ms: number, answer: Promise<T>): Promise<T> {
  const stop = new AbortController();
  const late = sleep(ms, stop.signal).then((): never => {
    throw tooLong(ms);
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([answer, late]);
  } finally {
    stop.abort();
  }
}
