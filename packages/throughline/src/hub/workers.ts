import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import {
  beatSchema,
  takingSchema,
  type Beat,
  type Draft,
  type Principal,
  type Pulse,
  type Taking,
  type TaskRecord,
} from '../model/index.ts';
import type { StoreReader, StoredRecord, StoreWriter } from '../store/store.ts';
import { contextName, toTaskRecord, type LiveTask, type TaskStore } from './task-records.ts';
import type { Contexts } from './contexts.ts';
import type { Deps } from './deps.ts';
import type { Registries } from './observing.ts';
import { meet, ownParty } from './meet.ts';
import { Recorder } from './recorder.ts';
import { Records, type Kept } from './records.ts';
import { parse } from './refusals.ts';
import { workerKey } from './worker-keys.ts';

const shapeSchema = z.object({
  /** Blinded principal of the agent. */
  agent: z.string(),
  /** Milliseconds since the epoch to which it counts as alive. */
  until: z.int(),
  /** It said itself that it ends, or another process took its seat: no need to wait for it. */
  ended: z.boolean().optional(),
});
const workerRecords = new Records('worker', shapeSchema, z.object({}));
export const workerKind = workerRecords.kind;

type Worker = Kept<z.infer<typeof shapeSchema>, object>;

/** Processes of one agent that may be alive at the same time. */
const maxAlive = 256;
/** Processes of one agent looked at for what they left. */
const maxKnown = 1_000;
/** Tasks handed out, or doubted, in one write. */
const atOnce = 25;
/** Milliseconds after which a process is looked at again whose tasks nobody took up. */
const againMs = 3_600_000;

export interface WorkerParts {
  readonly tasks: TaskStore;
  readonly contexts: Contexts;
  readonly registries: Registries;
}

/**
 * Which processes of agents are alive, and what becomes of tasks whose process is not: they are
 * offered to the agent's other processes and the next one, each task to one taker; where none comes
 * in time, the outcome is stated to be unknown until the executor speaks again. Written once a beat
 * for each process, however many tasks it works on.
 */
export class Workers {
  readonly #deps: Deps;
  readonly #parts: WorkerParts;
  /** A hub that was away itself knows of nobody's beats till then. */
  readonly #blindUntil: number;

  constructor(deps: Deps, parts: WorkerParts) {
    this.#deps = deps;
    this.#parts = parts;
    this.#blindUntil = deps.now().getTime() + deps.workers.leaseMs;
  }

  /** `quota` when too many processes of one agent are alive. */
  beat(agent: Principal, given: Beat): Promise<Pulse> {
    const { worker, seat } = parse(beatSchema, given, 'beat');
    const { store, workers, vault } = this.#deps;
    return store.write(async (writer) => {
      const key = this.#key(agent, worker);
      const known = await this.#ofAgent(writer, agent);
      const isNew = known.every((each) => each.key !== key);
      if (isNew && known.filter((each) => !this.#isGone(each)).length >= maxAlive) {
        throw new ThroughlineError(
          'quota',
          `worker: ${maxAlive} processes of this agent are alive`,
        );
      }
      const at = seat === undefined ? {} : { seat: vault.blind('seat', ...whose(agent), seat) };
      for (const each of known) {
        const sat = at.seat !== undefined && each.index['seat'] === at.seat && each.key !== key;
        if (sat) await this.#end(writer, each);
      }
      await this.#put(writer, agent, key, at);
      const gone = known.filter((each) => each.key !== key && this.#isGone(each));
      const due = await this.#areDue(writer, agent, gone);
      return { seconds: Math.ceil(workers.leaseMs / 1_000), due };
    });
  }

  /** It ends in order: what it leaves may be taken up at once. */
  leave(agent: Principal, given: Pick<Beat, 'worker'>): Promise<void> {
    const { worker } = parse(beatSchema, given, 'beat');
    return this.#deps.store.write(async (writer) => {
      const key = this.#key(agent, worker);
      const found = await workerRecords.get(writer, this.#deps.vault.domain, key);
      if (found !== undefined) await this.#end(writer, found);
    });
  }

  /**
   * Unfinished tasks of the agent that no living process works on are this one's from now on, a
   * bounded number at a time; none when there are no more. What the former process still writes of
   * them is refused.
   */
  takeUp(agent: Principal, given: Taking): Promise<TaskRecord[]> {
    const { worker, taking } = parse(takingSchema, given, 'taking');
    const { store, vault } = this.#deps;
    return store.write(async (writer) => {
      const { tasks } = this.#parts;
      const own = this.#key(agent, worker);
      const name = vault.blind('taking', own, taking);
      const before = await tasks.find(writer, { index: { taking: name }, limit: atOnce });
      if (before.length > 0) return this.#records(writer, agent, before);
      await this.ensure(writer, agent, worker);
      const taken: LiveTask[] = [];
      for (const key of await this.#left(writer, agent, own)) {
        for (const index of [{ works: key }, { doubts: key }]) {
          const limit = atOnce - taken.length;
          if (limit === 0) break;
          for (const task of await tasks.find(writer, { index, limit })) {
            if (task.shape.doubted === true) await this.#trust(writer, task, agent);
            taken.push(await tasks.handOver(writer, task, { worker: own, taking: name }));
          }
        }
      }
      return this.#records(writer, agent, taken);
    });
  }

  /** The key under which a process is known (`before`: is so already); who writes is alive. */
  async ensure(
    writer: StoreWriter,
    agent: Principal,
    worker: string,
    before?: string,
  ): Promise<string> {
    const key = this.#key(agent, worker);
    if (key === before) return key;
    const known = await workerRecords.get(writer, this.#deps.vault.domain, key);
    const { seat } = known?.index ?? {};
    if (known === undefined || this.#isGone(known)) {
      await this.#put(writer, agent, key, seat === undefined ? {} : { seat });
    }
    return key;
  }

  /** Whether a process is known to be gone, by its key; one that never said anything is not. */
  async isGone(reader: StoreReader, key: string): Promise<boolean> {
    const found = await workerRecords.get(reader, this.#deps.vault.domain, key);
    return found !== undefined && this.#isGone(found);
  }

  /** Whether a process counts as alive, by its key. One that is not known any more was gone for long. */
  async isAlive(reader: StoreReader, key: string): Promise<boolean> {
    const found = await workerRecords.get(reader, this.#deps.vault.domain, key);
    return found === undefined
      ? this.#deps.now().getTime() <= this.#blindUntil
      : !this.#isGone(found);
  }

  /** A process did not say in time that it is alive. */
  async sweep(writer: StoreWriter, { key }: StoredRecord): Promise<void> {
    const { now, vault, workers } = this.#deps;
    const found = await workerRecords.get(writer, vault.domain, key);
    if (found === undefined) return;
    const at = now().getTime();
    const left = await this.#parts.tasks.find(writer, { index: { works: key }, limit: atOnce });
    const doubted = await this.#parts.tasks.count(writer, { doubts: key });
    if (left.length + doubted === 0) {
      await writer.deleteRecord({ kind: workerKind, key });
      return;
    }
    const patience = Math.max(found.shape.until, this.#blindUntil) + workers.patienceMs;
    if (patience > at) return this.#look(writer, found, patience);
    for (const task of left) await this.#doubt(writer, task);
    await this.#look(writer, found, left.length === atOnce ? at : at + againMs);
  }

  /** Nobody took it up: how it came out is not known. The executor's next word withdraws it. */
  async #doubt(writer: StoreWriter, task: LiveTask): Promise<void> {
    const said = { statement: { says: 'task.unresolved' }, basis: 'observed' } as const;
    await this.#say(writer, task, () => Promise.resolve({ source: 'hub', ...said }));
    await this.#parts.tasks.handOver(writer, task, { doubted: true });
  }

  /** Its executor is at work on it again, which is a word of its own. */
  #trust(writer: StoreWriter, task: LiveTask, agent: Principal): Promise<void> {
    const { participants } = this.#parts.registries;
    return this.#say(writer, task, async (recorder) => ({
      source: await meet(recorder, participants, agent, ownParty({ ...agent, role: 'agent' })),
      statement: { says: 'task.unresolved', resolved: true },
      basis: 'reported',
    }));
  }

  async #say(
    writer: StoreWriter,
    { shape: { activity, task: about }, content: { tenant, caseOwner: owner } }: LiveTask,
    what: (recorder: Recorder) => Promise<Pick<Draft, 'statement' | 'basis'> & { source: string }>,
  ): Promise<void> {
    const recorder = await Recorder.start(this.#deps, writer);
    const { source, ...said } = await what(recorder);
    await recorder.say({ about, ...said }, source, activity);
    const { activities, waiting, seq } = await recorder.flush();
    for (const each of activities) {
      await this.#parts.registries.cases.touch(writer, each, seq, {
        tenant,
        owner,
        waits: waiting.get(each),
      });
    }
  }

  async #areDue(reader: StoreReader, agent: Principal, gone: readonly Worker[]): Promise<boolean> {
    for (const key of [this.#nobody(agent), ...gone.map((each) => each.key)]) {
      for (const index of [{ works: key }, { doubts: key }]) {
        if ((await this.#parts.tasks.count(reader, index)) > 0) return true;
      }
    }
    return false;
  }

  /** Keys of whoever may have left something. */
  async #left(reader: StoreReader, agent: Principal, own: string): Promise<string[]> {
    const known = await this.#ofAgent(reader, agent);
    const gone = known.filter((each) => each.key !== own && this.#isGone(each));
    return [this.#nobody(agent), ...gone.map((each) => each.key)];
  }

  async #records(
    reader: StoreReader,
    agent: Principal,
    tasks: readonly LiveTask[],
  ): Promise<TaskRecord[]> {
    const records: TaskRecord[] = [];
    for (const task of tasks) {
      const context = await this.#parts.contexts.byRef(reader, agent, task.shape.ref);
      records.push(toTaskRecord(task, contextName(task, context, agent.id)));
    }
    return records;
  }

  #isGone({ shape: { until, ended } }: Worker): boolean {
    const at = this.#deps.now().getTime();
    return ended === true || (until < at && this.#blindUntil < at);
  }

  #ofAgent(reader: StoreReader, agent: Principal): Promise<Worker[]> {
    const index = { agent: this.#blind(agent) };
    return workerRecords.find(reader, this.#deps.vault.domain, { index, limit: maxKnown });
  }

  async #put(
    writer: StoreWriter,
    agent: Principal,
    key: string,
    at: { seat?: string },
  ): Promise<void> {
    const { vault, now, workers } = this.#deps;
    const until = now().getTime() + workers.leaseMs;
    const shape = { agent: this.#blind(agent), until };
    const index = { agent: shape.agent, ...at };
    const kept = { key, sort: until, index, shape, content: {}, expiresAt: until };
    await workerRecords.put(writer, vault.domain, kept);
  }

  async #end(writer: StoreWriter, { key, index, shape }: Worker): Promise<void> {
    const at = this.#deps.now().getTime();
    const ended = { ...shape, until: Math.min(shape.until, at), ended: true };
    const kept = { key, sort: at, index, shape: ended, content: {}, expiresAt: at };
    await workerRecords.put(writer, this.#deps.vault.domain, kept);
  }

  async #look(writer: StoreWriter, worker: Worker, expiresAt: number): Promise<void> {
    const { key, sort, index, shape } = worker;
    const kept = { key, sort, index, shape, content: {}, expiresAt };
    await workerRecords.put(writer, this.#deps.vault.domain, kept);
  }

  #key(agent: Principal, worker: string): string {
    return workerKey(this.#deps, agent, worker);
  }

  /** Who works on tasks of which no process said that it does. */
  #nobody(agent: Principal): string {
    return workerKey(this.#deps, agent, '');
  }

  #blind(agent: Principal): string {
    return this.#deps.vault.blind('principal', ...whose(agent));
  }
}

const whose = ({ tenant, id }: Pick<Principal, 'tenant' | 'id'>) => [tenant, id] as const;
