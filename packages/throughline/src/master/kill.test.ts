import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { alice, cashBackAgents, offered, workflow, World } from './conformance.ts';
import type { A2aPorts } from '../bindings/a2a/ports.ts';
import { connectOverA2a } from './a2a-connection.ts';
import type { Connect } from './connection.ts';
import { createMaster, type Master } from './master.ts';
import type { MasterPorts } from './ports.ts';

/** A process that dies at one of its steps: nothing that it does afterwards has any effect. */
class Process {
  readonly steps: string[] = [];
  readonly #world: World;
  readonly #dieAt: number;
  readonly #when: 'before' | 'after';
  readonly #life = new AbortController();

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
    const result = await work();
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
