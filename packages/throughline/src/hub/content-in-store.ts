import {
  checkDelete,
  checkId,
  checkList,
  checkPut,
  closed,
  type ContentDriver,
} from '../content/content.ts';
import type { Store } from '../store/store.ts';

const kind = 'content-sealed';
const all = { all: 'yes' };

/** Content beside everything else in the hub's store: for a hub that was given no place of its own for it. */
export class ContentInStore implements ContentDriver {
  readonly #store: Store;
  #isClosed = false;

  constructor(store: Store) {
    this.#store = store;
  }

  async put(id: string, bytes: Uint8Array): Promise<void> {
    checkPut(id, bytes);
    this.#checkOpen();
    await this.#store.write(async (writer) => {
      if ((await writer.record({ kind, key: id })) !== undefined) return;
      await writer.putRecord({ kind, key: id, sort: 0, index: all, shape: null, sealed: bytes });
    });
  }

  async get(id: string): Promise<Uint8Array | undefined> {
    checkId(id);
    this.#checkOpen();
    const record = await this.#store.read((reader) => reader.record({ kind, key: id }));
    return record && new Uint8Array(record.sealed ?? []);
  }

  async delete(ids: readonly string[]): Promise<void> {
    checkDelete(ids);
    this.#checkOpen();
    await this.#store.write(async (writer) => {
      for (const key of ids) await writer.deleteRecord({ kind, key });
    });
  }

  async list(after: string, limit: number): Promise<readonly string[]> {
    checkList(after, limit);
    this.#checkOpen();
    if (limit === 0) return [];
    const query = { kind, index: all, ascending: true, after: { sort: 0, key: after }, limit };
    const found = await this.#store.read((reader) => reader.records(query));
    return found.map(({ key }) => key);
  }

  /** The store is the hub's to close. */
  close(): Promise<void> {
    this.#isClosed = true;
    return Promise.resolve();
  }

  #checkOpen(): void {
    if (this.#isClosed) throw closed();
  }
}
