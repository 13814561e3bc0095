import { z } from 'zod';
import type { Principal } from '../model/index.ts';
import type { StoreReader, StoreWriter } from '../store/store.ts';
import type { Deps } from './deps.ts';
import { Records } from './records.ts';

const mappingRecords = new Records('mapping', z.object({ id: z.string() }), z.object({}));

/** A protocol's own name for one of our objects, together with the only place where it means that. */
export type LocalName =
  /** Dialogs of contexts that this hub keeps. */
  | readonly ['context', protocol: string, ref: string]
  /** Dialogs that one principal holds with a server of somebody else. */
  | readonly ['peer', tenant: string, observer: string, endpoint: string, contextId: string]
  /** Tasks, each inside its Dialog. */
  | readonly ['task', dialog: string, taskId: string];

/** From protocol-local ids to ours. A local id means nothing outside its place, and is kept blinded. */
export class Mappings {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  async find(reader: StoreReader, name: LocalName): Promise<string | undefined> {
    const { vault } = this.#deps;
    const key = vault.blind('mapping', ...name);
    return (await mappingRecords.get(reader, vault.domain, key))?.shape.id;
  }

  /** A later one for the same name takes the place of the earlier. */
  async set(writer: StoreWriter, name: LocalName, id: string, seenBy?: string): Promise<void> {
    const { vault } = this.#deps;
    const key = vault.blind('mapping', ...name);
    const index = { id, ...(seenBy === undefined ? {} : { seen: seenBy }) };
    await mappingRecords.put(writer, vault.domain, { key, index, shape: { id }, content: {} });
  }

  /** Nothing is found by the protocols' names of this object any more. */
  async drop(writer: StoreWriter, id: string): Promise<void> {
    const query = { kind: mappingRecords.kind, index: { id }, limit: 1_000 };
    for (const { key } of await writer.records(query)) {
      await writer.deleteRecord({ kind: mappingRecords.kind, key });
    }
  }

  /** Under which a principal finds again a task that it saw at somebody else's server. */
  seen(observer: Principal, taskId: string): string {
    return this.#deps.vault.blind('seen', observer.tenant, observer.id, taskId);
  }

  async findSeen(reader: StoreReader, observer: Principal, taskId: string): Promise<string[]> {
    const index = { seen: this.seen(observer, taskId) };
    const query = { index, limit: 2 };
    const found = await mappingRecords.find(reader, this.#deps.vault.domain, query);
    return found.map(({ shape }) => shape.id);
  }
}
