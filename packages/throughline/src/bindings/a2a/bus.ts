import {
  Message,
  Task,
  TaskArtifactUpdateEvent,
  TaskStatusUpdateEvent,
  type Artifact,
} from '@a2a-js/sdk';
import { DefaultExecutionEventBus, type AgentExecutionEvent } from '@a2a-js/sdk/server';
import { foreignId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import { stateFromWire } from './wire.ts';

/** What an executor's events are held to. */
export interface BusRules {
  readonly taskId: string;
  readonly contextId: string;
  /** The task as stored before, whose artifacts may be appended to. */
  readonly before: Task | undefined;
  readonly newId: () => string;
  /** An event that holds; a copy of its own. */
  readonly accept: (event: AgentExecutionEvent) => void;
  /** Waits until what was accepted is stored or can't be; whether the store has the task then. */
  readonly stored: () => Promise<boolean>;
  /** An event that does not; the reason is a sentence about the executor. */
  readonly refuse: (reason: string) => void;
}

class Breach extends Error {}

const again = (json: unknown): unknown => JSON.parse(JSON.stringify(json));

/** A copy in the wire's own form: later changes by the executor do not reach it. */
function copy(event: AgentExecutionEvent): AgentExecutionEvent {
  if (event.kind === 'message') {
    return { kind: event.kind, data: Message.fromJSON(again(Message.toJSON(event.data))) };
  }
  if (event.kind === 'task') {
    return { kind: event.kind, data: Task.fromJSON(again(Task.toJSON(event.data))) };
  }
  if (event.kind === 'statusUpdate') {
    const json = again(TaskStatusUpdateEvent.toJSON(event.data));
    return { kind: event.kind, data: TaskStatusUpdateEvent.fromJSON(json) };
  }
  const json = again(TaskArtifactUpdateEvent.toJSON(event.data));
  return { kind: event.kind, data: TaskArtifactUpdateEvent.fromJSON(json) };
}

/**
 * The bus that an executor publishes on. Ids left empty are filled in; another task or context than
 * the admitted one, an update before there is a task, a chunk for an artifact that is not there, or
 * a shape that the wire has no form for, is a breach. After one, or once closed, nothing counts.
 */
export class CheckedBus extends DefaultExecutionEventBus {
  readonly #rules: BusRules;
  readonly #artifacts: Set<string>;
  #pattern: 'open' | 'task' | 'message';
  #closed = false;

  constructor(rules: BusRules) {
    super();
    this.#rules = rules;
    this.#pattern = rules.before === undefined ? 'open' : 'task';
    this.#artifacts = new Set(rules.before?.artifacts.map(({ artifactId }) => artifactId));
  }

  override publish(event: AgentExecutionEvent): void {
    if (this.#closed) return;
    let checked: AgentExecutionEvent;
    try {
      checked = copy(event);
      this.#check(checked);
    } catch (error) {
      this.close();
      const reason =
        error instanceof Breach ? error.message : 'published what the wire can not carry';
      this.#rules.refuse(reason);
      return;
    }
    this.#rules.accept(checked);
    super.publish(checked);
  }

  close(): void {
    this.#closed = true;
  }

  /** Waits until all that was published is stored, or can't be; whether the store has the task then. */
  stored(): Promise<boolean> {
    return this.#rules.stored();
  }

  #check(event: AgentExecutionEvent): void {
    if (event.kind === 'message') return this.#checkReply(event.data);
    if (this.#pattern === 'message') throw new Breach('published an update after its only message');
    if (event.kind === 'task') {
      this.#pattern = 'task';
      event.data.id = this.#own('taskId', event.data.id);
      event.data.contextId = this.#own('contextId', event.data.contextId);
      for (const artifact of event.data.artifacts) this.#checkArtifact(artifact, false);
      for (const message of event.data.history) this.#fill(message);
      return this.#checkStatus(event.data.status);
    }
    if (this.#pattern === 'open') {
      throw new Breach(`published a ${event.kind} before any task or message`);
    }
    event.data.taskId = this.#own('taskId', event.data.taskId);
    event.data.contextId = this.#own('contextId', event.data.contextId);
    if (event.kind === 'statusUpdate') return this.#checkStatus(event.data.status);
    if (event.data.artifact === undefined) throw new Breach('published an update without artifact');
    return this.#checkArtifact(event.data.artifact, event.data.append);
  }

  #checkReply(message: Message): void {
    // A bare message may also answer a follow-up on a task that was there before.
    if (
      this.#pattern === 'message' ||
      (this.#pattern === 'task' && this.#rules.before === undefined)
    ) {
      throw new Breach('published a message after its answer had begun');
    }
    this.#pattern = 'message';
    this.#fill(message);
    if (message.parts.length > limits.parts) throw new Breach('published too many parts');
  }

  #checkStatus(status: Task['status']): void {
    if (stateFromWire(status?.state) === undefined) {
      throw new Breach('published a state that A2A does not know');
    }
    if (status?.message !== undefined) this.#fill(status.message);
  }

  #checkArtifact(artifact: Artifact, append: boolean): void {
    if (!foreignId.safeParse(artifact.artifactId).success) {
      throw new Breach('published an artifact with an unusable id');
    }
    if (append && !this.#artifacts.has(artifact.artifactId)) {
      throw new Breach(`appended to the artifact ${artifact.artifactId}, which does not exist`);
    }
    if (artifact.parts.length > limits.parts) throw new Breach('published too many parts');
    this.#artifacts.add(artifact.artifactId);
  }

  #fill(message: Message): void {
    message.messageId = message.messageId === '' ? this.#rules.newId() : message.messageId;
    message.contextId = this.#own('contextId', message.contextId);
    const taskId = this.#own('taskId', message.taskId);
    // A reply by message alone makes no task, so it must not name one.
    message.taskId = this.#pattern === 'task' || this.#rules.before !== undefined ? taskId : '';
  }

  #own(field: 'taskId' | 'contextId', id: string): string {
    const own = this.#rules[field];
    if (id === '' || id === own) return own;
    throw new Breach(`published another ${field} than the one it was given`);
  }
}
