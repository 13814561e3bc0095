import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import { kindOf } from '../graph/index.ts';
import {
  assertionSchema,
  draftSchema,
  idSchema,
  limits,
  type Assertion,
  type Draft,
  type DraftInput,
  type Principal,
} from '../model/index.ts';
import type { StoredLogEntry, StoreReader } from '../store/store.ts';
import { authorize } from './authorize.ts';
import type { CaseBoxes } from './case-boxes.ts';
import type { Deps } from './deps.ts';
import { scopeOf } from './graph-codec.ts';
import type { Registries } from './observing.ts';
import { Recorder } from './recorder.ts';
import { notFound, parse } from './refusals.ts';
import { namedIn } from './workspace.ts';

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

/** What a Master states: about Activities that its Participant takes part in, under its own name. */
export class Statements {
  readonly #deps: Deps;
  readonly #registries: Registries;

  constructor(deps: Deps, registries: Registries) {
    this.#deps = deps;
    this.#registries = registries;
  }

  /** All or none. What is so already changes nothing; what breaks a rule is kept as a conflict. */
  async assert(by: Principal, given: readonly DraftInput[]): Promise<void> {
    const drafts = parse(draftsSchema, given, 'drafts');
    const { participants, cases, mappings } = this.#registries;
    await this.#deps.store.write(async (writer) => {
      const recorder = await Recorder.start(this.#deps, writer, by);
      const source = await participants.identify(writer, by.tenant, asParty(by));
      await recorder.introduce(source, asParty(by), source);
      for (const draft of drafts) {
        await recorder.workspace.prepare(draft);
        if (await this.#isRepeated(recorder, draft, by, source)) continue;
        await this.#check(recorder, draft, by, source);
        await recorder.say(draft, source);
        const { statement, about } = draft;
        if (statement.says === 'dialog.bound' && statement.local.endpoint !== undefined) {
          const { endpoint, localId } = statement.local;
          await mappings.set(writer, ['peer', by.tenant, by.id, endpoint, localId], about);
        }
      }
      const { activities, seq } = await recorder.flush();
      for (const activity of activities) {
        await cases.touch(writer, activity, seq, { tenant: by.tenant, owner: by.id });
      }
    });
  }

  /** Whether an opening says again what the object began with. */
  async #isRepeated(
    { workspace, said }: Recorder,
    draft: Draft,
    by: Principal,
    source: string,
  ): Promise<boolean> {
    const { about, statement } = draft;
    const { graph } = workspace;
    const isKnown = graph.object(about) !== undefined || graph.relationship(about) !== undefined;
    if (!openings.has(statement.says) || !isKnown) return false;
    const activity = graph.activityOf(about) ?? graph.relationship(about)?.activity;
    await this.#takesPart(workspace.reader, by, source, activity, about);
    const earlier = said.filter((each) => each.about === about);
    for (const entry of await workspace.reader.log({ about, after: 0, limit: 64 })) {
      const opened = await openEntry(entry, workspace.boxes);
      if (opened !== undefined) earlier.push(opened);
    }
    if (earlier.some((each) => sameJson(each.statement, statement))) return true;
    if (statement.says === 'resource.known') return false;
    throw new ThroughlineError(
      'conflict',
      `${about}: is taken; what it began with can't be said otherwise, so take a new id`,
    );
  }

  async #check(recorder: Recorder, draft: Draft, by: Principal, source: string): Promise<void> {
    const { about, statement } = draft;
    const { workspace } = recorder;
    const { graph, reader } = workspace;
    if (statement.says === 'participant.known' || about === 'hub') {
      throw new ThroughlineError(
        'invalid',
        'about: Participants are made known by asking for them',
      );
    }
    checkName(draft);
    for (const id of namedIn(draft)) {
      if (id === about && openings.has(statement.says)) continue;
      if (kindOf(id) === 'participant') {
        if (!(await this.#registries.participants.isOf(reader, by.tenant, id))) {
          throw notFound('participant', id);
        }
        continue;
      }
      const activity = graph.activityOf(id) ?? graph.relationship(id)?.activity;
      await this.#takesPart(reader, by, source, activity, id);
    }
    const edge = statement.says === 'relationship.revoked' && graph.relationship(about);
    if (edge && edge.assertedBy !== source) throw notFound('relationship of your own', about);
    if (statement.says === 'activity.opened' && (statement.initiator ?? source) !== source) {
      throw new ThroughlineError('invalid', 'initiator: must be your own Participant or left out');
    }
    if (statement.says === 'dialog.opened' && !statement.participants.includes(source)) {
      throw new ThroughlineError('invalid', 'participants: must name your own Participant too');
    }
  }

  async #takesPart(
    reader: StoreReader,
    by: Principal,
    source: string,
    activity: string | undefined,
    id: string,
  ): Promise<void> {
    const takesPart =
      activity !== undefined &&
      (await this.#registries.participants.takesPart(reader, activity, source));
    authorize(by, 'assert', { tenant: by.tenant, takesPart }, () => notFound('object', id));
  }
}

const kindNamed = {
  'activity.opened': 'activity',
  'dialog.opened': 'dialog',
  'task.defined': 'task',
  'resource.known': 'resource',
  'relationship.asserted': 'relationship',
} as const;

/** A new object's id says what kind of thing it is. */
function checkName({ about, statement }: Draft): void {
  const { says } = statement;
  const kind = Object.entries(kindNamed).find(([opening]) => opening === says)?.[1];
  if (kind === undefined || idSchema(kind).safeParse(about).success) return;
  throw new ThroughlineError('invalid', `about: must be the id of a ${kind}`);
}

const asParty = ({ id }: Principal) => ({ kind: 'agent', principal: id }) as const;

const sameJson = (a: unknown, b: unknown): boolean => sorted(a) === sorted(b);

const sorted = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
