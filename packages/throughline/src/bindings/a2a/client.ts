import { randomUUID } from 'node:crypto';
import {
  A2A_PROTOCOL_VERSION,
  A2A_VERSION_HEADER,
  HTTP_EXTENSION_HEADER,
  Message,
  Role,
  TaskState,
  type AgentCard,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
} from '@a2a-js/sdk';
import type { RequestOptions, Transport } from '@a2a-js/sdk/client';
import { A2AError, RequestMalformedError, UnsupportedOperationError } from '@a2a-js/sdk/errors';
import { ThroughlineError } from '../../errors.ts';
import type { Part } from '../../handover/parts.ts';
import { correlationExtension, type Envelope } from '../../model/envelope.ts';
import type { Party } from '../../model/observation.ts';
import type { Caller } from '../../model/principal.ts';
import type { AwaitingWhat, TaskState as State } from '../../model/task.ts';
import { declaresCorrelation } from './card.ts';
import type { Peers } from './changes.ts';
import { ClientObserver, type Observing, type Place } from './client-observer.ts';
import { sortedJson } from './digest.ts';
import { fromA2aError, isCutOff } from './errors.ts';
import { seqIn } from './marks.ts';
import { notSent, unreachable } from './peer-fetch.ts';
import type { OpenedTransport, PeerTransport } from './peer-transport.ts';
import { PeerUpdates, viewOf, type PeerTask } from './peer-task.ts';
import type { A2aPorts } from './ports.ts';
import { delayMs, pause, type Backoff } from './retry.ts';
import { currentTrace, type Trace } from '../../telemetry/trace.ts';
import { partToWire, stateToWire } from './wire.ts';

export interface ConnectA2aOptions {
  /** Where the agent's card lies (…/.well-known/agent-card.json under it), or the card itself. */
  readonly url?: string;
  readonly card?: AgentCard;
  /** Value of the Authorization header. Sent to the agent's own origin alone. */
  readonly credential?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Where what is seen goes, and as whom it is told. */
  readonly ports?: Pick<A2aPorts, 'observe'>;
  readonly caller?: Caller;
  /** Who we are in what is seen. */
  readonly self: Party;
  /** The agent's principal id, where it is one of our own domain. */
  readonly principal?: string;
  readonly allowPlainHttp?: boolean;
  /** Which way to speak, where the card names it. Default: the first that the card names. */
  readonly transport?: PeerTransport;
  /** Bytes of one answer, a stream's included; default 32 MiB. */
  readonly maxResponseBytes?: number;
  readonly retry?: Backoff;
  /** Told of observations that could not be recorded. Without it, the call fails with that error. */
  readonly onFault?: (error: unknown) => void;
  readonly signal?: AbortSignal;
  /** It is of our own domain, or policy names it: it learns the trace of the call worked on. Default: not. */
  readonly carriesTrace?: boolean;
}

export interface OutgoingMessage {
  /** The idempotency key: the same for a message that is sent again. */
  readonly messageId?: string;
  readonly parts: readonly Part[];
  readonly contextId?: string;
  readonly taskId?: string;
  readonly referenceTaskIds?: readonly string[];
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Attached only where the card declares the extension. */
  readonly envelope?: Envelope;
  readonly extensions?: readonly string[];
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds for the whole call; default 10 minutes. */
  readonly timeoutMs?: number;
  /** Default: that of the call being worked on, where the agent may learn it. */
  readonly trace?: Trace | undefined;
}

export interface ExchangeOptions extends CallOptions {
  /** Dialog, Task and Activity of ours that this belongs to, for what is observed. */
  readonly place?: Place;
}

export interface ListQuery {
  readonly contextId?: string;
  readonly state?: State;
  readonly awaiting?: AwaitingWhat;
  readonly pageSize?: number;
  readonly cursor?: string;
}

const tenMinutes = 600_000;
const defaultRetry: Backoff = { attempts: 5, firstMs: 200, capMs: 5_000 };
const polling: Backoff = { attempts: Number.MAX_SAFE_INTEGER, firstMs: 200, capMs: 2_000 };

/** A connection to one A2A agent, ours or anybody's. */
export class A2aClient {
  readonly card: AgentCard;
  /** Where it is reached: the address that its card names first, whichever way is spoken. */
  readonly url: string;
  readonly transport: PeerTransport;
  /** Extension URIs that its card declares. */
  readonly extensions: ReadonlySet<string>;
  /** Parameters of those extensions that have some, by URI; as the card says, unchecked. */
  readonly extensionParams: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  readonly declaresCorrelation: boolean;
  readonly #transport: Transport;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #peers: Peers;
  readonly #carriesTrace: boolean;
  readonly #observing: Observing | undefined;
  readonly #retry: Backoff;
  readonly #onFault: ((error: unknown) => void) | undefined;
  readonly #close: () => Promise<void>;

  /** For `connectA2a`. */
  constructor(
    parts: Omit<OpenedTransport, 'close'> & { card: AgentCard; close: () => Promise<void> },
    options: ConnectA2aOptions,
  ) {
    const { card } = parts;
    const url = card.supportedInterfaces[0]?.url ?? parts.address;
    this.card = card;
    this.url = url;
    this.transport = parts.kind;
    this.#headers = parts.headers;
    this.#transport = parts.transport;
    this.#close = parts.close;
    const { extensions: declared = [] } = card.capabilities ?? {};
    this.extensions = new Set(declared.map(({ uri }) => uri));
    this.extensionParams = new Map(
      declared.flatMap(({ uri, params }) => (params === undefined ? [] : [[uri, params]])),
    );
    this.declaresCorrelation = declaresCorrelation(card);
    const { principal, self, ports, caller } = options;
    const server: Party = {
      kind: 'agent',
      name: card.name,
      url,
      ...(principal === undefined ? {} : { principal }),
    };
    this.#peers = { side: 'client', endpoint: url, client: self, server };
    this.#carriesTrace = options.carriesTrace ?? false;
    this.#observing = ports && caller && { ports, caller };
    this.#retry = options.retry ?? defaultRetry;
    this.#onFault = options.onFault;
  }

  /** The message as it goes out. */
  encode(message: OutgoingMessage): string {
    return JSON.stringify(Message.toJSON(this.#toWire(message)));
  }

  /**
   * Sends and gives the task anew at each change, until it is over or awaits something. A connection
   * that breaks is not an end: the task is taken up again, or the same message sent again where the
   * agent knows it by its id; else it ends in a retryable `unavailable`.
   */
  async *watch(
    message: OutgoingMessage,
    options: ExchangeOptions = {},
  ): AsyncGenerator<PeerTask, void, undefined> {
    const wire = this.#toWire(message);
    const updates = new PeerUpdates(message.contextId);
    const { place } = options;
    const observer = this.#observer({ place, envelope: message.envelope, message: wire });
    const begin = (call: RequestOptions): AsyncIterable<StreamResponse> => this.#begin(wire, call);
    yield* this.#exchange(updates, observer, options, wire, begin);
  }

  /** Goes on with a task that the agent has already: what it is now, then its changes. */
  async *follow(
    taskId: string,
    options: ExchangeOptions = {},
  ): AsyncGenerator<PeerTask, void, undefined> {
    const observer = this.#observer({ place: options.place });
    const begin = (call: RequestOptions): AsyncIterable<StreamResponse> =>
      this.#again(taskId, call);
    yield* this.#exchange(new PeerUpdates(), observer, options, undefined, begin);
  }

  /** The last of `watch`. */
  async send(
    message: OutgoingMessage,
    options: ExchangeOptions & { readonly onUpdate?: (task: PeerTask) => void } = {},
  ): Promise<PeerTask> {
    let last: PeerTask | undefined;
    for await (const task of this.watch(message, options)) {
      last = task;
      options.onUpdate?.(task);
    }
    if (last === undefined) throw unreachable(this.url, 'nothing came', 'unknown');
    return last;
  }

  async getTask(taskId: string, options: CallOptions = {}): Promise<PeerTask> {
    return viewOf(await this.#call(options, (call) => this.#load(taskId, call)));
  }

  /** Asks for a cancellation; the task that comes back may still be running. */
  async cancel(taskId: string, options: ExchangeOptions = {}): Promise<PeerTask> {
    const task = await this.#call(options, (call) =>
      this.#transport.cancelTask({ tenant: '', id: taskId, metadata: undefined }, call),
    );
    const observer = this.#observer({ place: options.place });
    observer.cancel(task);
    observer.task(task);
    await this.#recorded(observer);
    return viewOf(task);
  }

  async listTasks(
    query: ListQuery = {},
    options: CallOptions = {},
  ): Promise<{ tasks: PeerTask[]; total: number; cursor?: string }> {
    const { state, awaiting, contextId = '', cursor = '', pageSize } = query;
    const status = state && stateToWire(awaiting === undefined ? { state } : { state, awaiting });
    const page = await this.#call(options, (call) =>
      this.#transport.listTasks(
        {
          tenant: '',
          contextId,
          status: status ?? TaskState.TASK_STATE_UNSPECIFIED,
          pageToken: cursor,
          statusTimestampAfter: undefined,
          ...(pageSize === undefined ? {} : { pageSize }),
        },
        call,
      ),
    );
    return {
      tasks: page.tasks.map((task) => viewOf(task)),
      total: page.totalSize,
      ...(page.nextPageToken === '' ? {} : { cursor: page.nextPageToken }),
    };
  }

  close(): Promise<void> {
    return this.#close();
  }

  async *#exchange(
    updates: PeerUpdates,
    observer: ClientObserver,
    options: ExchangeOptions,
    message: Message | undefined,
    begin: (call: RequestOptions) => AsyncIterable<StreamResponse>,
  ): AsyncGenerator<PeerTask, void, undefined> {
    const call = this.#callOptions(options, message?.extensions);
    const signal = call.signal;
    let known = '';
    /** Number of the last update that is here, of a peer that numbers them. */
    let cursor: number | undefined;
    for (let failures = 0; !updates.settled;) {
      const { task } = updates;
      try {
        const source = task === undefined ? begin(call) : this.#again(task.id, call, cursor);
        for await (const update of source) {
          updates.apply(update);
          cursor = seqIn(update) ?? cursor;
          const view = updates.view(message?.contextId || updates.reply?.messageId || '');
          const now = sortedJson(view);
          // A peer that only repeats itself after each break makes no progress.
          if (now !== known) failures = 0;
          known = now;
          if (updates.reply !== undefined) observer.reply(updates.reply, view.contextId);
          else if (updates.task !== undefined) observer.task(updates.task);
          yield view;
          if (updates.settled) break;
        }
        if (!updates.settled) throw cut(this.url);
      } catch (error) {
        const fault = this.#fault(error, signal);
        failures += 1;
        const again = fault.retryable && this.#mayRepeat(updates, message, fault);
        if (!again || failures >= this.#retry.attempts || signal?.aborted === true) throw fault;
        await pause(delayMs(this.#retry, failures), signal);
      }
    }
    await this.#recorded(observer);
  }

  /** A message may go out twice only to an agent that knows it by its id, or if it never left. */
  #mayRepeat(updates: PeerUpdates, message: Message | undefined, fault: ThroughlineError): boolean {
    const known = updates.task !== undefined || message === undefined;
    return known || this.declaresCorrelation || notSent(fault);
  }

  async *#begin(message: Message, call: RequestOptions): AsyncGenerator<StreamResponse> {
    const request: SendMessageRequest = {
      tenant: '',
      message,
      configuration: undefined,
      metadata: undefined,
    };
    if (this.card.capabilities?.streaming === true) {
      yield* this.#transport.sendMessageStream(request, call);
      return;
    }
    const answer = await this.#transport.sendMessage(request, call);
    if ('messageId' in answer) yield { payload: { $case: 'message', value: answer } };
    else yield* this.#poll(answer, call);
  }

  /** A task that the agent has: what came after the cursor, or how it stands; then what changes. */
  async *#again(
    taskId: string,
    call: RequestOptions,
    cursor?: number,
  ): AsyncGenerator<StreamResponse> {
    if (this.card.capabilities?.streaming === true) {
      const from = cursor === undefined ? {} : { 'last-event-id': String(cursor) };
      const serviceParameters = { ...call.serviceParameters, ...from };
      const request = { tenant: '', id: taskId };
      try {
        yield* this.#transport.resubscribeTask(request, { ...call, serviceParameters });
        return;
      } catch (error) {
        // It was put back to before the cursor, by a restore perhaps: the whole task, then.
        if (cursor !== undefined && error instanceof RequestMalformedError) {
          yield* this.#again(taskId, call);
          return;
        }
        // Over already, or nothing to subscribe to: its record says how it stands.
        if (!(error instanceof UnsupportedOperationError)) throw error;
      }
    }
    yield* this.#poll(await this.#load(taskId, call), call);
  }

  async *#poll(first: Task, call: RequestOptions): AsyncGenerator<StreamResponse> {
    let task = first;
    for (let attempt = 1; ; attempt++) {
      yield { payload: { $case: 'task', value: task } };
      await pause(delayMs(polling, Math.min(attempt, 16)), call.signal);
      call.signal?.throwIfAborted();
      task = await this.#load(first.id, call);
    }
  }

  #load(taskId: string, call: RequestOptions): Promise<Task> {
    return this.#transport.getTask({ tenant: '', id: taskId }, call);
  }

  /** A call that changes nothing when it is made twice. */
  async #call<T>(options: CallOptions, work: (call: RequestOptions) => Promise<T>): Promise<T> {
    const call = this.#callOptions(options, []);
    for (let attempt = 1; ; attempt++) {
      try {
        return await work(call);
      } catch (error) {
        const fault = this.#fault(error, call.signal);
        if (!fault.retryable || attempt >= this.#retry.attempts || call.signal?.aborted === true) {
          throw fault;
        }
        await pause(delayMs(this.#retry, attempt), call.signal);
      }
    }
  }

  #callOptions(options: CallOptions, extensions: readonly string[] = []): RequestOptions {
    const { timeoutMs = tenMinutes, trace = this.#carriesTrace ? currentTrace() : undefined } =
      options;
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
    const named = new Set(extensions);
    if (this.declaresCorrelation) named.add(correlationExtension);
    return {
      signal,
      serviceParameters: {
        ...this.#headers,
        [A2A_VERSION_HEADER]: A2A_PROTOCOL_VERSION,
        ...(named.size === 0 ? {} : { [HTTP_EXTENSION_HEADER]: [...named].join(',') }),
        ...trace,
      },
    };
  }

  #observer(options: ConstructorParameters<typeof ClientObserver>[2]): ClientObserver {
    return new ClientObserver(this.#observing, this.#peers, options);
  }

  async #recorded(observer: ClientObserver): Promise<void> {
    try {
      await observer.done();
    } catch (error) {
      if (this.#onFault === undefined) throw error;
      this.#onFault(error);
    }
  }

  #fault(error: unknown, signal: AbortSignal | undefined): ThroughlineError {
    if (error instanceof ThroughlineError) return error;
    if (signal?.aborted === true) {
      return new ThroughlineError('timeout', `${this.url}: no end within the time given`, {
        details: { sent: 'unknown' },
        cause: error,
      });
    }
    // Errors inside a stream come wrapped.
    const inner = error instanceof Error && error.cause instanceof A2AError ? error.cause : error;
    if (isCutOff(inner)) return cut(this.url, inner);
    if (inner instanceof A2AError) return fromA2aError(inner, this.url);
    if (inner instanceof TypeError && isBroken(inner)) return cut(this.url, inner);
    return fromA2aError(inner, this.url);
  }

  #toWire(message: OutgoingMessage): Message {
    const envelope = this.declaresCorrelation ? message.envelope : undefined;
    const metadata = {
      ...message.metadata,
      ...(envelope === undefined ? {} : { [correlationExtension]: envelope }),
    };
    const extensions = (message.extensions ?? []).filter((uri) => this.extensions.has(uri));
    if (envelope !== undefined) extensions.push(correlationExtension);
    return {
      messageId: message.messageId ?? randomUUID(),
      contextId: message.contextId ?? '',
      taskId: message.taskId ?? '',
      role: Role.ROLE_USER,
      parts: message.parts.map(partToWire),
      metadata: Object.keys(metadata).length === 0 ? undefined : metadata,
      extensions: [...new Set(extensions)],
      referenceTaskIds: [...(message.referenceTaskIds ?? [])],
    };
  }
}

/** The connection ended and the work, as far as we know, did not. */
const cut = (url: string, cause?: unknown): ThroughlineError =>
  new ThroughlineError(
    'unavailable',
    `${url}: the connection was cut before the task came to an end; what became of it is not known`,
    { details: { sent: 'unknown', cut: true }, cause },
  );

const isBroken = (error: TypeError): boolean =>
  error.message === 'terminated' || error.message === 'fetch failed';
