import { randomUUID } from 'node:crypto';
import type { AgentCard, Task, TaskState, TaskStatus } from '@a2a-js/sdk';
import { TaskNotFoundError } from '@a2a-js/sdk/errors';
import type { AgentExecutor } from '@a2a-js/sdk/server';
import { ThroughlineError } from '../../errors.ts';
import { foreignId } from '../../model/ids.ts';
import type { Caller, Principal } from '../../model/principal.ts';
import type { TaskRecord } from '../../model/task-record.ts';
import type { Peers } from './changes.ts';
import type { Polling } from './follow.ts';
import type { LiveDeps } from './live-task.ts';
import { LiveTasks } from './live-tasks.ts';
import type { A2aPorts, WorkerPorts } from './ports.ts';
import { PushDeliveries } from './push-deliveries.ts';
import type { Push } from './push-sender.ts';
import { hubAway, type Backoff } from './retry.ts';
import { A2aTaskStore } from './task-store.ts';
import { agentText } from './wire.ts';
import { Worker } from './worker.ts';

/** How long things wait, in milliseconds. */
export interface Waits {
  /** For the first of two equal messages to lead to something. */
  readonly replayMs: number;
  /** How long a reader's rights to a running task are taken for granted. */
  readonly rightsMs: number;
  /** For an executor to act on a cancellation. */
  readonly cancelMs: number;
  /** For a task that no executor of this process works on. */
  readonly record: Polling;
  /** For a hub that is away, by whatever has to be written or read for work to go on. */
  readonly hub: Backoff;
  /** Between two tries at one push notification, and how many. */
  readonly push: Backoff;
  /** Between two looks for push notifications that a process which is gone left untold. */
  readonly dueMs: number;
}

export interface AgentSideOptions {
  readonly card: AgentCard;
  /** With those of a worker, the hub knows whether this process is alive. */
  readonly ports: A2aPorts & Partial<WorkerPorts>;
  readonly executor: AgentExecutor;
  /** Where this process serves, as no other living one does; see `seatOf`. */
  readonly seat?: string | undefined;
  /** Ports for push configs and what sends; without it push notifications are not supported. */
  readonly push?: Push | undefined;
  /** What authenticated callers get to see instead of the card, where that is more. */
  readonly extendedCard?: AgentCard | undefined;
  /** The agent's own principal. */
  readonly agent: Principal;
  readonly now?: (() => Date) | undefined;
  /** Told of faults that callers do not see in full; must not throw. */
  readonly onFault?: ((error: unknown, about: { taskId?: string }) => void) | undefined;
  /**
   * Told after a task was cancelled on request, also one that nobody worked on; perhaps more than once: at
   * the start again of all that were cancelled within a day, since the process before may have died first.
   */
  readonly onCancel?: ((taskId: string) => Promise<void> | void) | undefined;
  readonly waits?: Partial<Waits> | undefined;
}

/** Everything the methods of one served agent share. */
export interface AgentSide {
  readonly card: AgentCard;
  readonly ports: A2aPorts;
  readonly executor: AgentExecutor;
  /** The agent calling as itself. */
  readonly self: Caller;
  readonly peers: Omit<Peers, 'client'>;
  readonly store: A2aTaskStore;
  readonly worker: Worker | undefined;
  readonly lives: LiveTasks;
  readonly push: Push | undefined;
  readonly deliveries: PushDeliveries | undefined;
  readonly extendedCard: AgentCard | undefined;
  readonly now: () => Date;
  readonly newId: () => string;
  readonly onFault: (error: unknown, about: { taskId?: string }) => void;
  readonly onCancel: ((taskId: string) => Promise<void> | void) | undefined;
  readonly waits: Waits;
}

const defaultWaits: Waits = {
  replayMs: 45_000,
  rightsMs: 5_000,
  cancelMs: 5_000,
  record: { everyMs: 500, forMs: 120_000 },
  hub: hubAway,
  push: { attempts: 6, firstMs: 1_000, capMs: 30_000 },
  dueMs: 15_000,
};

const hasWorkers = (ports: A2aPorts & Partial<WorkerPorts>): ports is A2aPorts & WorkerPorts =>
  ports.beat !== undefined && ports.leave !== undefined && ports.takeUp !== undefined;

export function agentSide(options: AgentSideOptions): AgentSide {
  const { card, ports, executor, agent, push } = options;
  const now = options.now ?? ((): Date => new Date());
  const onFault = options.onFault ?? ((): void => undefined);
  const endpoint = card.supportedInterfaces[0]?.url ?? '';
  const self = { principal: agent };
  const waits = { ...defaultWaits, ...options.waits };
  const worker = hasWorkers(ports)
    ? new Worker({
        ports,
        seat: options.seat,
        away: waits.hub,
        onFault,
        load: (taskId) => ports.loadTask(self, taskId),
      })
    : undefined;
  const store = new A2aTaskStore(ports, now, waits.hub, worker?.id);
  const deliveries =
    push &&
    new PushDeliveries({ push, ports, self, backoff: waits.push, dueMs: waits.dueMs, onFault });
  const peers = {
    side: 'server',
    endpoint,
    server: { kind: 'agent', name: card.name, url: endpoint, principal: agent.id },
  } as const;
  const onStored: LiveDeps['onStored'] = (task, update) => deliveries?.tell(task, update);
  const away = waits.hub;
  const onLeft = (taskId: string): void => worker?.left(taskId);
  const deps = { ports, store, executor, now, newId: randomUUID, away, onFault, onStored, onLeft };
  return {
    card,
    ports,
    executor,
    self,
    peers,
    store,
    worker,
    lives: new LiveTasks(deps, agent, peers),
    push,
    deliveries,
    extendedCard: options.extendedCard,
    now,
    newId: randomUUID,
    onFault,
    onCancel: options.onCancel,
    waits,
  };
}

/** The record of a task with this caller's rights; throws TaskNotFound, `invalid` for what is no id. */
export async function recordFor(
  side: AgentSide,
  caller: Caller,
  taskId: string,
  action?: 'cancel' | 'subscribe',
): Promise<TaskRecord> {
  if (!foreignId.safeParse(taskId).success) {
    throw new ThroughlineError(
      'invalid',
      'the task id is not one: empty, too long or not one segment',
    );
  }
  const record = await side.ports.loadTask(caller, taskId, action);
  if (record === undefined) throw new TaskNotFoundError(`Task not found: ${taskId}`);
  return record;
}

/** A status of now that the agent gives with a sentence. */
export const statusWith = (
  side: AgentSide,
  ids: { readonly id: string; readonly contextId: string },
  state: TaskState,
  text: string,
): TaskStatus => ({
  state,
  message: agentText({ messageId: side.newId(), taskId: ids.id, contextId: ids.contextId }, text),
  timestamp: side.now().toISOString(),
});

/** At most so many of the latest messages; all of them when undefined. */
export function withHistory(task: Task, historyLength: number | undefined): Task {
  if (historyLength === undefined) return task;
  if (!Number.isInteger(historyLength) || historyLength < 0) {
    throw new ThroughlineError('invalid', 'historyLength: must be a whole number from 0 on');
  }
  return { ...task, history: historyLength === 0 ? [] : task.history.slice(-historyLength) };
}
