import type { StreamResponse, Task } from '@a2a-js/sdk';
import { ThroughlineError } from '../../errors.ts';
import type { A2aPorts } from './ports.ts';
import type { Caller } from '../../model/principal.ts';
import type { PushConfig } from '../../model/push-config.ts';
import { PushQueue, type Notification } from './push-queue.ts';
import type { Push } from './push-sender.ts';
import { retrying, sleep, type Backoff } from './retry.ts';
import { taskOf } from './task-store.ts';
import { isFinal, stateOf } from './wire.ts';

export interface DeliveryDeps {
  readonly push: Push;
  readonly ports: A2aPorts;
  /** The agent calling as itself. */
  readonly self: Caller;
  readonly backoff: Backoff;
  /** Milliseconds between two looks for what is due. */
  readonly dueMs: number;
  readonly onFault: (error: unknown, about: { taskId?: string }) => void;
}

const asking: Backoff = { attempts: 5, firstMs: 100, capMs: 2_000 };
const keyOf = ({ taskId, owner = '', id }: PushConfig): string => [taskId, owner, id].join('\0');

/**
 * Tells whoever asked of the changes of this agent's tasks. Changes are told as they come, once and
 * in order as far as this process lives; the end of a task is told at least once, after a restart
 * too: until it is settled, the config itself is the record of what is still to be delivered.
 */
export class PushDeliveries {
  readonly #deps: DeliveryDeps;
  readonly #queues = new Map<string, PushQueue>();
  /** Task → its changes on their way to the queues, in order. */
  readonly #tails = new Map<string, Promise<void>>();
  readonly #stop = new AbortController();

  constructor(deps: DeliveryDeps) {
    this.#deps = deps;
  }

  /** A change that is stored. Returns at once. */
  tell(task: Task, update: StreamResponse): void {
    const notification = { update, task, final: isFinal(stateOf(task)) };
    const tail = this.#after(this.#tails.get(task.id), notification);
    this.#tails.set(task.id, tail);
    void this.#forget(this.#tails, task.id, tail, tail);
  }

  /** Tells the end of a finished task as it stands, to one or to all who are still to be told. */
  async tellEnd(taskId: string, configs: readonly PushConfig[]): Promise<void> {
    const { ports, self } = this.#deps;
    const record = await retrying(asking, () => ports.loadTask(self, taskId));
    if (record === undefined || !isFinal(record)) return;
    const task = taskOf(record);
    const update: StreamResponse = { payload: { $case: 'task', value: task } };
    for (const config of configs) this.#enqueue(config, { update, task, final: true });
  }

  /** From now on, takes up what falls due while this process lives. */
  async keepUp(): Promise<void> {
    const { dueMs, onFault } = this.#deps;
    const { signal } = this.#stop;
    for (;;) {
      // Not all processes of an agent at once.
      await sleep(dueMs * (0.5 + Math.random()), signal);
      if (signal.aborted) return;
      try {
        await this.resume();
      } catch (error) {
        // A hub that is away is asked again next time.
        if (!(error instanceof ThroughlineError && error.retryable)) onFault(error, {});
      }
    }
  }

  /** Takes up the ends that a process which is gone did not tell. Gives how many. */
  async resume(): Promise<number> {
    const { push, self, onFault } = this.#deps;
    const seen = new Set<string>();
    for (;;) {
      const due = await retrying(asking, () => push.ports.loadPushConfigs(self, {}));
      const fresh = due.filter((config) => !seen.has(keyOf(config)));
      if (fresh.length === 0) return seen.size;
      for (const config of fresh) {
        seen.add(keyOf(config));
        if (this.#queues.has(keyOf(config))) continue;
        try {
          await this.tellEnd(config.taskId, [config]);
        } catch (error) {
          onFault(error, { taskId: config.taskId });
        }
      }
      await Promise.all([...this.#queues.values()].map(({ idle }) => idle));
    }
  }

  /** True when all was told within so many milliseconds; then stops, what is left is for a restart. */
  async drain(ms: number): Promise<boolean> {
    const late = new AbortController();
    const idle = async (): Promise<boolean> => {
      while (this.#tails.size > 0 || this.#queues.size > 0) {
        await Promise.all(this.#tails.values());
        await Promise.all([...this.#queues.values()].map((queue) => queue.idle));
      }
      return true;
    };
    const done = await Promise.race([idle(), sleep(ms, late.signal).then(() => false)]);
    late.abort();
    this.#stop.abort();
    return done;
  }

  async #after(before: Promise<void> | undefined, notification: Notification): Promise<void> {
    const { push, self, onFault } = this.#deps;
    await before;
    const taskId = notification.task.id;
    try {
      const configs = await retrying(asking, () => push.ports.loadPushConfigs(self, { taskId }));
      for (const config of configs) this.#enqueue(config, notification);
    } catch (error) {
      onFault(error, { taskId });
    }
  }

  #enqueue(config: PushConfig, notification: Notification): void {
    const key = keyOf(config);
    const queue = this.#queues.get(key) ?? this.#open(key, config);
    queue.add(notification);
    void this.#forget(this.#queues, key, queue, queue.idle);
  }

  /** Once it is over, unless another took its place. */
  async #forget<T>(
    from: Map<string, T>,
    key: string,
    value: T,
    over: Promise<void>,
  ): Promise<void> {
    await over;
    if (from.get(key) === value) from.delete(key);
  }

  #open(key: string, config: PushConfig): PushQueue {
    const { push, self, backoff, onFault } = this.#deps;
    const { taskId, id, owner = '' } = config;
    const queue = new PushQueue(config, {
      sender: push.sender,
      backoff,
      signal: this.#stop.signal,
      onGivenUp: (error) => onFault(error, { taskId }),
      onFinal: async () => {
        try {
          const settled = { taskId, id, owner };
          await retrying(asking, () => push.ports.settlePushConfig(self, settled));
        } catch (error) {
          onFault(error, { taskId });
        }
      },
    });
    this.#queues.set(key, queue);
    return queue;
  }
}
