import { z } from 'zod';
import type { ContentDriver } from '../content/content.ts';
import { ThroughlineError } from '../errors.ts';
import type { StoreReader, StoreWriter } from '../store/store.ts';
import type { Deps } from './deps.ts';
import { Records, toJson } from './records.ts';
import { KeyBox } from './vault.ts';

/** An object that no record came to name in so long is nobody's. */
const comingMs = 3_600_000;
const idBytes = 16;
const keyBytes = 32;
/** Objects that one pass deletes. */
export const clearLimit = 500;

/**
 * coming: its bytes may be there, and nothing names it yet; kept: named by a record; gone: named by
 * none any more, and its bytes are to be deleted.
 */
const objectRecords = new Records(
  'content-object',
  z.object({ state: z.enum(['coming', 'kept', 'gone']) }),
  z.object({}),
);
export const objectKind = objectRecords.kind;
type State = 'coming' | 'kept' | 'gone';

/** Where the bytes of an object lie, and the one key that opens them. */
export interface ObjectPlace {
  readonly id: string;
  readonly key: Uint8Array;
}

/**
 * Sealed bytes outside of the store. A record tells of an object before its bytes are written, and its
 * bytes are written before anything names it; so whatever process is killed, nothing names bytes that
 * are not there, and bytes that nothing names are found and deleted.
 */
export class ContentObjects {
  readonly #deps: Deps;
  readonly #driver: ContentDriver;

  constructor(deps: Deps, driver: ContentDriver) {
    this.#deps = deps;
    this.#driver = driver;
  }

  /** In a write, before the bytes. */
  async begin(writer: StoreWriter, activity: string): Promise<ObjectPlace> {
    const { random, now } = this.#deps;
    const place = { id: Buffer.from(random(idBytes)).toString('hex'), key: random(keyBytes) };
    await this.#mark(writer, place.id, 'coming', { activity, at: now().getTime() + comingMs });
    return place;
  }

  /** Outside of any write; durable when it resolves. */
  async put(place: ObjectPlace, bytes: Uint8Array): Promise<void> {
    await this.#driver.put(place.id, this.#box(place).sealBytes(labelOf(place), bytes));
  }

  /** In the write that names it. */
  async keep(writer: StoreWriter, { id }: ObjectPlace, activity: string): Promise<void> {
    const object = await objectRecords.get(writer, this.#deps.vault.domain, id);
    if (object?.shape.state !== 'coming') {
      throw new ThroughlineError('unavailable', 'content: took too long to be put; put it again');
    }
    await this.#mark(writer, id, 'kept', { activity });
  }

  /** In the write after which nothing names it. */
  async doom(writer: StoreWriter, id: string): Promise<void> {
    await this.#mark(writer, id, 'gone', {});
  }

  /**
   * In a write: its bytes are nobody's, unless something came to name them. Where it is not known that they
   * came, they may come yet: a place that was too slow to answer goes on writing.
   */
  async abandon(writer: StoreWriter, { id }: ObjectPlace, came: boolean): Promise<void> {
    const object = await objectRecords.get(writer, this.#deps.vault.domain, id);
    if (object?.shape.state === 'kept') return;
    if (came) await this.doom(writer, id);
    else await this.#mark(writer, id, 'coming', { at: this.#deps.now().getTime() + comingMs });
  }

  /** Outside of any write. `damaged` when it is not what was put; undefined when it is not there. */
  async get(place: ObjectPlace): Promise<Uint8Array | undefined> {
    const sealed = await this.#driver.get(place.id);
    return sealed && this.#box(place).openBytes(labelOf(place), sealed);
  }

  /** Deletes the bytes of what is gone, a bounded number; gives how many. */
  async clear(): Promise<number> {
    const { store } = this.#deps;
    const gone = await store.read((reader) => this.#gone(reader));
    if (gone.length === 0) return 0;
    await this.#driver.delete(gone);
    // Only now: killed before, it is done once more.
    await store.write(async (writer) => {
      for (const key of gone) await writer.deleteRecord({ kind: objectKind, key });
    });
    return gone.length;
  }

  close(): Promise<void> {
    return this.#driver.close();
  }

  async #gone(reader: StoreReader): Promise<string[]> {
    const query = { kind: objectKind, index: { state: 'gone' }, limit: clearLimit };
    return (await reader.records(query)).map(({ key }) => key);
  }

  async #mark(
    writer: StoreWriter,
    id: string,
    state: State,
    { activity, at }: { activity?: string; at?: number },
  ): Promise<void> {
    await writer.putRecord({
      kind: objectKind,
      key: id,
      sort: 0,
      index: { state, ...(activity === undefined ? {} : { activity }) },
      shape: toJson({ state }),
      ...(at === undefined ? {} : { expiresAt: at }),
    });
  }

  #box({ key }: ObjectPlace): KeyBox {
    return new KeyBox(key, this.#deps.random);
  }
}

const labelOf = ({ id }: ObjectPlace): string => `content/${id}`;
