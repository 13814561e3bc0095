import type { Admission, AdmissionRequest } from '../../model/admission.ts';
import type { Observation } from '../../model/observation.ts';
import type { Caller, Principal } from '../../model/principal.ts';
import type { PushConfig } from '../../model/push-config.ts';
import type { Beat, Pulse, Taking } from '../../model/worker.ts';
import type { TaskPage, TaskQuery, TaskRecord } from '../../model/task-record.ts';

/**
 * What the A2A binding needs of a hub; served in process or over the hub's API. Every method checks
 * rights itself. What the caller may not see is `not-found`, exactly as if it did not exist.
 */
export interface A2aPorts {
  /** `Authorization` header's value (or undefined) → who calls; throws `unauthenticated`. */
  authenticate(credential: string | undefined): Promise<Principal>;
  /**
   * Decides over contextId, taskId, referenceTaskIds and messageId, and writes the decision, before
   * anything runs. Throws `context-refused` (unknown, foreign and expired alike), `not-found` (a task
   * one may not see), `invalid` (contextId is not the task's), `conflict` (messageId with another
   * payload), `terminal` (the task is over; the message names the context to go on in).
   */
  admit(caller: Caller, request: AdmissionRequest): Promise<Admission>;
  /** Keeps a message-only reply as the answer to that message. */
  saveReply(
    caller: Caller,
    reply: { agent: string; messageId: string; contextId: string; reply: unknown },
    observations: readonly Observation[],
  ): Promise<void>;
  /**
   * Undefined: not there, or not the caller's for that action (default: `get`). The executing agent
   * may load its own.
   */
  loadTask(
    caller: Caller,
    taskId: string,
    action?: 'get' | 'cancel' | 'subscribe',
  ): Promise<TaskRecord | undefined>;
  /**
   * Writes record and observations together, and push configs of the caller's own with them; gives
   * the new version. `conflict` when the version is not the stored one, `terminal` when the stored
   * task is over.
   */
  saveTask(
    caller: Caller,
    record: TaskRecord,
    observations: readonly Observation[],
    pushConfigs?: readonly PushConfig[],
  ): Promise<{ version: number }>;
  listTasks(caller: Caller, query: TaskQuery): Promise<TaskPage>;
  /** What the client side of a binding saw. */
  observe(caller: Caller, observations: readonly Observation[]): Promise<void>;
}

/** What tells a hub which processes of an agent are alive, and gives one what others left. */
export interface WorkerPorts {
  /** This process is alive. `due`: tasks of its agent wait for a process to take them up. */
  beat(given: Beat): Promise<Pulse>;
  /** It ends in order. */
  leave(given: Pick<Beat, 'worker'>): Promise<void>;
  /**
   * Unfinished tasks of its agent that no living process works on are this one's from now on, some at a
   * time; none when there are none left. What another process still writes of them is `conflict`.
   */
  takeUp(given: Taking): Promise<readonly TaskRecord[]>;
}

/** What sending push notifications needs of a hub beside A2aPorts. Rights are checked by each method. */
export interface PushPorts {
  /** Keeps one of the caller's own, over an equal id. `quota` when the task has too many. */
  savePushConfig(caller: Caller, config: PushConfig): Promise<void>;
  /**
   * The caller's own for a task, secrets and all. To the executing agent: those of everybody who
   * still may be told; without a task, those of finished tasks that nobody settled in time, which no
   * other process of the agent is given for a while.
   */
  loadPushConfigs(caller: Caller, query: { taskId?: string }): Promise<readonly PushConfig[]>;
  /** Gone already is as good as deleted. */
  deletePushConfig(caller: Caller, taskId: string, id: string): Promise<void>;
  /** The agent's word that a finished task was told to this one, or that telling was given up. */
  settlePushConfig(
    caller: Caller,
    config: { taskId: string; id: string; owner: string },
  ): Promise<void>;
}
