import type { CountTokens } from '../handover/count-tokens.ts';
import type { Grade } from '../handover/judge.ts';
import type { Selector } from '../handover/select.ts';
import type { AgentContext } from '../model/agent-context.ts';
import type { Connect, KnownAgent } from './connection.ts';
import type { Contents } from './contents.ts';
import type { OnEvent } from './events.ts';
import type { Journal } from './journal.ts';
import type { MasterPorts } from './ports.ts';
import type { Subtask } from './workflow.ts';

/** What a grader may look at. */
export interface GradeRequest {
  readonly subtask: Subtask;
  readonly context: AgentContext;
  /** Text of an output of that attempt by its name; undefined when there is none or it is media. */
  readonly output: (name: string) => Promise<string | undefined>;
}

/** Looks at the meaning of a result; undefined when it has no opinion on that subtask. */
export type Grader = (request: GradeRequest) => Promise<Grade | undefined> | Grade | undefined;

/** What every step of a run works with. */
export interface RunContext {
  readonly ports: MasterPorts;
  /** The Master's own principal id and name. */
  readonly self: { readonly id: string; readonly name: string };
  readonly agents: ReadonlyMap<string, KnownAgent>;
  readonly connect: Connect;
  readonly journal: Journal;
  readonly contents: Contents;
  readonly emit: OnEvent;
  readonly count: CountTokens;
  readonly tokenizer: string;
  readonly selector: Selector | undefined;
  readonly grade: Grader | undefined;
  readonly now: () => Date;
  /** Milliseconds before the first retry of a broken connection; doubled each time up to 5 s. */
  readonly retryMs: number;
  /** The run is given up by this process; it stays resumable. */
  readonly signal: AbortSignal;
}
