import { A2A_CONTENT_TYPE, StreamResponse, type Task } from '@a2a-js/sdk';
import { V03PushNotificationSerializer } from '@a2a-js/sdk/compat/v0_3/server';
import { ThroughlineError } from '../../errors.ts';
import type { PushConfig } from '../../model/push-config.ts';
import { measure } from '../../telemetry/measure.ts';
import { pushHeaders, type PushSender } from './push-sender.ts';
import { delayMs, sleep, type Backoff } from './retry.ts';

/** Notifications that may wait for one address; what is beyond is told in sum. */
const maxWaiting = 64;
/** Bytes of an answer to a notification that are read. */
const answerBytes = 65_536;

/** One change of a task, to be told. */
export interface Notification {
  readonly update: StreamResponse;
  /** The task after it. */
  readonly task: Task;
  /** The last one: the task is over. */
  readonly final: boolean;
}

export interface PushQueueDeps {
  readonly sender: PushSender;
  readonly backoff: Backoff;
  readonly signal: AbortSignal;
  /** Told of a notification that was given up; names no more of the address than its origin. */
  readonly onGivenUp: (error: ThroughlineError) => void;
  /** The end of the task was told, or given up. */
  readonly onFinal: () => Promise<void>;
}

const snapshot = ({ task, final }: Notification): Notification => ({
  update: { payload: { $case: 'task', value: task } },
  task,
  final,
});

const legacy = new V03PushNotificationSerializer();

function bodyOf(config: PushConfig, { update, task }: Notification) {
  return config.protocolVersion === '0.3'
    ? legacy.serialize(update, task)
    : { body: JSON.stringify(StreamResponse.toJSON(update)), contentType: A2A_CONTENT_TYPE };
}

/** Statuses after which the same notification may be taken later. */
const mayPass = (status: number): boolean => [408, 425, 429].includes(status) || status >= 500;

/** What one address is told of one task, in order, one at a time, each several times if need be. */
export class PushQueue {
  readonly #config: PushConfig;
  readonly #deps: PushQueueDeps;
  #waiting: readonly Notification[] = [];
  #running: Promise<void> | undefined;

  constructor(config: PushConfig, deps: PushQueueDeps) {
    this.#config = config;
    this.#deps = deps;
  }

  /** Settles when nothing waits any more. */
  get idle(): Promise<void> {
    return this.#running ?? Promise.resolve();
  }

  add(notification: Notification): void {
    this.#waiting =
      this.#waiting.length < maxWaiting
        ? [...this.#waiting, notification]
        : [snapshot(notification)];
    this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    for (;;) {
      const [next, ...rest] = this.#waiting;
      if (next === undefined || this.#deps.signal.aborted) break;
      this.#waiting = rest;
      const told = await this.#deliver(next);
      if (told?.final === true) await this.#deps.onFinal();
    }
    this.#running = undefined;
  }

  /**
   * What was told or given up in the end; undefined when it was interrupted. What came while one
   * could not be told is told with it, in sum.
   */
  async #deliver(first: Notification): Promise<Notification | undefined> {
    const { backoff, signal, onGivenUp } = this.#deps;
    let notification = first;
    for (let attempt = 1; ; attempt++) {
      const failure = await this.#attempt(notification);
      const isLast = failure?.retryable !== true || attempt >= backoff.attempts;
      const outcome = failure === undefined ? 'delivered' : isLast ? 'given-up' : 'retry';
      measure('throughline.push.attempts', 1, { outcome });
      if (failure === undefined) return notification;
      if (signal.aborted) return undefined;
      if (isLast) {
        onGivenUp(this.#givenUp(notification, attempt, failure));
        return notification;
      }
      await sleep(delayMs(backoff, attempt), signal);
      if (signal.aborted) return undefined;
      const latest = this.#waiting.at(-1);
      if (latest !== undefined) {
        notification = snapshot(latest);
        this.#waiting = [];
        attempt = 0;
      }
    }
  }

  async #attempt(notification: Notification): Promise<ThroughlineError | undefined> {
    const { sender, signal } = this.#deps;
    try {
      const { body, contentType } = bodyOf(this.#config, notification);
      const { status } = await sender.send({
        url: this.#config.url,
        method: 'POST',
        headers: { ...pushHeaders(this.#config), 'content-type': contentType },
        body,
        responseBytes: answerBytes,
        signal,
      });
      if (status >= 200 && status < 300) return undefined;
      const retryable = mayPass(status);
      return new ThroughlineError('unavailable', `it answered ${status}`, { retryable });
    } catch (error) {
      if (error instanceof ThroughlineError) return error;
      return new ThroughlineError('internal', 'it could not be sent', { cause: error });
    }
  }

  /** Names neither the config nor its address: both are a client's words, and this ends in a log. */
  #givenUp(
    { task, final }: Notification,
    attempts: number,
    cause: ThroughlineError,
  ): ThroughlineError {
    const what = final ? 'the end' : 'a change';
    return new ThroughlineError(
      'unavailable',
      `a push config of task ${task.id} was not told of ${what}, given up after ${attempts} tries: ${cause.message}`,
      { retryable: false, cause, details: { task: task.id, attempts, final } },
    );
  }
}
