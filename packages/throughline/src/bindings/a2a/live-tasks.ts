import type { Message, SendMessageRequest, Task } from '@a2a-js/sdk';
import { RequestContext, type ServerCallContext } from '@a2a-js/sdk/server';
import type { Envelope } from '../../model/envelope.ts';
import type { Party } from '../../model/observation.ts';
import type { Caller, Principal } from '../../model/principal.ts';
import type { TaskRecord } from '../../model/task-record.ts';
import { callContext, holdExecution } from './call.ts';
import type { Peers } from './changes.ts';
import { LiveTask, type LiveDeps } from './live-task.ts';
import { sleep } from './retry.ts';
import { taskOf, Work, type Arrival } from './task-store.ts';
import { measure } from '../../telemetry/measure.ts';
import type { Trace } from '../../telemetry/trace.ts';

/** One message that an executor shall work on. */
export interface Turn {
  readonly request: SendMessageRequest;
  /** With the ids of the admitted context and, when it continues one, task. */
  readonly message: Message;
  readonly caller: Caller;
  readonly context: ServerCallContext;
  readonly envelope: Envelope | undefined;
  readonly trace: Trace | undefined;
  /** The task it continues. */
  readonly record: TaskRecord | undefined;
  readonly referenceTasks: Task[];
  readonly resumed: boolean;
  readonly admission?: Arrival['admission'];
  readonly push?: Arrival['push'];
}

/**
 * How a principal appears in the graph. Authentication tells agents from others, and no more: agents
 * say their own name, whoever else calls goes by the principal's id.
 */
export const partyOf = ({ id, role }: Pick<Principal, 'id' | 'role'>): Party =>
  role === 'agent' ? { kind: 'agent', principal: id } : { kind: 'user', principal: id, name: id };

/** The tasks that this process works on now, by id. */
export class LiveTasks {
  readonly #deps: LiveDeps;
  readonly #agent: Caller;
  readonly #peers: Omit<Peers, 'client'>;
  readonly #tasks = new Map<string, LiveTask>();

  constructor(deps: LiveDeps, agent: Principal, peers: Omit<Peers, 'client'>) {
    this.#deps = deps;
    this.#agent = { principal: agent };
    this.#peers = peers;
  }

  get(taskId: string): LiveTask | undefined {
    return this.#tasks.get(taskId);
  }

  /**
   * Puts the executor to work. `attach` is called before anything happens, so that no update is
   * missed.
   */
  begin<T>(turn: Turn, attach: (live: LiveTask) => T): { live: LiveTask; attached: T } {
    const { record, message, caller, envelope, context } = turn;
    const existing = record === undefined ? undefined : this.#tasks.get(record.id);
    const live = existing ?? this.#open(turn);
    const attached = attach(live);
    const named: Message = { ...message, taskId: live.id };
    holdExecution(context, {
      caller: caller.principal,
      ...(envelope === undefined ? {} : { envelope }),
      ...(turn.trace === undefined ? {} : { trace: turn.trace }),
      resumed: turn.resumed,
    });
    const request = new RequestContext(
      { ...turn.request, message: named },
      live.id,
      live.contextId,
      context,
      record === undefined ? undefined : taskOf(record),
      turn.referenceTasks,
    );
    const client = partyOf(caller.principal);
    const { push, admission } = turn;
    // Nobody's credential is at hand any more when a restart runs it: the agent writes as itself.
    const writer = turn.resumed ? this.#agent : caller;
    const arrival = { message: named, caller: writer, client, envelope, push, admission };
    live.start(request, arrival, turn.trace);
    return { live, attached };
  }

  /** Resolves when nothing is worked on any more (true), or after so many milliseconds (false). */
  async drain(ms: number): Promise<boolean> {
    const stop = new AbortController();
    const late = sleep(ms, stop.signal).then(() => false);
    const idle = async (): Promise<boolean> => {
      while (this.#tasks.size > 0) await Promise.all([...this.#tasks.values()].map((t) => t.done));
      return true;
    };
    const result = await Promise.race([idle(), late]);
    stop.abort();
    return result;
  }

  #open({ record, message, caller, resumed }: Turn): LiveTask {
    const id = record?.id ?? this.#deps.newId();
    const work = new Work({
      agent: this.#agent,
      peers: this.#peers,
      client: partyOf(caller.principal),
      sender: caller.principal,
      record,
      resumed,
    });
    const context = callContext(this.#agent);
    this.#deps.store.attach(context, work);
    const live = new LiveTask(this.#deps, { id, contextId: message.contextId }, work, context);
    this.#tasks.set(id, live);
    measure('throughline.tasks.working');
    void this.#forget(live);
    return live;
  }

  async #forget(live: LiveTask): Promise<void> {
    await live.done;
    measure('throughline.tasks.working', -1);
    if (this.#tasks.get(live.id) === live) this.#tasks.delete(live.id);
  }
}
