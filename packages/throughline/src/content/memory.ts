import {
  checkDelete,
  checkId,
  checkList,
  checkPut,
  closed,
  type ContentDriver,
} from './content.ts';

class MemoryContent implements ContentDriver {
  readonly #objects = new Map<string, Uint8Array>();
  #isClosed = false;

  async put(id: string, bytes: Uint8Array): Promise<void> {
    await this.#open();
    checkPut(id, bytes);
    if (!this.#objects.has(id)) this.#objects.set(id, bytes.slice());
  }

  async get(id: string): Promise<Uint8Array | undefined> {
    await this.#open();
    checkId(id);
    return this.#objects.get(id)?.slice();
  }

  async delete(ids: readonly string[]): Promise<void> {
    await this.#open();
    checkDelete(ids);
    for (const id of ids) this.#objects.delete(id);
  }

  async list(after: string, limit: number): Promise<readonly string[]> {
    await this.#open();
    checkList(after, limit);
    const ids = [...this.#objects.keys()].filter((id) => id > after);
    return ids.toSorted().slice(0, limit);
  }

  close(): Promise<void> {
    this.#isClosed = true;
    this.#objects.clear();
    return Promise.resolve();
  }

  #open(): Promise<void> {
    return this.#isClosed ? Promise.reject(closed()) : Promise.resolve();
  }
}

/** Gone with the process; for tests. */
export const openMemoryContent = (): ContentDriver => new MemoryContent();
