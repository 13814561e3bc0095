import type { Envelope } from '../model/envelope.ts';
import type { Part } from '../handover/parts.ts';
import type { AwaitingWhat, TaskState } from '../model/task.ts';

/** What goes out to an agent, in our words. */
export interface OutgoingMessage {
  readonly messageId: string;
  /** Both absent for the message that begins a task. */
  readonly contextId?: string;
  readonly taskId?: string;
  readonly parts: readonly Part[];
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Sent only to agents that declare the correlation extension; tells the observer in any case. */
  readonly envelope: Envelope;
  readonly extensions: readonly string[];
}

export interface AgentOutput {
  /** Protocol-local id of the artifact. */
  readonly id: string;
  readonly name: string;
  readonly parts: readonly Part[];
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** An agent's task as far as it is known by now. */
export interface AgentTask {
  readonly contextId: string;
  /** Absent for a reply by message alone. */
  readonly taskId?: string;
  readonly state: TaskState;
  readonly awaiting?: AwaitingWhat;
  /** Of the last status message, or of the reply. */
  readonly text: string;
  /** Metadata of the update that this came with. */
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly outputs: readonly AgentOutput[];
}

/** Which Dialog and Task of ours an exchange belongs to; for what the client side observes. */
export interface Place {
  readonly activity: string;
  readonly dialog: string;
  readonly task: string;
}

/**
 * What a Master needs of a connection to one agent. Both iterables give the task anew at each change
 * and end when the task is over, awaits something, or the connection ends. A connection that fails is
 * an error with `retryable`.
 */
export interface AgentConnection {
  /** Where the agent is reached. */
  readonly url: string;
  /** Extension URIs that the agent's card declares. */
  readonly extensions: ReadonlySet<string>;
  /** Thumbprint of the key that its card wants read tokens bound to. */
  readonly proofKey?: string;
  /** The message as it goes out, for counting. */
  encode(message: OutgoingMessage): string;
  send(message: OutgoingMessage, place: Place, signal: AbortSignal): AsyncIterable<AgentTask>;
  /** Goes on with a task that the agent has already: what it is now, then its changes. */
  follow(taskId: string, place: Place, signal: AbortSignal): AsyncIterable<AgentTask>;
  /**
   * Asks for the task to be cancelled and gives it as it is then, perhaps still at work. Throws
   * ThroughlineError, `terminal` for one that is over.
   */
  cancel(taskId: string, place: Place, signal: AbortSignal): Promise<AgentTask>;
  close(): Promise<void>;
}

/** An agent that a Master may invoke. */
export interface KnownAgent {
  /** Its principal id. */
  readonly id: string;
  readonly name: string;
  /** What it is good for, for a planner to choose by. */
  readonly description?: string;
  readonly url: string;
  /**
   * It is served behind this Master's own hub: it is called with a token for it alone, made anew for
   * each connection.
   */
  readonly behind?: 'hub';
  /**
   * Value of the Authorization header that opens it; never stored or logged. Not a key of the
   * Master's own hub: whoever is called could use it, too.
   */
  readonly credential?: string;
}

/** Opens connections; asked for again after one failed. */
export type Connect = (agent: KnownAgent, signal: AbortSignal) => Promise<AgentConnection>;
