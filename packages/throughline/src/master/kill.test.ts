import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { alice, cashBackAgents, done, offered, workflow, World } from './conformance.ts';
import type { A2aPorts } from '../bindings/a2a/ports.ts';
import { connectOverA2a } from './a2a-connection.ts';
import type { Connect } from './connection.ts';
import { createMaster, type Master, type RunRequest } from './master.ts';
import type { RunReport } from '../model/run.ts';
import type { WorkflowInput } from '../model/workflow.ts';
import type { MasterPorts } from './ports.ts';

/** A process that dies at one of its steps: nothing that it does afterwards has any effect. */
class Process {
  readonly steps: string[] = [];
  readonly #world: World;
  readonly #dieAt: number;
  readonly #when: 'before' | 'after';
  readonly #life = new AbortController();
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(world: World, dieAt: number, when: 'before' | 'after') {
    this.#world = world;
    this.#dieAt = dieAt;
    this.#when = when;
  }

  get died(): boolean {
    return this.#life.signal.aborted;
  }

  get signal(): AbortSignal {
    return this.#life.signal;
  }

  /** What it had begun at others when it died has come to its end there. */
  async buried(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  master(): Master {
    const ports = this.#world.hub.master(this.#world.desk);
    const mortal: MasterPorts = {
      newId: (kind) => ports.newId(kind),
      participant: (party) => this.#alive(() => ports.participant(party)),
      locate: (id) => this.#alive(() => ports.locate(id)),
      getContent: (uri, token) => this.#alive(() => ports.getContent(uri, token)),
      callToken: (request) => this.#alive(() => ports.callToken(request)),
      readToken: (request) => this.#alive(() => ports.readToken(request)),
      loadRun: (id) => this.#alive(() => ports.loadRun(id)),
      openRuns: () => this.#alive(() => ports.openRuns()),
      assert: (drafts) => this.#step('assert', () => ports.assert(drafts)),
      putContent: (content) => this.#step('putContent', () => ports.putContent(content)),
      saveRun: (run) => this.#step('saveRun', () => ports.saveRun(run)),
      saveHandover: (handover, texts) =>
        this.#step('saveHandover', () => ports.saveHandover(handover, texts)),
    };
    const a2a: Pick<A2aPorts, 'observe'> = {
      observe: (caller, seen) => this.#alive(() => this.#world.hub.observe(caller, seen)),
    };
    return createMaster({
      ports: mortal,
      a2a,
      principal: this.#world.desk,
      name: 'Desk',
      agents: this.#world.agents,
      connect: this.#connect(a2a),
      retryMs: 5,
    });
  }

  #connect(a2a: Pick<A2aPorts, 'observe'>): Connect {
    const { desk, hub } = this.#world;
    const ports = hub.master(desk);
    const connect = connectOverA2a({ ports, a2a, principal: desk, name: 'Desk', retryMs: 5 });
    const step = this.#step.bind(this);
    return async (agent, signal) => {
      const connection = await step('connect', () => connect(agent, signal));
      return {
        ...connection,
        send: async function* (message, place, until) {
          const answers = connection.send(message, place, until)[Symbol.asyncIterator]();
          const first = await step('send', () => answers.next());
          if (first.done !== true) yield first.value;
          yield* { [Symbol.asyncIterator]: () => answers };
        },
        cancel: (...given) => step('cancel', () => connection.cancel(...given)),
      };
    };
  }

  async #alive<T>(work: () => Promise<T>): Promise<T> {
    this.#life.signal.throwIfAborted();
    return work();
  }

  async #step<T>(name: string, work: () => Promise<T>): Promise<T> {
    this.#life.signal.throwIfAborted();
    this.steps.push(name);
    const dies = this.steps.length === this.#dieAt;
    const die = (): void => this.#life.abort(new Error(`killed ${this.#when} ${name}`));
    if (dies && this.#when === 'before') die();
    this.#life.signal.throwIfAborted();
    const working = work();
    const over: Promise<unknown> = working.then(
      () => this.#underWay.delete(over),
      () => this.#underWay.delete(over),
    );
    this.#underWay.add(over);
    const result = await working;
    if (dies) die();
    this.#life.signal.throwIfAborted();
    return result;
  }
}

let world: World;
beforeAll(async () => {
  world = await World.open();
  await cashBackAgents(world);
});
afterAll(() => world.close());

describe('a Master that is killed', () => {
  it.each(['before', 'after'] as const)(
    'at any step, %s it took effect: another one brings the run to its right end',
    async (when) => {
      const killedAt: string[] = [];
      for (let at = 1; ; at++) {
        const taskId = await world.request('Is my cash back right?');
        const request = { taskId, query: 'Is it right?', workflow, offered };
        const from = world.received.length;
        const first = new Process(world, at, when);
        const outcome = await first
          .master()
          .run(request, { signal: first.signal })
          .catch((error: unknown) => error);
        if (!first.died) break;
        killedAt.push(first.steps.at(-1) ?? '');
        expect(outcome).toBeInstanceOf(Error);

        const second = new Process(world, 0, when);
        const [open] = await second.master().openRuns();
        const report =
          open === undefined
            ? await second.master().run(request)
            : await second.master().resume(open);
        expect(report.taskContext.OverallStatus).toBe('completed');
        expect(report.subtasks.map(({ attempts }) => attempts.length)).toEqual([1, 1]);
        const messages = world.received.slice(from).filter(({ messageId }) => messageId !== '');
        const ids = (agent: string): string[] =>
          messages.flatMap((each) => (each.agent === agent ? [each.messageId] : []));
        // One message for each subtask; behind the hub it also runs once. A plain agent does not know
        // a message that comes again, and the graph says so.
        expect(ids('reader')).toHaveLength(1);
        expect(new Set(ids('checker')).size).toBe(1);
        const view = await world.hub.caseView(alice, report.activity);
        expect(view.conflicts).toEqual([]);
        expect(view.tasks.length).toBeGreaterThanOrEqual(3);
        expect(view.tasks.length).toBeLessThanOrEqual(2 + ids('checker').length);
        expect(view.dialogs).toHaveLength(3);
        expect(await second.master().openRuns()).toEqual([]);
      }
      expect(new Set(killedAt)).toEqual(
        new Set(['putContent', 'saveRun', 'assert', 'saveHandover', 'connect', 'send']),
      );
      expect(killedAt.length).toBeGreaterThan(15);
    },
    60_000,
  );
});

/** What is steered: agents that wait, and one Master after another that does it. */
class Steering {
  readonly #world: World;
  readonly #free = new Map<string, () => void>();
  readonly begun = new Map<string, number>();
  asks = false;

  constructor(where: World) {
    this.#world = where;
  }

  async agents(): Promise<void> {
    await this.#world.aciAgent('slow', async ({ context, output, ask }) => {
      const { SubTaskName: name } = context;
      this.begun.set(name, (this.begun.get(name) ?? 0) + 1);
      if (this.asks) await output('rate', await ask('Of which month?'));
      else {
        await new Promise<void>((resolve) => {
          this.#free.set(name, resolve);
        });
        await output('rate', 'two per cent');
      }
      return done(context, ['rate']);
    });
    await this.#world.aciAgent('quick', async ({ context, output }) => {
      await output('sum', 'one');
      return done(context, ['sum']);
    });
  }

  /** Lets what waits go on, and what comes to wait later, too. */
  release(name: string): () => void {
    const timer = setInterval(() => this.#free.get(name)?.(), 5);
    return () => clearInterval(timer);
  }

  async request(name: string): Promise<RunRequest> {
    const common = {
      todo: [{ id: 'one', description: 'Do' }],
      evaluation: 'relaxed' as const,
    };
    const plan: WorkflowInput = {
      name: 'Steered',
      subtasks: [
        { ...common, id: 'find', name, agent: 'slow', needs: ['terms'] },
        { ...common, id: 'sum', name: 'Sum', agent: 'quick', needs: ['transactions'] },
      ],
    };
    return { taskId: await this.#world.request(name), query: name, offered, workflow: plan };
  }
}

type Steer = (master: Master, runId: string, request: RunRequest) => Promise<RunReport | undefined>;

/** Steers once the slow agent is at work, and brings the run to its end. */
async function steered(
  process: Process,
  steering: Steering,
  { request, steer, name }: { request: RunRequest; steer: Steer; name: string },
): Promise<RunReport> {
  const master = process.master();
  const [open] = await master.openRuns();
  const run =
    open === undefined
      ? master.run(request, { signal: process.signal })
      : master.resume(open, { signal: process.signal });
  const settled = run.then(
    () => true,
    () => true,
  );
  const isAtWork = (): boolean => (steering.begun.get(name) ?? 0) > 0;
  while (!isAtWork() && !process.died) {
    if (await Promise.race([settled, sleep(2, false)])) break;
  }
  const [runId = ''] = await master.openRuns();
  const end = runId === '' ? undefined : await steer(master, runId, request);
  const stop = steering.release(name);
  try {
    const report = await run;
    return end ?? (report.done ? report : await master.resume(report.runId));
  } finally {
    stop();
  }
}

describe('a Master that is killed while it is steered', () => {
  let steeredWorld: World;
  let steering: Steering;
  beforeAll(async () => {
    steeredWorld = await World.open();
    steering = new Steering(steeredWorld);
    await steering.agents();
  });
  afterAll(() => steeredWorld.close());

  const verbs: Record<string, { steer: Steer; right: (report: RunReport) => void }> = {
    interrupt: {
      steer: async (master, runId) => {
        await master.interrupt(runId, { id: 'barge-in', content: 'May', about: 'terms' });
        return undefined;
      },
      right: (report) => {
        expect(report).toMatchObject({ status: 'completed', interruptions: [{ id: 'barge-in' }] });
        expect(report.subtasks.map(({ attempts }) => attempts.length)).toEqual([2, 1]);
        expect(report.subtasks[0]?.attempts[0]?.outcome).toBe('stopped');
      },
    },
    cancel: {
      steer: (master, runId) => master.cancel(runId),
      right: (report) => {
        expect(report).toMatchObject({ status: 'cancelled', done: true });
        expect(report.subtasks[0]?.attempts).toMatchObject([{ outcome: 'stopped' }]);
      },
    },
    suspend: {
      steer: async (master, runId) => {
        await master.suspend(runId);
        return undefined;
      },
      right: (report) => {
        expect(report.status).toBe('completed');
        expect(report.subtasks.map(({ attempts }) => attempts.length)).toEqual([1, 1]);
      },
    },
    answer: {
      steer: async (master, runId) => {
        for (;;) {
          const { questions, done: isDone } = await master.status(runId);
          if (isDone) return undefined;
          if (questions.length > 0) break;
          await sleep(2);
        }
        await master.answer(runId, { id: 'the answer', text: 'May' });
        return undefined;
      },
      right: (report) => {
        expect(report.status).toBe('completed');
        expect(report.subtasks.map(({ attempts }) => attempts.length)).toEqual([1, 1]);
      },
    },
  };

  it.each(
    Object.keys(verbs).flatMap((verb) =>
      (['before', 'after'] as const).map((when) => [verb, when] as const),
    ),
  )(
    '%s, at any step, %s it took effect: another one brings it to its right end',
    async (verb, when) => {
      const { steer, right } = verbs[verb] ?? { steer: () => Promise.reject(new Error()) };
      steering.asks = verb === 'answer';
      let kills = 0;
      for (let at = 1; ; at++) {
        const name = `${verb} ${when} ${at}`;
        const request = await steering.request(name);
        const first = new Process(steeredWorld, at, when);
        const work = { request, steer, name };
        const outcome = await steered(first, steering, work).catch((error: unknown) => error);
        if (!first.died) break;
        kills += 1;
        await first.buried();
        expect(outcome).toBeInstanceOf(Error);
        const report = await steered(new Process(steeredWorld, 0, when), steering, work);
        right?.(report);
        const view = await steeredWorld.hub.caseView(alice, report.activity);
        expect(view.conflicts).toEqual([]);
        const attempts = report.subtasks.flatMap((each) => each.attempts);
        expect(view.tasks).toHaveLength(1 + attempts.length);
        const edges = view.relationships.map(({ type, from, to }) => `${type} ${from} ${to}`);
        expect(new Set(edges).size).toBe(edges.length);
      }
      expect(kills).toBeGreaterThan(10);
    },
    120_000,
  );
});
