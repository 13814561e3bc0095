import { randomUUID } from 'node:crypto';
import { criteriaGrader } from '../models/grade-criteria.ts';
import { countTokens, tokenizerName } from '../handover/count-tokens.ts';
import { ThroughlineError } from '../errors.ts';
import type { RunReport } from '../model/run.ts';
import type { Usage } from '../model/usage.ts';
import { inSpan } from '../telemetry/span.ts';
import { connectOverA2a } from './a2a-connection.ts';
import { Contents } from './contents.ts';
import type { Grader, RunContext } from './context.ts';
import { RunCarrier, tellingDriver } from './carrier.ts';
import { checkAgents } from './check-agents.ts';
import { Driver, endRun } from './driver.ts';
import type { OnEvent, RunEvent } from './events.ts';
import { planInterruption, redoWhatDepends, type InterruptInput } from './interrupt.ts';
import { endedElsewhere, heededElsewhere } from './heeding.ts';
import { beganEvent, interruptedOf } from './interruptions.ts';
import { Journal } from './journal.ts';
import type {
  Cancelled,
  Interrupted,
  Master,
  MasterOptions,
  RunOptions,
  RunRequest,
  StartedRun,
  UserMessage,
} from './master.ts';
import { isHeld, release } from './held.ts';
import { offload } from './offer.ts';
import { patient } from './patient.ts';
import { makePlan, plannedBy } from './planner.ts';
import { Progress } from './progress.ts';
import type { MasterPorts } from './ports.ts';
import { isTaken, takeAnswer, type Answer } from './questions.ts';
import { reportOf } from './report.ts';
import { knowingParties } from './run-ports.ts';
import { isDone, openQuestions, type RunState } from './run-state.ts';
import { answersOf } from './stop.ts';
import { makeTaskContext } from './task-context.ts';
import { priced, type Prices } from './usage.ts';

interface Driven {
  readonly driver: Driver;
  readonly report: Promise<RunReport>;
}

/** Tries of `interrupt` when the run was decided about otherwise in between. */
const interruptTries = 8;

/** Milliseconds to wait for an agent that is asked to stop. */
const defaultStopMs = 10_000;

/** Milliseconds between two looks at what was decided elsewhere, where several processes are at it. */
const lookMsOfMany = 2_000;

/** Messages that let a run go on which are kept in mind. */
const releasedKept = 256;

/** The runs of one Master in this process: what is asked of one that is driven here reaches its driver. */
export class RunDesk implements Master {
  readonly #options: MasterOptions;
  readonly #grade: Grader;
  /** As whom this process drives runs: no other has the same. */
  readonly #self: string;
  readonly #carrier: RunCarrier | undefined;
  readonly #driven = new Map<string, Driven>();
  readonly #watchers = new Map<string, Set<OnEvent>>();
  readonly #shared = new Map<string, { journal: Promise<Journal | undefined>; users: number }>();

  constructor(options: MasterOptions) {
    this.#options = options.engine === undefined ? options : { lookMs: lookMsOfMany, ...options };
    const { engine, connect, agents, allowPlainHttp, onFault = () => undefined } = options;
    if (connect === undefined) checkAgents(agents, allowPlainHttp);
    this.#grade = options.grade ?? criteriaGrader();
    this.#self = engine?.process ?? randomUUID();
    this.#carrier =
      engine &&
      new RunCarrier({
        engine,
        runs: (signal) => this.#patient({ signal }),
        takeUp: (runId, work) => this.#with(runId, {}, work),
        drive: (journal, signal) => this.#drive(journal, { signal }),
        now: this.#now,
        onFault,
        ...(options.again && { again: options.again }),
      });
  }

  async run(request: RunRequest, options: RunOptions = {}): Promise<RunReport> {
    const ports = this.#patient(options);
    const { task } = await ports.locate(request.taskId);
    const begin = (): Promise<Journal> =>
      this.#begin(ports, request, options).catch((error: unknown) =>
        this.#begun(ports, task, error),
      );
    return this.#with(task, { options, begin }, async (journal) => {
      for (const said of request.messages?.slice(1) ?? []) await this.#take(journal, ports, said);
      return this.#watched(journal, options, () => this.#carry(journal, options));
    });
  }

  start(request: RunRequest, options: RunOptions = {}): StartedRun {
    return started(options, (all) => this.run(request, all));
  }

  resume(runId: string, options: RunOptions = {}): Promise<RunReport> {
    return this.#with(runId, { options }, async (journal) => {
      if (isHeld(journal.state)) {
        await this.#decide(journal, (draft) => release(draft, this.#now()));
      }
      return this.#watched(journal, options, () => this.#carry(journal, options));
    });
  }

  startAgain(runId: string, options: RunOptions = {}): StartedRun {
    return started(options, (all) => this.resume(runId, all));
  }

  answer(runId: string, answer: Answer): Promise<void> {
    return this.#with(runId, {}, (journal) => this.#answer(journal, this.#patient(), answer));
  }

  suspend(runId: string): Promise<RunReport> {
    return this.#with(runId, {}, async (journal) => {
      await this.#decide(journal, (draft) => {
        if (isDone(draft)) return;
        draft.suspended = true;
        draft.revision += 1;
      });
      return reportOf(journal.state);
    });
  }

  interrupt(runId: string, input: InterruptInput): Promise<Interrupted> {
    return this.#with(runId, {}, (journal) => this.#interrupt(journal, input));
  }

  async #interrupt(journal: Journal, input: InterruptInput): Promise<Interrupted> {
    const { id: runId } = journal.state;
    const { replan = redoWhatDepends, agents, prices = {} } = this.#options;
    const ground = {
      ports: this.#patient(),
      // Whoever steers a run that another process drives need not know where its agents are.
      agents: [...new Set([...agents.map(({ id }) => id), ...agentsOf(journal.state)])],
      replan,
      spent: (used: Omit<Usage, 'money'>) => pricedAs(used, prices),
      now: this.#now,
      signal: new AbortController().signal,
    };
    const before = journal.state.interruptions.find(({ id }) => id === input.id);
    if (before !== undefined) return interruptedOf(journal.state, before.id);
    for (let attempt = 0; attempt < interruptTries; attempt++) {
      const { revision } = journal.state;
      const { interruption, apply } = await planInterruption(ground, journal.state, input);
      const isCurrent = (draft: RunState): boolean => draft.revision === revision;
      await this.#decide(journal, (draft) => {
        if (isCurrent(draft)) apply(draft);
      });
      const { id } = interruption;
      if (!journal.state.interruptions.some((each) => each.id === id)) continue;
      return interruptedOf(journal.state, id);
    }
    throw new ThroughlineError('conflict', `Run ${runId} changes all the time; try again.`, {
      retryable: true,
    });
  }

  cancel(runId: string, reason = 'It was cancelled.'): Promise<Cancelled> {
    return this.#with(runId, {}, async (journal) => {
      if (!isDone(journal.state)) {
        const ending = { status: 'cancelled', reason } as const;
        await this.#decide(journal, (draft) => {
          if (!isDone(draft)) endRun(draft, ending, 'cancelled', this.#now());
        });
      }
      const { lookMs, stopMs = defaultStopMs } = this.#options;
      const isHere = this.#at(runId) !== undefined;
      const isOver =
        this.#carrier === undefined &&
        !isHere &&
        (await endedElsewhere(journal, { lookMs, stopMs }));
      if (!isOver) await this.#carry(journal, {});
      return { ...reportOf(journal.state), answers: answersOf(journal.state) };
    });
  }

  heeded(runId: string): Promise<boolean> {
    return this.#with(runId, {}, async (journal) => {
      const isHere = this.#at(runId) !== undefined;
      return isHere || heededElsewhere(journal, this.#options.lookMs);
    });
  }

  status(runId: string): Promise<RunReport> {
    return this.#with(runId, {}, ({ state }) => Promise.resolve(reportOf(state)));
  }

  openRuns(): Promise<readonly string[]> {
    return this.#patient().openRuns();
  }

  async close(): Promise<void> {
    await this.#carrier?.close();
  }

  readonly #now = (): Date => this.#options.now?.() ?? new Date();

  #patient({ signal }: RunOptions = {}): MasterPorts {
    const { ports: hub, runs = hub } = this.#options;
    const ports = patient(hub, runs, signal);
    return this.#carrier === undefined ? ports : tellingDriver(ports, this.#self);
  }

  /** The run if it is driven in this process now. */
  #at(runId: string): Driven | undefined {
    const driven = this.#driven.get(runId);
    return driven?.driver.over === false ? driven : undefined;
  }

  /** Everybody in this process who works on a run shares one journal of it, as long as somebody does. */
  async #with<T>(
    runId: string,
    { options, begin }: { options?: RunOptions; begin?: () => Promise<Journal> },
    work: (journal: Journal) => Promise<T>,
  ): Promise<T> {
    const load = async (): Promise<Journal | undefined> =>
      (await Journal.load(this.#patient(options), this.#self, runId)) ?? begin?.();
    const shared = this.#shared.get(runId) ?? { journal: load(), users: 0 };
    this.#shared.set(runId, shared);
    shared.users += 1;
    try {
      const journal = await shared.journal;
      if (journal !== undefined) return await work(journal);
      throw new ThroughlineError('not-found', `There is no run ${runId} of this Master.`);
    } finally {
      shared.users -= 1;
      if (shared.users === 0) this.#shared.delete(runId);
    }
  }

  /** Writes a decision from outside; a driver of this process acts on it at once. */
  async #decide(journal: Journal, change: (draft: RunState) => void): Promise<void> {
    await this.#change(journal, () => journal.decide(change));
  }

  /** Through whoever drives the run here, if anybody does. */
  async #change({ state: { id } }: Journal, write: () => Promise<void>): Promise<void> {
    await (this.#at(id)?.driver.change(write) ?? write());
    this.#carrier?.wake(id);
  }

  /** What a user says in the middle of a run, once: an answer, leave to go on, or a later requirement. */
  async #take(journal: Journal, ports: MasterPorts, { id, text }: UserMessage): Promise<void> {
    const { state } = journal;
    if (isTaken(state, id) || isDone(state) || state.ending !== undefined) return;
    if (openQuestions(state).length > 0) return this.#answer(journal, ports, { id, text });
    if (isHeld(state)) {
      return this.#decide(journal, (draft) => {
        draft.released = [...draft.released, id].slice(-releasedKept);
        release(draft, this.#now());
      });
    }
    try {
      await this.#interrupt(journal, { id, content: text });
    } catch (error) {
      // What is wrong with a message is no fault of the run.
      if (!(error instanceof ThroughlineError) || error.retryable) throw error;
      const { message: reason } = error;
      this.#at(journal.state.id)?.driver.run.emit({ kind: 'message-refused', id, reason });
    }
  }

  async #answer(journal: Journal, ports: MasterPorts, answer: Answer): Promise<void> {
    const take = async (): Promise<void> => {
      const question = await takeAnswer({ ports, journal, now: this.#now }, answer);
      if (question === undefined) return;
      const { id, subtask } = question;
      const event = { kind: 'answered', id, ...(subtask !== undefined && { subtask }) } as const;
      this.#at(journal.state.id)?.driver.run.emit(event);
    };
    await this.#change(journal, take);
  }

  /** Plans, checks the plan, offloads what is offered and writes the run's first state. */
  async #begin(ports: MasterPorts, request: RunRequest, options: RunOptions): Promise<Journal> {
    const place = await ports.locate(request.taskId);
    const planning: Usage[] = [];
    const workflow = await this.#plan(request, options, (used) => planning.push(...used));
    const { principal, stores } = this.#options;
    const beside = { self: principal.id, stores };
    const items = await offload(ports, place.activity, request.offered, beside);
    const state: RunState = {
      v: 1,
      id: place.task,
      requestTask: request.taskId,
      ...place,
      query: request.query,
      workflow,
      taskContext: makeTaskContext(place.task, request.query, workflow, this.#now()),
      items,
      subtasks: Object.fromEntries(
        workflow.subtasks.map(({ id }) => [
          id,
          { status: 'waiting' as const, attempts: [], past: 0 },
        ]),
      ),
      driver: this.#self,
      revision: 0,
      heeded: 0,
      interruptions: [],
      suspended: false,
      released: [],
      questions: [],
      raised: {},
      planning,
    };
    const journal = new Journal(ports, this.#self, state, 0);
    await journal.decide();
    return journal;
  }

  /** Where several processes are asked for the same at once, one begins it. */
  async #begun(ports: MasterPorts, runId: string, error: unknown): Promise<Journal> {
    const begun = this.#carrier && (await Journal.load(ports, this.#self, runId));
    if (begun === undefined) throw error;
    return begun;
  }

  async #plan(
    { query, workflow, goals = [], offered }: RunRequest,
    { signal = new AbortController().signal }: RunOptions,
    spent: (used: readonly Usage[]) => void,
  ): ReturnType<typeof makePlan> {
    const { agents, planner, planTries: tries = 3, prices = {} } = this.#options;
    const by = workflow === undefined ? planner : plannedBy(workflow);
    if (by === undefined) {
      throw new ThroughlineError(
        'invalid',
        'workflow: is missing, and this Master has no planner.',
      );
    }
    return makePlan(by, {
      query,
      goals,
      agents: agents.map(({ id, name, description }) => ({
        id,
        name,
        ...(description !== undefined && { description }),
      })),
      offered: offered.map(({ name, description, type, mediaType }) => ({
        name,
        description,
        type,
        mediaType,
      })),
      spent: (used) => spent([pricedAs(used, prices)]),
      signal,
      tries,
      ground: {
        agents: agents.map(({ id }) => id),
        offered: offered.map(({ name }) => name),
        goals,
        checkGrader: this.#grade.check,
      },
    });
  }

  /** Whoever waits for a run is told of it, for whomever it is driven in this process. */
  async #watched(
    journal: Journal,
    options: RunOptions,
    work: () => Promise<RunReport>,
  ): Promise<RunReport> {
    const { id } = journal.state;
    const { onEvent } = options;
    if (onEvent === undefined) return work();
    const watchers = this.#watchers.get(id) ?? new Set();
    this.#watchers.set(id, watchers.add(onEvent));
    try {
      if (this.#at(id) !== undefined) onEvent(beganEvent(journal.state));
      return await work();
    } finally {
      watchers.delete(onEvent);
      if (watchers.size === 0) this.#watchers.delete(id);
    }
  }

  /** Has a run driven to where it stops: here, where no other process does. */
  async #carry(journal: Journal, options: RunOptions): Promise<RunReport> {
    if (this.#carrier === undefined) return this.#drive(journal, options);
    const drive = (own: Journal, signal: AbortSignal): Promise<RunReport> =>
      this.#drive(own, { ...options, signal });
    await this.#carrier.carry(journal, drive, options.signal);
    return reportOf(journal.state);
  }

  /** Drives a run, or waits for who drives it in this process already. */
  async #drive(journal: Journal, options: RunOptions): Promise<RunReport> {
    const { id } = journal.state;
    const driven = this.#at(id);
    if (driven !== undefined) return driven.report;
    const { driver: before } = journal.state;
    if (before !== this.#self && !isDone(journal.state)) {
      await journal.decide((draft) => {
        draft.driver = this.#self;
        delete draft.left;
      });
      return this.#drive(journal, options);
    }
    const given = new AbortController();
    const run = this.#context(journal, options, given.signal);
    const { interaction, parallel = 4 } = this.#options;
    const mode = journal.state.workflow.interaction ?? interaction;
    const most = mode === 'SynchronousContextInteraction' ? 1 : parallel;
    const driver = new Driver(run, most, (reason) => given.abort(reason));
    const work = async (): Promise<RunReport> => {
      run.emit(beganEvent(journal.state));
      try {
        const attributes = {
          'gen_ai.operation.name': 'invoke_workflow',
          'throughline.run.id': id,
        };
        await inSpan('invoke_workflow', () => driver.drive(), { attributes });
        return reportOf(journal.state);
      } finally {
        if (this.#driven.get(id)?.driver === driver) this.#driven.delete(id);
      }
    };
    const report = work();
    this.#driven.set(id, { driver, report });
    return report;
  }

  #context(journal: Journal, options: RunOptions, given: AbortSignal): RunContext {
    const { onQuestion, signal } = options;
    const {
      principal,
      name,
      agents,
      retryMs = 250,
      stopMs = defaultStopMs,
      lookMs,
    } = this.#options;
    const { count, tokenizer, selector, limits = {}, prices = {} } = this.#options;
    const ports = knowingParties(this.#patient(options));
    return {
      ports,
      self: { id: principal.id, name },
      agents: new Map(agents.map((agent) => [agent.id, agent])),
      connect: this.#options.connect ?? connectOverA2a({ ...this.#options, ports, retryMs }),
      journal,
      contents: new Contents(ports, { self: principal.id, stores: this.#options.stores }),
      emit: (event) => {
        for (const watch of this.#watchers.get(journal.state.id) ?? []) watch(event);
      },
      count: count ?? countTokens,
      tokenizer: tokenizer ?? (count === undefined ? tokenizerName : 'custom'),
      selector,
      grade: this.#grade,
      onQuestion,
      limits,
      prices,
      now: this.#now,
      retryMs,
      stopMs,
      lookMs,
      signal: signal === undefined ? given : AbortSignal.any([signal, given]),
    };
  }
}

/** What planning cost: its prices may go by the name `planner`. */
const pricedAs = (used: Omit<Usage, 'money'>, prices: Prices): Usage =>
  priced([used], prices, 'planner')[0] ?? used;

/** Runs with its events folded into progress. */
function started(
  options: RunOptions,
  run: (options: RunOptions) => Promise<RunReport>,
): StartedRun {
  const progress = new Progress();
  const onEvent = (event: RunEvent): void => {
    progress.take(event);
    options.onEvent?.(event);
  };
  const report = run({ ...options, onEvent }).finally(() => progress.end());
  // Looked at when the report is waited for.
  report.catch(() => undefined);
  return {
    report,
    get progress() {
      return progress.now;
    },
    [Symbol.asyncIterator]: () => progress[Symbol.asyncIterator](),
  };
}

const agentsOf = ({ workflow }: RunState): string[] =>
  workflow.subtasks.flatMap(({ agent, fallback }) => [agent, ...fallback]);
