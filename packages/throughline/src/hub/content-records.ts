import { z } from 'zod';
import { foreignId, digest as digestSchema, type Principal } from '../model/index.ts';
import type { StoreReader, StoreWriter } from '../store/store.ts';
import { CaseBoxes } from './case-boxes.ts';
import { objectKind, type ContentObjects, type ObjectPlace } from './content-objects.ts';
import type { Deps } from './deps.ts';
import type { Quotas, Stored } from './quotas.ts';
import { Records, type Kept } from './records.ts';

/** Records that are read at a time. */
const page = 500;

const shapeSchema = z.object({
  activity: z.string(),
  size: z.int(),
  digest: digestSchema,
  /** Participants that may read it: those in the Dialog of its task when the task put it out. */
  readers: z.array(z.string()).optional(),
  /** Task that put it out. */
  outputOf: z.string().optional(),
  /** Where its bytes lie; absent: in a record of the store, as earlier versions kept them. */
  object: z.string().optional(),
  region: z.string().optional(),
  /** Milliseconds since the epoch from which it is not served any more. */
  until: z.number().optional(),
});
const contentSchema = z.object({
  tenant: foreignId,
  keeper: foreignId,
  mediaType: z.string(),
  /** Key of the object, in base64url; sealed with the case, so that it goes with it. */
  key: z.string().optional(),
});
type Shape = z.infer<typeof shapeSchema>;
type Content = z.infer<typeof contentSchema>;

/** What is known of a piece of content, apart from its bytes. */
export const contentNotes: Records<Shape, Content> = new Records(
  'content',
  shapeSchema,
  contentSchema,
);
export type ContentNote = Kept<Shape, Content>;

/** Bytes as earlier versions kept them: in the store, sealed with their case. */
export const bytesKind = 'content-bytes';

/** How often all read tokens of a case were taken back. */
export const epochKind = 'content-epoch';

/** Found by their case, and dropped with it. */
export const contentKinds: readonly string[] = [contentNotes.kind, bytesKind, epochKind];

export const findNote = (
  { vault }: Deps,
  reader: StoreReader,
  resource: string,
): Promise<ContentNote | undefined> =>
  contentNotes.look(reader, new CaseBoxes(vault, reader), resource);

/** Where the bytes of a piece are; undefined for one of an earlier version or without its key. */
export function placeOf({ shape, content }: ContentNote): ObjectPlace | undefined {
  if (shape.object === undefined || content?.key === undefined) return undefined;
  return { id: shape.object, key: Buffer.from(content.key, 'base64url') };
}

/** Content that nobody may read any more: its bytes go, and what was counted for its keeper is given back. */
export class ContentEnd {
  readonly #deps: Deps;
  readonly #objects: ContentObjects;
  readonly #quotas: Quotas;

  constructor(deps: Deps, parts: { objects: ContentObjects; quotas: Quotas }) {
    this.#deps = deps;
    this.#objects = parts.objects;
    this.#quotas = parts.quotas;
  }

  /** One piece, whose time is over. That it was there stays, so that its readers are told. */
  async expire(writer: StoreWriter, resource: string): Promise<void> {
    const note = await findNote(this.#deps, writer, resource);
    if (note === undefined) return;
    const { activity, object } = note.shape;
    const box = await this.#deps.vault.caseBox(writer, activity);
    if (object !== undefined) await this.#objects.doom(writer, object);
    await writer.deleteRecord({ kind: bytesKind, key: resource });
    if (box === undefined || note.content === undefined) return;
    const { key: _key, ...content } = note.content;
    await this.#quotas.release(writer, [storedBy(content, note.shape.size)]);
    await contentNotes.put(writer, box, {
      key: resource,
      index: { activity },
      activity,
      shape: { ...note.shape, size: 0 },
      content,
    });
  }

  /** All of a case, whose records are dropped by whoever erases it. */
  async ofCase(writer: StoreWriter, activity: string): Promise<void> {
    const box = await this.#deps.vault.caseBox(writer, activity);
    const query = { index: { activity }, ascending: true, limit: page };
    for (let after: ContentNote | undefined, isEnd = false; !isEnd;) {
      const found = await contentNotes.find(writer, () => box, {
        ...query,
        ...(after && { after }),
      });
      const stored = found.flatMap(({ content, shape }) =>
        content === undefined ? [] : [storedBy(content, shape.size)],
      );
      await this.#quotas.release(writer, stored);
      after = found.at(-1);
      isEnd = found.length < page;
    }
    // One that is doomed is of no case any more.
    for (let isEnd = false; !isEnd;) {
      const found = await writer.records({ kind: objectKind, ...query });
      for (const { key } of found) await this.#objects.doom(writer, key);
      isEnd = found.length < page;
    }
  }
}

/** For quotas. */
export const storedBy = ({ tenant, keeper }: Content, bytes: number): Stored => ({
  tenant,
  id: keeper,
  bytes,
});

/** Whose content it is, for rights. */
export const keptBy = (by: Principal): Pick<Content, 'tenant' | 'keeper'> => ({
  tenant: by.tenant,
  keeper: by.id,
});
