import type { Message, Task } from '@a2a-js/sdk';
import type { Envelope } from '../../model/envelope.ts';
import type { Observation } from '../../model/observation.ts';
import type { Caller } from '../../model/principal.ts';
import {
  cancelSeen,
  messageSeen,
  stateSeen,
  TaskChanges,
  type Peers,
  type Seen,
} from './changes.ts';
import type { A2aPorts } from './ports.ts';
import { hubAway, retrying } from './retry.ts';

export interface Observing {
  readonly ports: Pick<A2aPorts, 'observe'>;
  readonly caller: Caller;
}

/** Dialog and Task of ours that an exchange belongs to; what is known already. */
export interface Place {
  readonly activity?: string;
  readonly dialog?: string;
  readonly task?: string;
}

/** Tells the hub what one exchange with a peer looks like from our side, in order. */
export class ClientObserver {
  readonly #observing: Observing | undefined;
  readonly #peers: Peers;
  readonly #envelope: Envelope;
  #message: Message | undefined;
  #changes = TaskChanges.ofNew();
  #queue: Promise<void> = Promise.resolve();
  #fault: { readonly error: unknown } | undefined;

  constructor(
    observing: Observing | undefined,
    peers: Peers,
    options: {
      place?: Place | undefined;
      envelope?: Envelope | undefined;
      message?: Message | undefined;
    },
  ) {
    this.#observing = observing;
    this.#peers = peers;
    this.#envelope = { v: 1, ...options.envelope, ...options.place };
    this.#message = options.message;
  }

  /** The task as it stands: the message that led to it first, then what changed. */
  task(task: Task): void {
    if (this.#observing === undefined) return;
    const seen = this.#seen(task.contextId);
    const { observations, told } = this.#changes.next(seen, task);
    this.#changes = told;
    this.#tell([...this.#arrival(seen, task.id), ...observations]);
  }

  /** A reply by message alone: one task that is done. */
  reply(reply: Message, contextId: string): void {
    if (this.#observing === undefined) return;
    const seen = this.#seen(contextId);
    const taskId = reply.taskId === '' ? reply.messageId : reply.taskId;
    this.#tell([...this.#arrival(seen, taskId), stateSeen(seen, taskId, { state: 'completed' })]);
  }

  cancel(task: Task): void {
    this.#tell([cancelSeen(this.#seen(task.contextId), task.id)]);
  }

  /** Resolves when all of it is recorded; throws what kept it from being recorded. */
  async done(): Promise<void> {
    await this.#queue;
    if (this.#fault !== undefined) throw this.#fault.error;
  }

  #arrival(seen: Seen, taskId: string): Observation[] {
    const message = this.#message;
    this.#message = undefined;
    return message === undefined ? [] : [messageSeen(seen, message, taskId)];
  }

  #seen(contextId: string): Seen {
    return { ...this.#peers, contextId, envelope: this.#envelope, now: new Date() };
  }

  #tell(observations: readonly Observation[]): void {
    if (observations.length === 0) return;
    this.#queue = this.#record(this.#queue, observations);
  }

  async #record(before: Promise<void>, observations: readonly Observation[]): Promise<void> {
    await before;
    const observing = this.#observing;
    if (observing === undefined || this.#fault !== undefined) return;
    try {
      await retrying(hubAway, () => observing.ports.observe(observing.caller, observations));
    } catch (error) {
      this.#fault = { error };
    }
  }
}
