import type { Message, StreamResponse, Task, TaskArtifactUpdateEvent } from '@a2a-js/sdk';
import { ThroughlineError } from '../../errors.ts';
import type { Part } from '../../handover/parts.ts';
import { foreignId } from '../../model/ids.ts';
import type { AwaitingWhat, TaskState } from '../../model/task.ts';
import { isSettled, partsFromWire, stateOf, textOf } from './wire.ts';

export interface PeerOutput {
  /** Protocol-local id of the artifact. */
  readonly id: string;
  readonly name: string;
  readonly parts: readonly Part[];
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** A peer's task as far as it is known by now, in our words. */
export interface PeerTask {
  readonly contextId: string;
  /** Absent for a reply by message alone. */
  readonly taskId?: string;
  readonly state: TaskState;
  readonly awaiting?: AwaitingWhat;
  /** Of the last status message, or of the reply. */
  readonly text: string;
  /** Parts of the last status message, or of the reply. */
  readonly parts: readonly Part[];
  /** Metadata of the update that this came with. */
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly outputs: readonly PeerOutput[];
}

const broken = (what: string): ThroughlineError =>
  new ThroughlineError('invalid', `the agent's answer breaks the protocol: ${what}`);

function usable(id: string, what: string): string {
  if (foreignId.safeParse(id).success) return id;
  throw broken(`its ${what} is not usable: empty, too long or not one segment`);
}

const outputsOf = (task: Task): PeerOutput[] =>
  task.artifacts.map(({ artifactId, name, parts, metadata }) => ({
    id: artifactId,
    name,
    parts: partsFromWire(parts),
    ...(metadata === undefined ? {} : { metadata }),
  }));

export const viewOf = (task: Task, metadata: Task['metadata'] = task.metadata): PeerTask => ({
  contextId: usable(task.contextId, 'contextId'),
  taskId: usable(task.id, 'task id'),
  ...stateOf(task),
  text: textOf(task.status?.message?.parts ?? []),
  parts: partsFromWire(task.status?.message?.parts ?? []),
  metadata: metadata ?? {},
  outputs: outputsOf(task),
});

/** Puts a peer's updates together to its task; throws `invalid` when they do not fit. */
export class PeerUpdates {
  /** What the message was sent into; an answer from elsewhere is refused. */
  readonly #contextId: string | undefined;
  #task: Task | undefined;
  #reply: Message | undefined;
  #metadata: Task['metadata'];

  constructor(contextId?: string) {
    this.#contextId = contextId;
  }

  get task(): Task | undefined {
    return this.#task;
  }

  get reply(): Message | undefined {
    return this.#reply;
  }

  /** The task is over or waits for something, or a message was the whole answer. */
  get settled(): boolean {
    return (
      this.#reply !== undefined || (this.#task !== undefined && isSettled(stateOf(this.#task)))
    );
  }

  apply({ payload }: StreamResponse): void {
    if (payload === undefined) throw broken('an update with nothing in it');
    if (payload.$case === 'message') {
      this.#reply = payload.value;
      this.#metadata = payload.value.metadata;
    } else if (payload.$case === 'task') {
      this.#task = this.#same(payload.value.id, payload.value);
      this.#metadata = payload.value.metadata;
    } else {
      const { taskId, metadata } = payload.value;
      const task = this.#task;
      if (task === undefined) throw broken('an update before there is a task');
      this.#same(taskId === '' ? task.id : taskId, task);
      this.#task =
        payload.$case === 'statusUpdate'
          ? { ...task, status: payload.value.status ?? task.status }
          : withArtifact(task, payload.value);
      this.#metadata = metadata;
    }
    this.#checkContext();
  }

  /** What is known by now; `fallback` names the context where the peer names none. */
  view(fallback: string): PeerTask {
    if (this.#task !== undefined && this.#reply === undefined) {
      return viewOf(this.#task, this.#metadata);
    }
    const reply = this.#reply;
    if (reply === undefined) throw broken('nothing came');
    const contextId = reply.contextId === '' ? fallback : reply.contextId;
    return {
      contextId: usable(contextId, 'contextId'),
      ...(reply.taskId === '' ? {} : { taskId: usable(reply.taskId, 'task id') }),
      state: 'completed',
      text: textOf(reply.parts),
      parts: partsFromWire(reply.parts),
      metadata: this.#metadata ?? {},
      outputs: [],
    };
  }

  #same(taskId: string, task: Task): Task {
    usable(taskId, 'task id');
    if (this.#task !== undefined && this.#task.id !== taskId)
      throw broken('another task than before');
    return task;
  }

  #checkContext(): void {
    const answered = this.#reply?.contextId ?? this.#task?.contextId ?? '';
    if (this.#contextId !== undefined && answered !== '' && answered !== this.#contextId) {
      throw broken('it came from another context than the message was sent into');
    }
  }
}

function withArtifact(task: Task, { artifact, append }: TaskArtifactUpdateEvent): Task {
  if (artifact === undefined) throw broken('an artifact update without artifact');
  const at = task.artifacts.findIndex(({ artifactId }) => artifactId === artifact.artifactId);
  const known = task.artifacts[at];
  if (known === undefined) {
    // What came before this chunk is lost; half a result must not pass for the whole.
    if (append) throw broken(`a chunk for the artifact ${artifact.artifactId}, which never began`);
    return { ...task, artifacts: [...task.artifacts, artifact] };
  }
  const next = append ? { ...known, parts: [...known.parts, ...artifact.parts] } : artifact;
  return { ...task, artifacts: task.artifacts.with(at, next) };
}
