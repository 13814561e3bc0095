import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import {
  foreignId,
  idSchema,
  limits,
  runUsageSchema,
  utf8Length,
  type LeftRun,
  type Principal,
  type StoredRun,
} from '../model/index.ts';
import type { StoredRecord, StoreReader, StoreWriter } from '../store/store.ts';
import { authorize } from './authorize.ts';
import { CaseBoxes } from './case-boxes.ts';
import type { Deps } from './deps.ts';
import type { Registries } from './observing.ts';
import { Records } from './records.ts';
import { notFound, parse } from './refusals.ts';
import { runUsageRecords } from './usage.ts';
import type { Workers } from './workers.ts';

const runSchema = z.object({
  id: foreignId,
  activity: idSchema('activity'),
  done: z.boolean(),
  state: z.unknown(),
  expected: z.int().nonnegative(),
  /** Process that drives it from now on; null: none does. Absent: as it was. */
  driver: foreignId.nullable().optional(),
  usage: runUsageSchema.shape.usage.exactOptional(),
});
export type Run = z.infer<typeof runSchema>;

const runRecords = new Records(
  'run',
  z.object({
    activity: z.string(),
    done: z.boolean(),
    /** Key of the process that drives it. */
    works: z.string().optional(),
  }),
  z.object({ id: foreignId, state: z.unknown(), driver: foreignId.optional() }),
);
type RunRecord = NonNullable<Awaited<ReturnType<typeof runRecords.get>>>;

const maxOpenRuns = 10_000;
/** Runs that are told to be left, at a time. */
const leftAtOnce = 100;

/**
 * A Master's decisions, sealed with the case they are about; its own alone. Which of its processes
 * drives a run is written with them, under the same version: who drove it before can't write any more.
 */
export class Runs {
  readonly #deps: Deps;
  readonly #registries: Registries;
  readonly #workers: Workers;

  constructor(deps: Deps, registries: Registries, workers: Workers) {
    this.#deps = deps;
    this.#registries = registries;
    this.#workers = workers;
  }

  async save(by: Principal, given: Run): Promise<{ version: number }> {
    const run = parse(runSchema, given, 'run');
    const { id, activity, done, state, expected, usage } = run;
    if (utf8Length(JSON.stringify(state) ?? '') > limits.bodyBytes) {
      throw new ThroughlineError('too-large', `run: state is over ${limits.bodyBytes} bytes`, {
        details: { limit: limits.bodyBytes },
      });
    }
    const { store, vault, now } = this.#deps;
    return store.write(async (writer) => {
      const { participants } = this.#registries;
      const source = await participants.of(writer, by);
      const takesPart = await participants.takesPart(writer, activity, source);
      const refusal = () => notFound('activity', activity);
      authorize(by, 'assert', { tenant: by.tenant, takesPart }, refusal);
      const key = this.#key(by, id);
      const before = await writer.record({ kind: runRecords.kind, key });
      if (before?.activity !== undefined && before.activity !== activity) {
        throw new ThroughlineError('conflict', 'activity: a run stays with the one it began in');
      }
      const box = await vault.caseBoxFor(writer, activity);
      const keeper = vault.blind('principal', by.tenant, by.id);
      const driven = done ? undefined : await this.#driven(writer, by, run, before);
      const version = await runRecords.put(writer, box, {
        key,
        sort: now().getTime(),
        index: {
          keeper,
          open: done ? 'no' : 'yes',
          activity,
          ...(driven && { driven: keeper }),
        },
        activity,
        shape: { activity, done, ...(driven && { works: driven.works }) },
        content: { id, state, ...(driven && { driver: driven.driver }) },
        expected,
      });
      if (usage !== undefined) {
        const content = parse(runUsageSchema, { run: id, usage }, 'run');
        const kept = { key, index: { activity }, activity, shape: {} };
        await runUsageRecords.put(writer, box, { ...kept, content });
      }
      return { version };
    });
  }

  /** Who drives it once this is written. Whoever drives and writes is alive; others say nothing of that. */
  async #driven(
    writer: StoreWriter,
    by: Principal,
    { driver }: Run,
    before: StoredRecord | undefined,
  ): Promise<{ driver: string; works: string } | undefined> {
    if (typeof driver === 'string') {
      return { driver, works: await this.#workers.ensure(writer, by, driver) };
    }
    if (driver === null || before?.index['driven'] === undefined) return undefined;
    const boxes = new CaseBoxes(this.#deps.vault, writer);
    const { shape, content } = runRecords.open(before, await boxes.for(before));
    if (content?.driver === undefined || shape.works === undefined) return undefined;
    return { driver: content.driver, works: shape.works };
  }

  /** Tells its driver, while that is alive. */
  async load(by: Principal, given: string): Promise<StoredRun | undefined> {
    const id = parse(foreignId, given, 'run id');
    const { store, vault } = this.#deps;
    return store.read(async (reader) => {
      const boxes = new CaseBoxes(vault, reader);
      const found = await runRecords.get(reader, boxes.for, this.#key(by, id));
      if (found?.content === undefined) return undefined;
      const { state, driver } = found.content;
      const isDriven = driver !== undefined && (await this.#isDriven(reader, found));
      return { state, version: found.version, ...(isDriven && { driver }) };
    });
  }

  async open(by: Principal): Promise<string[]> {
    const { store, vault } = this.#deps;
    return store.read(async (reader) => {
      const boxes = new CaseBoxes(vault, reader);
      const index = { keeper: vault.blind('principal', by.tenant, by.id), open: 'yes' };
      const query = { index, ascending: true, limit: maxOpenRuns };
      const found = await runRecords.find(reader, boxes.for, query);
      return found.flatMap(({ content }) => content?.id ?? []);
    });
  }

  /** Runs whose process is gone, some at a time; each is for whoever writes first that it drives it. */
  async left(by: Principal): Promise<LeftRun[]> {
    const { store, vault } = this.#deps;
    return store.read(async (reader) => {
      const boxes = new CaseBoxes(vault, reader);
      const index = { driven: vault.blind('principal', by.tenant, by.id) };
      const query = { index, ascending: true, limit: maxOpenRuns };
      const left: LeftRun[] = [];
      for (const record of await reader.records({ ...query, kind: runRecords.kind })) {
        if (left.length === leftAtOnce) break;
        if (await this.#isDriven(reader, runRecords.open(record, undefined))) continue;
        const { id, driver } = runRecords.open(record, await boxes.for(record)).content ?? {};
        if (id !== undefined && driver !== undefined) left.push({ id, driver });
      }
      return left;
    });
  }

  async #isDriven(reader: StoreReader, { shape }: Pick<RunRecord, 'shape'>): Promise<boolean> {
    return shape.works !== undefined && this.#workers.isAlive(reader, shape.works);
  }

  #key(by: Principal, id: string): string {
    return this.#deps.vault.blind('run', by.tenant, by.id, id);
  }
}
