import type { PeerTransport } from '../bindings/a2a/peer-transport.ts';
import type { A2aPorts } from '../bindings/a2a/ports.ts';
import type { Backoff } from '../bindings/a2a/retry.ts';
import type { CountTokens } from '../handover/count-tokens.ts';
import type { Selector } from '../handover/select.ts';
import type { Principal } from '../model/principal.ts';
import type { RunReport, StopAnswer } from '../model/run.ts';
import type { Interaction, Workflow, WorkflowInput } from '../model/workflow.ts';
import type { Connect, KnownAgent } from './connection.ts';
import type { Grader, OnQuestion, RunLimits } from './context.ts';
import type { RunEngine } from './engine.ts';
import type { OnEvent } from './events.ts';
import type { ForeignStores } from './foreign.ts';
import type { InterruptInput, Replanner } from './interrupt.ts';
import type { OfferedContent } from './offer.ts';
import type { Planner } from './planner.ts';
import type { MasterPorts, RunStore } from './ports.ts';
import type { RunProgress } from './progress.ts';
import type { Answer } from './questions.ts';
import { RunDesk } from './run-desk.ts';
import type { Prices } from './usage.ts';

export interface MasterOptions {
  readonly ports: MasterPorts;
  /** Keeps the runs' decisions elsewhere than the hub does; an engine's leases then come from there. */
  readonly runs?: RunStore;
  /**
   * Runs are driven by any number of processes like this one: what one leaves that is gone, another goes
   * on with by itself. Default: whoever asks for a run drives it, and a run that is left waits for `resume`.
   */
  readonly engine?: RunEngine;
  /** Where the client side of A2A tells what it sees: the hub, or a client of it. */
  readonly a2a: Pick<A2aPorts, 'observe'>;
  /** The Master's own principal, whose ports these are. */
  readonly principal: Principal;
  readonly name: string;
  readonly agents: readonly KnownAgent[];
  /** Stores beside the hub's in which offered content may lie. Default: none. */
  readonly stores?: ForeignStores;
  /** Plans requests that bring no workflow. */
  readonly planner?: Planner;
  /** How often a planner may try, the first time included. Default 3. */
  readonly planTries?: number;
  /** Decides what a barge-in means. Default: `redoWhatDepends`. */
  readonly replan?: Replanner;
  /** How agents are reached. Default: over A2A. */
  readonly connect?: Connect;
  /** Plain http to another machine is refused unless this is set. */
  readonly allowPlainHttp?: boolean;
  /** Which way to speak with agents whose card names it. Default: the first that the card names. */
  readonly transport?: PeerTransport;
  /** Bytes of one answer of an agent. Default 32 MiB. */
  readonly maxResponseBytes?: number;
  /**
   * Hosts outside of the domain that are told the trace id of the call worked on, as `name.example` or
   * `*.example`. Default: none; agents behind the hub always are.
   */
  readonly traceHosts?: readonly string[];
  /** Told of observations that could not be recorded; the run goes on. */
  readonly onFault?: (error: unknown) => void;
  /** Of plans that do not say. Default: asynchronous. */
  readonly interaction?: Interaction;
  /** Subtasks at work at once where the interaction is asynchronous. Default 4. */
  readonly parallel?: number;
  readonly limits?: RunLimits;
  /** Prices of a million tokens, by `agent/model`, model or agent; `planner` and `grader` are the Master's own. */
  readonly prices?: Prices;
  /** Narrows what a subtask gets; default: exactly what it needs. */
  readonly selector?: Selector;
  /** Looks at the meaning of results. */
  readonly grade?: Grader;
  readonly count?: CountTokens;
  /** Name of the tokenizer behind `count`. */
  readonly tokenizer?: string;
  readonly now?: () => Date;
  /** Milliseconds before a broken connection is tried again for the first time. Default 250. */
  readonly retryMs?: number;
  /**
   * With an engine: how a run is tried again that could not go on for a reason that passes; each step
   * forward counts anew. Then it is `suspended` with that reason, for `resume`. Default: 12 times in
   * half an hour.
   */
  readonly again?: Backoff;
  /** Milliseconds to wait for an agent that is asked to stop. Default 10,000. */
  readonly stopMs?: number;
  /**
   * Milliseconds between two looks at what other processes of this Master decided about a run that is
   * driven here (to suspend, interrupt or cancel it, an answer). Default: that is found out at the next
   * write; with an engine, two seconds.
   */
  readonly lookMs?: number;
}

export interface RunRequest {
  /** A2A task of the request; one run each, so that asking again goes on with it. */
  readonly taskId: string;
  /** The user's words. */
  readonly query: string;
  /** The plan, where it is known: of a file (`parseWorkflow`), or as a value. Else the planner makes one. */
  readonly workflow?: Workflow | WorkflowInput;
  /** What must be reached; each must be served by a subtask of the plan. */
  readonly goals?: readonly string[];
  readonly offered: readonly OfferedContent[];
  /**
   * All that the user said on that task, oldest first; the first is the request itself. Each later one is
   * taken once: it answers what the run asks, lets a run that is held back go on, or is a barge-in (see
   * `Master.interrupt`). What comes when the run is over changes nothing.
   */
  readonly messages?: readonly UserMessage[];
}

/** What a user said, by the id of the message that brought it. */
export interface UserMessage {
  readonly id: string;
  readonly text: string;
}

export interface RunOptions {
  readonly onEvent?: OnEvent;
  /** Answers what agents ask, without asking the user. */
  readonly onQuestion?: OnQuestion;
  /** Gives the run up in this process; it stays resumable. */
  readonly signal?: AbortSignal;
}

/** A run under way: its progress for whoever reads, and its report at the end. */
export interface StartedRun extends AsyncIterable<RunProgress> {
  /** Resolves like `run`. */
  readonly report: Promise<RunReport>;
  /** As far as it is known now. */
  readonly progress: RunProgress;
}

/** Of the work that the Master handed out, what became of it when it was asked to stop. */
export type Cancelled = RunReport & {
  readonly answers: Readonly<Record<StopAnswer, readonly StoppedWork[]>>;
};

export interface StoppedWork {
  readonly subtask: string;
  readonly agent: string;
  readonly task: string;
}

/** What a barge-in led to; the run goes on by it. */
export type Interrupted = RunReport['interruptions'][number];

/**
 * Everything is decided in writing before it is done, so that any other Master on the same ports may go on
 * with a run: after a process died at any step, `resume` brings it to its end.
 *
 * A run resolves when it is over (`done`), and also when it can't go on without being told: `status` is
 * then `awaiting-input`, with `questions`, or `suspended`.
 */
export interface Master {
  /**
   * Runs a request to its end. The same task again goes on with its run.
   *
   * @throws ThroughlineError `unavailable` when there is no plan that can run (why is its `cause`),
   *   `invalid` when selection fails, `conflict` when another process took the run over.
   */
  run(request: RunRequest, options?: RunOptions): Promise<RunReport>;
  /** The same, with progress to read while it goes. */
  start(request: RunRequest, options?: RunOptions): StartedRun;
  /** Goes on with a run that a process left, that was suspended or was answered. @throws `not-found`. */
  resume(runId: string, options?: RunOptions): Promise<RunReport>;
  /** The same, with progress to read while it goes. */
  startAgain(runId: string, options?: RunOptions): StartedRun;
  /**
   * Answers what a run asks. A run that is driven here goes on at once; else call `resume`. The same answer
   * again changes nothing.
   *
   * @throws ThroughlineError `not-found` for a run or question that is not there.
   */
  answer(runId: string, answer: Answer): Promise<void>;
  /** Begins nothing new until `resume`; what is under way may end. */
  suspend(runId: string): Promise<RunReport>;
  /**
   * A barge-in: the input modifies the request, or one item of it. What depends on that is worked out
   * through lineage, the replanner decides for each affected subtask, and every change names the input as
   * its cause. A run that is driven here acts on it at once; else call `resume`.
   *
   * @throws ThroughlineError `not-found`, `invalid`, `terminal` for a run that is over.
   */
  interrupt(runId: string, input: InterruptInput): Promise<Interrupted>;
  /**
   * Ends a run: asks each of its agents that is at work to stop, or has the process do so that drives it,
   * and answers with what came of it. The run is over whatever they say.
   */
  cancel(runId: string, reason?: string): Promise<Cancelled>;
  /**
   * Whether a process that drives the run, this one or another, has seen what was decided last; a run that
   * nobody drives waits for `resume`. Waits for three times `lookMs` at most.
   */
  heeded(runId: string): Promise<boolean>;
  /** How a run stands. @throws ThroughlineError `not-found`. */
  status(runId: string): Promise<RunReport>;
  /** Runs that are not done. */
  openRuns(): Promise<readonly string[]>;
  /**
   * Ends this process's part, where it has an engine: takes up nothing more and gives up what it drives,
   * for others to go on with at once.
   */
  close(): Promise<void>;
}

/** A Master: plans, selects, dispatches, judges; a client of its hub like any other. */
export const createMaster = (options: MasterOptions): Master => new RunDesk(options);
