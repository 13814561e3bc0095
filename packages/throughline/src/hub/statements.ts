import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import {
  assertionSchema,
  draftSchema,
  limits,
  type Assertion,
  type Draft,
  type DraftInput,
  type Principal,
} from '../model/index.ts';
import type { StoredLogEntry } from '../store/store.ts';
import type { CaseBoxes } from './case-boxes.ts';
import type { Deps } from './deps.ts';
import { scopeOf } from './graph-codec.ts';
import { meet, ownParty } from './meet.ts';
import type { Registries } from './observing.ts';
import { Recorder } from './recorder.ts';
import { parse } from './refusals.ts';
import { checkForm, Standing } from './standing.ts';

const draftsSchema = z.array(draftSchema).max(limits.statements);

/** Statements that give a new object its name. */
const openings: ReadonlySet<string> = new Set([
  'activity.opened',
  'dialog.opened',
  'task.defined',
  'resource.known',
  'relationship.asserted',
]);

const entryShape = z.looseObject({
  statement: z.looseObject({ says: z.string() }),
  commitment: z.string().optional(),
});
/** What stands where a statement can't be without what people wrote, once that is destroyed. */
const gone: Readonly<Record<string, object>> = {
  'dialog.bound': { local: { protocol: 'a2a', localId: 'erased' } },
  'task.bound': { localId: 'erased' },
  'activity.labelled': { label: { name: 'erased' } },
};
const written = z.record(z.string(), z.unknown());

/** A log entry as the assertion it holds; without its case's key, what people wrote is left out. */
export async function openEntry(
  entry: StoredLogEntry,
  boxes: CaseBoxes,
): Promise<Assertion | undefined> {
  const { id, seq, about, activity, sealed } = entry;
  const { commitment, statement, ...rest } = entryShape.parse(entry.shape);
  const box = sealed === undefined ? undefined : await boxes.of(scopeOf(about, activity));
  const content =
    box === undefined || sealed === undefined
      ? commitment === undefined
        ? {}
        : (gone[statement.says] ?? {})
      : written.parse(box.open(`log/${id}`, sealed, commitment));
  const assertion = {
    ...rest,
    id,
    seq,
    about,
    ...(activity === undefined ? {} : { activity }),
    statement: { ...statement, ...content },
  };
  return assertionSchema.safeParse(assertion).data;
}

/** What a Master states: about what it has a say in, under its own name. */
export class Statements {
  readonly #deps: Deps;
  readonly #registries: Registries;

  constructor(deps: Deps, registries: Registries) {
    this.#deps = deps;
    this.#registries = registries;
  }

  /**
   * All or none. What is so already changes nothing; what breaks a rule is kept as a conflict. Gives the
   * assertion of each draft; null where it was so already and it is not known who said so.
   */
  async assert(by: Principal, given: readonly DraftInput[]): Promise<(string | null)[]> {
    const drafts = parse(draftsSchema, given, 'drafts');
    for (const draft of drafts) checkForm(by, draft);
    const { participants, cases } = this.#registries;
    return this.#deps.store.write(async (writer) => {
      const recorder = await Recorder.start(this.#deps, writer, by);
      const source = await meet(recorder, participants, by, ownParty(by));
      const said: (string | null)[] = [];
      // All that they name in few questions.
      await recorder.workspace.prepare(...drafts);
      const standing = new Standing(recorder, participants, { by, source });
      for (const draft of drafts) said.push(await this.#say(recorder, standing, draft, by));
      const { activities, waiting, seq } = await recorder.flush();
      for (const activity of activities) {
        const waits = waiting.get(activity);
        await cases.touch(writer, activity, seq, { tenant: by.tenant, owner: by.id, waits });
      }
      return said;
    });
  }

  async #say(
    recorder: Recorder,
    standing: Standing,
    draft: Draft,
    by: Principal,
  ): Promise<string | null> {
    const { mappings } = this.#registries;
    const earlier = await this.#repeated(recorder, standing, draft);
    if (earlier !== undefined) return earlier;
    const [saidBefore, keptBefore] = [recorder.said.length, recorder.conflicts.length];
    await recorder.sayParsed(await standing.check(draft), standing.source);
    const { statement, about } = draft;
    const isKept = recorder.conflicts.length > keptBefore;
    if (!isKept && statement.says === 'dialog.bound' && statement.local.endpoint !== undefined) {
      const { endpoint, localId } = statement.local;
      const name = ['peer', by.tenant, by.id, endpoint, localId] as const;
      await mappings.set(recorder.writer, name, about);
    }
    return recorder.said.length === saidBefore ? null : (recorder.said.at(-1)?.id ?? null);
  }

  /** The assertion of which an opening says again what the object began with. */
  async #repeated(
    recorder: Recorder,
    standing: Standing,
    draft: Draft,
  ): Promise<string | undefined> {
    const { workspace, said } = recorder;
    const { about, statement } = draft;
    const { graph } = workspace;
    const isKnown = graph.object(about) !== undefined || graph.relationship(about) !== undefined;
    if (!openings.has(statement.says) || !isKnown) return undefined;
    await standing.takesPart(about);
    const earlier = said.filter((each) => each.about === about);
    for (const entry of await workspace.reader.log({ about, after: 0, limit: 64 })) {
      const opened = await openEntry(entry, workspace.boxes);
      if (opened !== undefined) earlier.push(opened);
    }
    const same = earlier.find((each) => sameJson(each.statement, statement));
    if (same !== undefined || statement.says === 'resource.known') return same?.id;
    throw new ThroughlineError(
      'conflict',
      `${about}: is taken; what it began with can't be said otherwise, so take a new id`,
    );
  }
}

const sameJson = (a: unknown, b: unknown): boolean => sorted(a) === sorted(b);

const sorted = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
