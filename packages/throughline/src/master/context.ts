import type { CountTokens } from '../handover/count-tokens.ts';
import type { Grade } from '../handover/judge.ts';
import type { Selector } from '../handover/select.ts';
import type { AgentContext } from '../model/agent-context.ts';
import type { GraderSpec } from '../model/grader.ts';
import type { Connect, KnownAgent } from './connection.ts';
import type { Contents } from './contents.ts';
import type { OnEvent } from './events.ts';
import type { Journal } from './journal.ts';
import type { MasterPorts } from './ports.ts';
import type { OpenQuestion } from './run-state.ts';
import type { Prices } from './usage.ts';
import type { Subtask } from '../model/workflow.ts';

/** What a grader may look at. */
export interface GradeRequest {
  readonly subtask: Subtask;
  readonly context: AgentContext;
  /** Text of an output of that attempt by its name; undefined when there is none or it is media. */
  readonly output: (name: string) => Promise<string | undefined>;
  /** Text of an item that the agent was given, by its ContextID; undefined for any other. */
  readonly material: (contextId: string) => Promise<string | undefined>;
}

/** Looks at the meaning of a result; undefined when it has no opinion on that subtask. */
export type Grader = ((request: GradeRequest) => Promise<Grade | undefined> | Grade | undefined) & {
  /** Throws for a grader that it does not have, so that a plan which asks for it is not begun. */
  readonly check?: (spec: GraderSpec) => void;
};

/** Something asked in the middle of a run. */
export interface Asking {
  readonly runId: string;
  readonly question: OpenQuestion;
  /** The agent that asks; absent where the Master itself asks about a limit. */
  readonly agent?: string;
  /** Aborted when the answer is no longer wanted. */
  readonly signal: AbortSignal;
}

/** Answers for the user; undefined: it does not know, so the user is to be asked. */
export type OnQuestion = (asking: Asking) => Promise<string | undefined> | string | undefined;

/** What a run may use up; what is left out has no bound. */
export interface RunLimits {
  /** Handed over and used by models, as far as agents say so. */
  readonly tokens?: number;
  /** From its beginning on. */
  readonly seconds?: number;
  /** In the unit of the prices. */
  readonly money?: number;
  /**
   * What happens when one is reached. `fail` (default): nothing new is begun, what is under way may end
   * (unless the time is over), the run ends as failed. `ask`: the user is asked for as much again.
   */
  readonly onHit?: 'fail' | 'ask';
}

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
  readonly grade: Grader;
  readonly onQuestion: OnQuestion | undefined;
  readonly limits: RunLimits;
  readonly prices: Prices;
  readonly now: () => Date;
  /** Milliseconds to wait for an agent that is asked to stop. */
  readonly stopMs: number;
  /** Milliseconds before the first retry of a broken connection; doubled each time up to 5 s. */
  readonly retryMs: number;
  /** Milliseconds between two looks at what other processes decided about the run; absent: none. */
  readonly lookMs: number | undefined;
  /** The run is given up by this process; it stays resumable. */
  readonly signal: AbortSignal;
}
