import type { Principal } from '../../model/index.ts';
import type { StoreReader } from '../../store/index.ts';
import { CaseBoxes } from '../case-boxes.ts';
import type { ContentObjects } from '../content-objects.ts';
import { contextRecords, type Contexts } from '../contexts.ts';
import type { Deps } from '../deps.ts';
import type { Registries } from '../observing.ts';
import type { LiveTask, TaskStore } from '../task-records.ts';
import type { Usage } from '../usage.ts';
import { Workspace } from '../workspace.ts';
import { contentLines } from './content-lines.ts';
import type { Line, LineOf } from './lines.ts';

export interface RecordParts {
  readonly contexts: Contexts;
  readonly tasks: TaskStore;
  readonly registries: Registries;
  readonly usage: Usage;
  readonly objects: ContentObjects;
}

interface Wanted {
  readonly by: Principal;
  readonly activity: string;
  /** Tasks that began after this number are not in the entries either. */
  readonly head: number;
  readonly shapeOnly: boolean;
}

/** Tasks that are read in one moment. */
const page = 500;

/** What is kept of a case beside the log, as far as the caller may read it. */
export async function* recordLines(
  deps: Deps,
  parts: RecordParts,
  wanted: Wanted,
): AsyncGenerator<Line> {
  const { store } = deps;
  const line = await store.read((reader) => caseLine(deps, parts, reader, wanted));
  if (line === undefined) return;
  if (!wanted.shapeOnly) {
    for (const ref of line.refs) {
      const context = await store.read((reader) => contextLine(deps, parts, reader, ref));
      if (context !== undefined) yield context;
      yield* taskLines(deps, parts, wanted, ref);
    }
    yield* handoverLines(deps, parts, wanted);
    yield* runUsageLines(deps, parts, wanted);
    yield* contentLines(deps, parts, wanted);
  }
  // Last: with it the case is there.
  yield line;
}

async function caseLine(
  { vault }: Deps,
  { registries }: RecordParts,
  reader: StoreReader,
  { by, activity, shapeOnly }: Wanted,
): Promise<LineOf<'case'> | undefined> {
  const record = await registries.cases.get(reader, activity);
  if (record === undefined) return undefined;
  const { ref, refs, openedAt, updatedAt, erased } = record.shape;
  const isOwn = record.index['owner'] === vault.blind('principal', by.tenant, by.id);
  const owner = record.content?.owner ?? (isOwn ? by.id : undefined);
  return {
    kind: 'case',
    id: activity,
    tenant: by.tenant,
    ...(owner === undefined || shapeOnly ? {} : { owner }),
    ...(erased === true ? { erased } : {}),
    ...(ref === undefined ? {} : { ref }),
    refs,
    openedAt,
    updatedAt,
  };
}

async function contextLine(
  { vault }: Deps,
  { registries }: RecordParts,
  reader: StoreReader,
  ref: string,
): Promise<LineOf<'context'> | undefined> {
  const found = await contextRecords.look(reader, new CaseBoxes(vault, reader), ref);
  if (found?.content === undefined) return undefined;
  const dialog = await registries.mappings.find(reader, ['context', 'a2a', ref]);
  const { tenant, owner, agent, contextId } = found.content;
  return {
    kind: 'context',
    ref,
    ...(dialog === undefined ? {} : { dialog }),
    tenant,
    owner,
    agent,
    contextId,
    expires: found.shape.expires,
  };
}

/** In the order of their status times, and of their ids where those are equal. */
async function* taskLines(
  { store }: Deps,
  { tasks }: RecordParts,
  { activity, head }: Wanted,
  ref: string,
): AsyncGenerator<LineOf<'task'>> {
  const places: { tenant: string; id: string; at: string }[] = [];
  for (let after: { sort: number; key: string } | undefined, isEnd = false; !isEnd;) {
    const query = { index: { context: ref }, limit: page, after };
    const found = await store.read((reader) => tasks.find(reader, query));
    for (const { shape, content } of found) {
      if (shape.activity !== activity || shape.born > head) continue;
      places.push({ tenant: content.tenant, id: content.id, at: shape.statusAt });
    }
    after = found.at(-1);
    isEnd = found.length < page;
  }
  const inOrder = places.toSorted((a, b) => compare(a.at, b.at) || compare(a.id, b.id));
  for (const { tenant, id } of inOrder) {
    const task = await store.read((reader) => tasks.get(reader, tenant, id));
    if (task !== undefined) yield taskLine(task);
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function taskLine({ shape, content }: LiveTask): LineOf<'task'> {
  const { activity, task, ref, state, awaiting, statusAt } = shape;
  const { tenant, id, contextId, agent, owner, caseOwner, messageId, body } = content;
  return {
    kind: 'task',
    activity,
    task,
    ref,
    tenant,
    id,
    contextId,
    agent,
    owner,
    caseOwner,
    ...(messageId === undefined ? {} : { messageId }),
    state,
    ...(awaiting === undefined ? {} : { awaiting }),
    statusAt,
    body,
  };
}

/** Figures for everyone; the texts, which hold what others were not to see, as on any other way. */
async function* handoverLines(
  { store, vault }: Deps,
  { registries, usage }: RecordParts,
  { by, activity }: Wanted,
): AsyncGenerator<LineOf<'handover'>> {
  const told = await store.read((reader) =>
    usage.ofCase(reader, new CaseBoxes(vault, reader), activity),
  );
  for (const figures of told) {
    const texts = await store.read(async (reader) => {
      const workspace = new Workspace(vault, reader);
      await workspace.need([figures.dialog]);
      const self = await registries.participants.of(reader, by);
      const invokes =
        self !== undefined && workspace.graph.dialog(figures.dialog)?.invoker === self;
      if (by.role !== 'operator' && !invokes) return undefined;
      return usage.texts(reader, workspace.boxes, activity, figures.task);
    });
    yield { kind: 'handover', activity, figures, ...(texts === undefined ? {} : { texts }) };
  }
}

/** In the order of their runs: their keys are of one hub. */
async function* runUsageLines(
  { store, vault }: Deps,
  { usage }: RecordParts,
  { activity }: Wanted,
): AsyncGenerator<LineOf<'run-usage'>> {
  const told = await store.read((reader) =>
    usage.runsOf(reader, new CaseBoxes(vault, reader), activity),
  );
  const inOrder = told.toSorted((a, b) => compare(a.run, b.run));
  for (const figures of inOrder) yield { kind: 'run-usage', activity, figures };
}
