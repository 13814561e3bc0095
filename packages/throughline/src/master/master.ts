import { countTokens, tokenizerName, type CountTokens } from '../handover/count-tokens.ts';
import type { Selector } from '../handover/select.ts';
import type { PeerTransport } from '../bindings/a2a/peer-transport.ts';
import type { A2aPorts } from '../bindings/a2a/ports.ts';
import { ThroughlineError } from '../errors.ts';
import type { Principal } from '../model/principal.ts';
import { connectOverA2a } from './a2a-connection.ts';
import { checkPlan } from './check-plan.ts';
import type { Connect, KnownAgent } from './connection.ts';
import { Contents } from './contents.ts';
import type { Grader, RunContext } from './context.ts';
import { drive } from './drive.ts';
import type { OnEvent } from './events.ts';
import { isDone, Journal } from './journal.ts';
import { offload, type OfferedContent } from './offer.ts';
import { patient } from './patient.ts';
import type { MasterPorts } from './ports.ts';
import { reportOf, type RunReport } from './report.ts';
import { makeTaskContext } from './task-context.ts';
import { asWorkflow, type Workflow, type WorkflowInput } from './workflow.ts';

export interface MasterOptions {
  readonly ports: MasterPorts;
  /** Where the client side of A2A tells what it sees: the hub, or a client of it. */
  readonly a2a: Pick<A2aPorts, 'observe'>;
  /** The Master's own principal, whose ports these are. */
  readonly principal: Principal;
  readonly name: string;
  readonly agents: readonly KnownAgent[];
  /** How agents are reached. Default: over A2A. */
  readonly connect?: Connect;
  /** Plain http to another machine is refused unless this is set. */
  readonly allowPlainHttp?: boolean;
  /** Which way to speak with agents whose card names it. Default: the first that the card names. */
  readonly transport?: PeerTransport;
  /** Bytes of one answer of an agent. Default 32 MiB. */
  readonly maxResponseBytes?: number;
  /** Told of observations that could not be recorded; the run goes on. */
  readonly onFault?: (error: unknown) => void;
  /** Subtasks at work at once; 1 is one round after the other. Default 4. */
  readonly parallel?: number;
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
}

export interface RunRequest {
  /** A2A task of the request; one run each, so that asking again goes on with it. */
  readonly taskId: string;
  /** The user's words. */
  readonly query: string;
  readonly workflow: Workflow | WorkflowInput;
  readonly offered: readonly OfferedContent[];
}

export interface RunOptions {
  readonly onEvent?: OnEvent;
  /** Gives the run up in this process; it stays resumable. */
  readonly signal?: AbortSignal;
}

export interface Master {
  /**
   * Runs a request to its end. Everything is decided in writing before it is done, so that any other
   * Master on the same ports may go on with it.
   *
   * @throws ThroughlineError `invalid` for a plan that can't run, `conflict` when another process
   *   took the run over.
   */
  run(request: RunRequest, options?: RunOptions): Promise<RunReport>;
  /** Goes on with a run that a process left. @throws ThroughlineError `not-found`. */
  resume(runId: string, options?: RunOptions): Promise<RunReport>;
  /** How a run stands. @throws ThroughlineError `not-found`. */
  status(runId: string): Promise<RunReport>;
  /** Runs that are not done. */
  openRuns(): Promise<readonly string[]>;
}

/** A Master: plans, selects, dispatches, judges; a client of its hub like any other. */
export function createMaster(given: MasterOptions): Master {
  const waiting = ({ signal }: RunOptions = {}): MasterOptions => ({
    ...given,
    ports: patient(given.ports, signal),
  });
  const stored = async ({ ports }: MasterOptions, runId: string): Promise<Journal> => {
    const journal = await Journal.load(ports, runId);
    if (journal === undefined) {
      throw new ThroughlineError('not-found', `There is no run ${runId} of this Master.`);
    }
    return journal;
  };
  return {
    run: async (request, runOptions = {}) => {
      const options = waiting(runOptions);
      const { task } = await options.ports.locate(request.taskId);
      const journal = (await Journal.load(options.ports, task)) ?? (await begin(options, request));
      return finish(options, journal, runOptions);
    },
    resume: async (runId, runOptions = {}) => {
      const options = waiting(runOptions);
      return finish(options, await stored(options, runId), runOptions);
    },
    status: async (runId) => {
      const { state } = await stored(waiting(), runId);
      return reportOf(state, isDone(state));
    },
    openRuns: () => waiting().ports.openRuns(),
  };
}

/** Checks the plan, offloads what is offered and writes the run's first state. */
async function begin(options: MasterOptions, request: RunRequest): Promise<Journal> {
  const { ports, now = () => new Date() } = options;
  const workflow = asWorkflow(request.workflow);
  checkPlan(workflow, {
    agents: options.agents.map(({ id }) => id),
    offered: request.offered.map(({ name }) => name),
  });
  const place = await ports.locate(request.taskId);
  const items = await offload(ports, place.activity, request.offered);
  const journal = new Journal(
    ports,
    {
      v: 1,
      id: place.task,
      requestTask: request.taskId,
      ...place,
      query: request.query,
      workflow,
      taskContext: makeTaskContext(place.task, request.query, workflow, now()),
      items,
      subtasks: Object.fromEntries(
        workflow.subtasks.map(({ id }) => [id, { status: 'waiting' as const, attempts: [] }]),
      ),
    },
    0,
  );
  await journal.decide();
  return journal;
}

async function finish(
  options: MasterOptions,
  journal: Journal,
  { onEvent = () => undefined, signal }: RunOptions,
): Promise<RunReport> {
  const { ports, principal, name, parallel = 4, retryMs = 250 } = options;
  const given = new AbortController();
  const run: RunContext = {
    ports,
    self: { id: principal.id, name },
    agents: new Map(options.agents.map((agent) => [agent.id, agent])),
    connect: options.connect ?? connectOverA2a({ ...options, retryMs }),
    journal,
    contents: new Contents(ports),
    emit: onEvent,
    count: options.count ?? countTokens,
    tokenizer: options.tokenizer ?? (options.count === undefined ? tokenizerName : 'custom'),
    selector: options.selector,
    grade: options.grade,
    now: options.now ?? (() => new Date()),
    retryMs,
    signal: signal === undefined ? given.signal : AbortSignal.any([signal, given.signal]),
  };
  await drive(run, parallel, (reason) => given.abort(reason));
  return reportOf(journal.state, isDone(journal.state));
}
