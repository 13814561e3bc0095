import { z } from 'zod';
import type { StoreWriter } from '../../store/index.ts';
import type { CaseLabels } from '../case-labels.ts';
import { caseRecords } from '../case-records.ts';
import type { ContentObjects, ObjectPlace } from '../content-objects.ts';
import type { Contexts } from '../contexts.ts';
import type { Deps } from '../deps.ts';
import type { Registries } from '../observing.ts';
import type { Quotas } from '../quotas.ts';
import type { TaskStore } from '../task-records.ts';
import { handoverRecords, runUsageRecords, textRecords } from '../usage.ts';
import { waitsInCase } from '../waiting.ts';
import { Workspace } from '../workspace.ts';
import { putContent } from './content-lines.ts';
import { participantsIn } from './entry-line.ts';
import type { Line, LineOf } from './lines.ts';

export interface PutParts {
  readonly contexts: Contexts;
  readonly tasks: TaskStore;
  readonly registries: Registries;
  readonly labels: CaseLabels;
  readonly quotas: Quotas;
  readonly objects: ContentObjects;
}

interface Place {
  readonly writer: StoreWriter;
  /** Where the bytes of content were put. */
  readonly places: ReadonlyMap<string, ObjectPlace>;
  /** Number here of the last entry of a case. */
  readonly last: ReadonlyMap<string, number>;
}

type Put<K extends Line['kind']> = (
  deps: Deps,
  parts: PutParts,
  place: Place,
  line: LineOf<K>,
) => Promise<void>;

const bornSchema = z.looseObject({ born: z.int() });

const putContext: Put<'context'> = async (_deps, { contexts, registries }, { writer }, line) => {
  const { kind: _kind, dialog, ...context } = line;
  await contexts.restore(writer, context);
  if (dialog !== undefined) {
    await registries.mappings.set(writer, ['context', 'a2a', line.ref], dialog);
  }
};

const putTask: Put<'task'> = async (_deps, { tasks }, { writer }, line) => {
  const { kind: _kind, activity, task, ref, state, awaiting, statusAt, ...content } = line;
  if ((await tasks.get(writer, line.tenant, line.id)) !== undefined) return;
  const [stored] = await writer.objects([task]);
  const { born } = bornSchema.parse(stored?.shape);
  const shape = { ref, activity, task, state, awaiting, statusAt, born };
  await tasks.put(writer, shape, { ...content, body: line.body }, 0);
};

const putHandover: Put<'handover'> = async ({ vault }, _parts, { writer }, line) => {
  const { activity, figures, texts } = line;
  const box = await vault.caseBoxFor(writer, activity);
  const kept = { key: figures.task, index: { activity }, activity, shape: {} };
  await handoverRecords.put(writer, box, { ...kept, content: figures });
  if (texts !== undefined) await textRecords.put(writer, box, { ...kept, content: texts });
};

const putRunUsage: Put<'run-usage'> = async ({ vault }, _parts, { writer }, line) => {
  const { activity, figures: content } = line;
  const box = await vault.caseBoxFor(writer, activity);
  const kept = { key: content.run, index: { activity }, activity, shape: {} };
  await runUsageRecords.put(writer, box, { ...kept, content });
};

const putParticipant: Put<'participant'> = async (_deps, { registries }, { writer }, line) => {
  const { id, tenant, principal, url } = line;
  const party =
    principal === undefined && url === undefined
      ? undefined
      : {
          kind: 'agent' as const,
          ...(principal === undefined ? {} : { principal }),
          ...(url === undefined ? {} : { url }),
        };
  await registries.participants.restore(writer, tenant, id, party);
};

const putCase: Put<'case'> = async (deps, parts, place, line) => {
  const { vault, terms } = deps;
  const { writer, last } = place;
  const { id, tenant, owner, ref, refs, openedAt, updatedAt } = line;
  const index = {
    ...(owner === undefined ? {} : { owner: vault.blind('principal', tenant, owner) }),
    tenant: vault.blind('tenant', tenant),
  };
  const times = { openedAt, updatedAt };
  const seq = last.get(id) ?? 0;
  const kept = { key: id, sort: seq };
  if (line.erased === true || owner === undefined) {
    await destroy(deps, parts, writer, id);
    const shape = { ...times, refs: [], erased: true };
    await caseRecords.bury(writer, { ...kept, index, shape });
    return;
  }
  const { historyTtlMs } = terms;
  await caseRecords.put(writer, await vault.caseBoxFor(writer, id), {
    ...kept,
    activity: id,
    index: {
      ...index,
      ...(ref === undefined ? {} : { context: ref }),
      ...((await waitsInCase(writer, id)) ? parts.registries.cases.waitsIn(tenant) : {}),
    },
    shape: { ...times, refs, ...(ref === undefined ? {} : { ref }) },
    content: { tenant, owner },
    expiresAt: historyTtlMs === undefined ? undefined : deps.now().getTime() + historyTtlMs,
  });
  const workspace = new Workspace(vault, writer);
  await workspace.need([id]);
  for (const [name, value] of Object.entries(workspace.graph.activity(id)?.labels ?? {})) {
    await parts.labels.set(writer, { activity: id, seq, tenant, owner }, name, value);
  }
};

/** Leaves of an erased case what its erasure left where it took place. */
async function destroy(
  { vault }: Deps,
  { registries }: PutParts,
  writer: StoreWriter,
  activity: string,
): Promise<void> {
  const page = 500;
  for (let after = 0, isEnd = false; !isEnd;) {
    const found = await writer.log({ activity, after, limit: page });
    for (const { about, shape } of found) {
      await registries.mappings.drop(writer, about);
      for (const id of participantsIn(shape)) {
        await registries.participants.leave(writer, activity, id);
      }
    }
    after = found.at(-1)?.seq ?? after;
    isEnd = found.length < page;
  }
  await vault.destroy(writer, activity);
}

/** Keeps what a line holds beside the log; once more changes nothing. */
export async function putRecord(
  deps: Deps,
  parts: PutParts,
  place: Place,
  line: Exclude<Line, { kind: 'entry' }>,
): Promise<void> {
  switch (line.kind) {
    case 'case':
      return putCase(deps, parts, place, line);
    case 'context':
      return putContext(deps, parts, place, line);
    case 'task':
      return putTask(deps, parts, place, line);
    case 'handover':
      return putHandover(deps, parts, place, line);
    case 'run-usage':
      return putRunUsage(deps, parts, place, line);
    case 'content':
      return putContent(deps, parts, place.writer, {
        line,
        place: place.places.get(line.resource),
      });
    case 'participant':
      return putParticipant(deps, parts, place, line);
  }
}
