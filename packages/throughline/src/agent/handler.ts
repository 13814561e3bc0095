import type { Compressed, CompressOptions } from '../handover/compress.ts';
import type { Part } from '../handover/parts.ts';
import type { AgentContext, ContextItem } from '../model/agent-context.ts';
import type { ContentKeeping, ContentRef } from '../model/content.ts';
import type { Principal } from '../model/principal.ts';

/** Content of a ContextItem, read with the token that came beside it and checked. */
export interface FetchedContent {
  readonly item: ContextItem;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  /** The bytes by the charset that the MediaType names; as UTF-8 where it names none, or an unknown one. */
  text(): string;
}

/** What every piece of work of an agent may use. */
export interface WorkIo {
  /** Aborted when the task is cancelled. */
  readonly signal: AbortSignal;
  /** What A2A calls this task and its context. */
  readonly taskId: string;
  readonly contextId: string;
  readonly caller: Principal;
  /** A process that died began this task before; the handler runs again from its start. */
  readonly resumed: boolean;
  /**
   * Offloads output under a name; it becomes an artifact by reference. The same name again in one
   * task, by a re-run for instance, replaces it. `keeping` says how long it is served, and where it may lie.
   *
   * @throws ThroughlineError `invalid` for a name that is none, `too-large` beyond the size bound,
   *   `unsupported` for a region that the hub does not keep.
   */
  output(
    name: string,
    mediaType: string,
    content: Uint8Array | string,
    keeping?: ContentKeeping,
  ): Promise<ContentRef>;
}

/** What a handler of a subtask may use beside that. */
export interface HandlerIo extends WorkIo {
  /**
   * Reads one of the AgentContext's items.
   *
   * @throws ThroughlineError `not-found` for an item that is not in it or may not be read, `damaged`
   *   when the content is not what was handed over, `too-large` beyond the size bound.
   */
  fetch(contextId: string): Promise<FetchedContent>;
  /**
   * All items that are text, reduced as the CompressionPolicy asks and their priorities allow, with a
   * report of what was left out. Items of other kinds are not read; fetch them one by one. Texts are
   * read for the todo items, or for `queries`; `pinned` facts survive byte for byte. How much was left
   * goes back to the Master.
   *
   * @throws ThroughlineError `unsupported` for a Strategy that is not known.
   */
  materials(asked?: Pick<CompressOptions, 'queries' | 'pinned'>): Promise<Compressed>;
  /**
   * Asks whoever gave the work. The task waits for input, and with the answer the handler runs again from
   * its start, in this process or another: the questions that it has asked before are then answered at
   * once, in their order. So ask before doing what may not be done twice.
   */
  ask(question: string): Promise<string>;
  /**
   * A todo item is done; told to the Master at once. Only items of this AgentContext, and of all of them
   * 131,072 characters: what is longer is an output.
   */
  itemDone(itemId: string, abstract: string): Promise<void>;
  /** What a model used for this subtask; told to the Master beside what is returned, also on failure. */
  spent(usage: ModelSpent): void;
}

/** What one model used, by its own count. */
export interface ModelSpent {
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** What a handler found of one success criterion. */
export interface CriterionFinding {
  readonly id: string;
  readonly passed: boolean;
  /** Names of outputs, or ContextIDs, that show it. */
  readonly evidence: readonly string[];
  /**
   * Traces that the Master may see: the id of the one that it called under, or names of outputs that hold
   * one. Others do not reach it. Default: the one that it called under.
   */
  readonly traces?: readonly string[];
}

/** First layer of evaluation, as far as the handler makes it; what it leaves out follows a default. */
export interface HandlerResult {
  readonly criteria?: readonly CriterionFinding[];
  /** From 0 to 1. */
  readonly confidence?: number;
  /** Why the result is not good enough, in the agent's words. */
  readonly failure?: string;
}

/**
 * Does a subtask. It may run twice for one task (after a crash), so it gives the same outputs under
 * the same names. What it throws ends the task as failed: a ThroughlineError with its message,
 * anything else with a general sentence.
 */
export type AgentHandler = (
  context: AgentContext,
  io: HandlerIo,
) => HandlerResult | void | Promise<HandlerResult | void>;

export interface ReceivedMessage {
  /** All its text. */
  readonly text: string;
  readonly parts: readonly Part[];
  readonly messageId: string;
}

export interface IncomingMessage extends ReceivedMessage {
  /** What came before it on this task, oldest first. */
  readonly earlier: readonly ReceivedMessage[];
}

export interface MessageIo extends WorkIo {
  /** Says how far the work is, to whoever watches. */
  progress(text: string): void;
}

/**
 * Answers a message without an AgentContext; the answer completes the task. A further message that comes
 * while the task is worked on is answered at the same time: the first answer ends the task.
 */
export type MessageHandler = (
  message: IncomingMessage,
  io: MessageIo,
) => Promise<MessageAnswer> | MessageAnswer;

export interface MessageAnswer {
  readonly text: string;
  /** Goes out as one artifact beside the outputs by reference. */
  readonly parts?: readonly Part[];
  /** The text is a question: the task waits for input, and the next message on it comes here again. */
  readonly asks?: true;
  /** How the task ends where it is not completed; the text says why. */
  readonly ends?: 'failed' | 'cancelled';
}
