import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import {
  foreignId,
  idSchema,
  limits,
  runUsageSchema,
  utf8Length,
  type Principal,
} from '../model/index.ts';
import { authorize } from './authorize.ts';
import { CaseBoxes } from './case-boxes.ts';
import type { Deps } from './deps.ts';
import type { Registries } from './observing.ts';
import { Records } from './records.ts';
import { notFound, parse } from './refusals.ts';
import { runUsageRecords } from './usage.ts';

const runSchema = z.object({
  id: foreignId,
  activity: idSchema('activity'),
  done: z.boolean(),
  state: z.unknown(),
  expected: z.int().nonnegative(),
  usage: runUsageSchema.shape.usage.exactOptional(),
});
export type Run = z.infer<typeof runSchema>;

const runRecords = new Records(
  'run',
  z.object({ activity: z.string(), done: z.boolean() }),
  z.object({ id: foreignId, state: z.unknown() }),
);
const maxOpenRuns = 10_000;

/** A Master's decisions, sealed with the case they are about; its own alone. */
export class Runs {
  readonly #deps: Deps;
  readonly #registries: Registries;

  constructor(deps: Deps, registries: Registries) {
    this.#deps = deps;
    this.#registries = registries;
  }

  async save(by: Principal, given: Run): Promise<{ version: number }> {
    const { id, activity, done, state, expected, usage } = parse(runSchema, given, 'run');
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
      const version = await runRecords.put(writer, box, {
        key,
        sort: now().getTime(),
        index: {
          keeper: vault.blind('principal', by.tenant, by.id),
          open: done ? 'no' : 'yes',
          activity,
        },
        activity,
        shape: { activity, done },
        content: { id, state },
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

  async load(
    by: Principal,
    given: string,
  ): Promise<{ state: unknown; version: number } | undefined> {
    const id = parse(foreignId, given, 'run id');
    const { store, vault } = this.#deps;
    return store.read(async (reader) => {
      const boxes = new CaseBoxes(vault, reader);
      const found = await runRecords.get(reader, boxes.for, this.#key(by, id));
      if (found?.content === undefined) return undefined;
      return { state: found.content.state, version: found.version };
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

  #key(by: Principal, id: string): string {
    return this.#deps.vault.blind('run', by.tenant, by.id, id);
  }
}
