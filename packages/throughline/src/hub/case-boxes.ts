import type { StoreReader, StoreWriter } from '../store/store.ts';
import type { KeyBox, Vault } from './vault.ts';

/** Opens the keys of scopes for one reader, each once. */
export class CaseBoxes {
  readonly #vault: Vault;
  readonly #reader: StoreReader;
  readonly #boxes = new Map<string, KeyBox | undefined>();

  constructor(vault: Vault, reader: StoreReader) {
    this.#vault = vault;
    this.#reader = reader;
  }

  /** Undefined when the key was destroyed. */
  async of(scope: string): Promise<KeyBox | undefined> {
    if (!this.#boxes.has(scope)) {
      this.#boxes.set(scope, await this.#vault.caseBox(this.#reader, scope));
    }
    return this.#boxes.get(scope);
  }

  /** The same, made when it is not there yet. */
  async make(writer: StoreWriter, scope: string): Promise<KeyBox> {
    const known = this.#boxes.get(scope);
    if (known !== undefined) return known;
    const box = await this.#vault.caseBoxFor(writer, scope);
    this.#boxes.set(scope, box);
    return box;
  }

  /** The key that a record is sealed with. */
  readonly for = async (record: {
    readonly activity?: string | undefined;
  }): Promise<KeyBox | undefined> =>
    record.activity === undefined ? this.#vault.domain : this.of(record.activity);
}
