import type { Principal } from '../../model/index.ts';
import type { StoreReader, StoreWriter } from '../../store/index.ts';
import { CaseBoxes } from '../case-boxes.ts';
import type { ContentObjects, ObjectPlace } from '../content-objects.ts';
import { bytesKind, contentNotes, placeOf, type ContentNote } from '../content-records.ts';
import { isTheirs } from '../content-rights.ts';
import type { Deps } from '../deps.ts';
import type { Registries } from '../observing.ts';
import type { Quotas } from '../quotas.ts';
import { digestOf } from '../vault.ts';
import type { LineOf } from './lines.ts';

const page = 100;

/** Bytes of a piece, wherever they lie; undefined once they are gone. */
export async function bytesOf(
  deps: Deps,
  objects: ContentObjects,
  note: ContentNote,
): Promise<Uint8Array | undefined> {
  const at = placeOf(note);
  if (at !== undefined) return objects.get(at);
  const { key, shape } = note;
  return deps.store.read(async (reader) => {
    const record = await reader.record({ kind: bytesKind, key });
    const box = await deps.vault.caseBox(reader, shape.activity);
    return record?.sealed && box?.openBytes(`${bytesKind}/${key}`, record.sealed);
  });
}

/** Offloaded content of a case: to operators all of it, to others what they may read without a token. */
export async function* contentLines(
  deps: Deps,
  parts: { registries: Registries; objects: ContentObjects },
  { by, activity }: { by: Principal; activity: string },
): AsyncGenerator<LineOf<'content'>> {
  for (let after: ContentNote | undefined, isEnd = false; !isEnd;) {
    const place = after;
    const found = await deps.store.read(async (reader) => {
      const boxes = new CaseBoxes(deps.vault, reader);
      const notes = await contentNotes.find(reader, boxes.for, {
        index: { activity },
        ascending: true,
        limit: page,
        ...(place && { after: { sort: place.sort, key: place.key } }),
      });
      return { notes, open: await readable(reader, parts.registries, by, notes) };
    });
    for (const note of found.open) {
      const line = lineOf(note, await bytesOf(deps, parts.objects, note));
      if (line !== undefined) yield line;
    }
    after = found.notes.at(-1);
    isEnd = found.notes.length < page;
  }
}

async function readable(
  reader: StoreReader,
  { participants }: Registries,
  by: Principal,
  notes: readonly ContentNote[],
): Promise<ContentNote[]> {
  const open: ContentNote[] = [];
  for (const note of notes) {
    const isOpen = by.role === 'operator' || (await isTheirs(participants, reader, by, note));
    if (isOpen) open.push(note);
  }
  return open;
}

function lineOf(
  { key: resource, shape, content }: ContentNote,
  bytes: Uint8Array | undefined,
): LineOf<'content'> | undefined {
  if (content === undefined) return undefined;
  const { activity, size, digest, readers, region, until } = shape;
  const { tenant, keeper, mediaType } = content;
  return {
    kind: 'content',
    activity,
    resource,
    tenant,
    keeper,
    mediaType,
    size,
    digest,
    ...(readers === undefined ? {} : { readers }),
    ...(region === undefined ? {} : { region }),
    ...(until === undefined ? {} : { until }),
    ...(bytes === undefined ? {} : { bytes: Buffer.from(bytes).toString('base64') }),
  };
}

const decoded = (bytes: string): Uint8Array => new Uint8Array(Buffer.from(bytes, 'base64'));

/** What is wrong with a line of content by itself. */
export function problemInContent(line: LineOf<'content'>): string | undefined {
  if (line.bytes === undefined) return undefined;
  const bytes = decoded(line.bytes);
  const isWhole = bytes.length === line.size && digestOf(bytes) === line.digest;
  return isWhole ? undefined : `${line.resource}: its bytes are not those of its digest`;
}

/** Puts the bytes of a line where bytes lie, outside of any write; undefined where there are none to put. */
export async function putBytes(
  { store }: Deps,
  objects: ContentObjects,
  { activity, resource, bytes }: LineOf<'content'>,
): Promise<ObjectPlace | undefined> {
  if (bytes === undefined) return undefined;
  const place = await store.write(async (writer) =>
    (await isKept(writer, resource)) ? undefined : objects.begin(writer, activity),
  );
  if (place !== undefined) await objects.put(place, decoded(bytes));
  return place;
}

const isKept = async (reader: StoreReader, key: string): Promise<boolean> =>
  (await reader.record({ kind: contentNotes.kind, key })) !== undefined;

/** In the write that names the bytes. */
export async function putContent(
  { vault }: Deps,
  parts: { objects: ContentObjects; quotas: Quotas },
  writer: StoreWriter,
  { line, place }: { line: LineOf<'content'>; place: ObjectPlace | undefined },
): Promise<void> {
  const { activity, resource: key, tenant, keeper, mediaType, size, digest, until } = line;
  if (await isKept(writer, key)) return;
  const { readers, region } = line;
  await contentNotes.put(writer, await vault.caseBoxFor(writer, activity), {
    key,
    index: { activity },
    activity,
    shape: {
      activity,
      size,
      digest,
      ...(readers === undefined ? {} : { readers }),
      ...(region === undefined ? {} : { region }),
      ...(until === undefined ? {} : { until }),
      ...(place === undefined ? {} : { object: place.id }),
    },
    content: {
      tenant,
      keeper,
      mediaType,
      ...(place === undefined ? {} : { key: Buffer.from(place.key).toString('base64url') }),
    },
    expiresAt: place === undefined ? undefined : until,
    expected: 0,
  });
  if (place === undefined) return;
  // Counted and not refused: half of a file would be left.
  await parts.quotas.count(writer, { tenant, id: keeper }, size);
  await parts.objects.keep(writer, place, activity);
}
