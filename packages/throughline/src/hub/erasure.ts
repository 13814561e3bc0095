import { z } from 'zod';
import type { StoreWriter } from '../store/store.ts';
import { measure } from '../telemetry/measure.ts';
import type { CaseRecord } from './case-records.ts';
import type { ContentDesk } from './content-desk.ts';
import { contentKinds } from './content-records.ts';
import type { Contexts } from './contexts.ts';
import type { Deps } from './deps.ts';
import type { Registries } from './observing.ts';
import { Recorder } from './recorder.ts';
import { dropAll } from './records.ts';

/** Log entries that are read at a time. */
const page = 500;

/** Kinds of records that are found by the context they belong to. */
const ofContext = ['task', 'task-change', 'message', 'reply', 'grant', 'push-config'] as const;
/** Kinds of records that are found by their case. */
const ofCase = [
  ...contentKinds,
  'handover',
  'handover-texts',
  'run',
  'run-usage',
  'case-label',
] as const;

const namesInShape = z.looseObject({
  statement: z.looseObject({
    participants: z.array(z.string()).optional(),
    participant: z.string().optional(),
    initiator: z.string().optional(),
  }),
});

/** Who erases, and why; `hub` when its time is over. */
export interface Eraser {
  /** Participant's id, or `hub`. */
  readonly source: string;
  readonly cause?: string | undefined;
}

/**
 * Destroys what people wrote in a case: its keys, every sealed piece, and all that is found by ids of
 * outside. What stays is the shape: ids of ours, types, states, times, and the log's chain of hashes.
 */
export class Erasure {
  readonly #deps: Deps;
  readonly #registries: Registries;
  readonly #contexts: Contexts;
  readonly #content: ContentDesk;

  constructor(
    deps: Deps,
    parts: { registries: Registries; contexts: Contexts; content: ContentDesk },
  ) {
    this.#deps = deps;
    this.#registries = parts.registries;
    this.#contexts = parts.contexts;
    this.#content = parts.content;
  }

  /**
   * Gives the ids of the assertions that say it; none where that was said before. Whatever was said, all
   * that can be read is destroyed; once more does nothing.
   */
  async erase(writer: StoreWriter, record: CaseRecord, by: Eraser): Promise<string[]> {
    const { key: activity } = record;
    const { mappings, participants, cases } = this.#registries;
    const { source, cause } = by;
    // The hub's own note that all is destroyed; what the graph says of it proves nothing.
    if (record.shape.erased === true) return [];
    const recorder = await Recorder.start(this.#deps, writer);
    const statement = { says: 'activity.erased' } as const;
    const draft = { about: activity, statement, basis: 'supervised' } as const;
    await recorder.say(cause === undefined ? draft : { ...draft, cause }, source);
    const { seq } = await recorder.flush();
    const named = await namedIn(writer, activity);
    for (const id of named.objects) await mappings.drop(writer, id);
    await this.#content.eraseCase(writer, activity);
    for (const kind of ofCase) await dropAll(writer, kind, { activity });
    for (const ref of record.shape.refs) {
      for (const kind of ofContext) await dropAll(writer, kind, { context: ref });
      await this.#contexts.bury(writer, ref);
    }
    for (const id of named.participants) {
      const isLast = await participants.leave(writer, activity, id);
      if (isLast) await this.#forgetName(writer, id);
    }
    await this.#deps.vault.destroy(writer, activity);
    await cases.bury(writer, record, seq);
    measure('throughline.erasures');
    return recorder.said.map(({ id }) => id);
  }

  /** What only this case knew of a Participant goes with it; its id stays. */
  async #forgetName(writer: StoreWriter, id: string): Promise<void> {
    const [object] = await writer.objects([id]);
    if (object?.sealed === undefined) return;
    const { sealed: _name, ...shape } = object;
    await writer.putObject(shape);
    await this.#deps.vault.forget(writer, id);
  }
}

/** Ids of all that the log of a case tells of. */
async function namedIn(
  writer: StoreWriter,
  activity: string,
): Promise<{ objects: ReadonlySet<string>; participants: ReadonlySet<string> }> {
  const objects = new Set<string>();
  const participants = new Set<string>();
  for (let after = 0, isEnd = false; !isEnd;) {
    const entries = await writer.log({ activity, after, limit: page });
    for (const { about, shape } of entries) {
      objects.add(about);
      const { statement } = namesInShape.parse(shape);
      const { participants: several = [], participant, initiator } = statement;
      for (const id of [...several, participant, initiator]) {
        if (id !== undefined) participants.add(id);
      }
    }
    after = entries.at(-1)?.seq ?? after;
    isEnd = entries.length < page;
  }
  return { objects, participants };
}
