import type { StoreReader, StoreWriter } from '../store/store.ts';
import type { KeyBox, Vault } from './vault.ts';

/** Opens the keys of scopes for one reader, each once. */
export class CaseBoxes {
  readonly #vault: Vault;
  readonly #reader: StoreReader;
  readonly #boxes = new Map<string, Promise<KeyBox | undefined>>();

  constructor(vault: Vault, reader: StoreReader) {
    this.#vault = vault;
    this.#reader = reader;
  }

  /** Undefined when the key was destroyed. */
  of(scope: string): Promise<KeyBox | undefined> {
    const known = this.#boxes.get(scope);
    if (known !== undefined) return known;
    const box = this.#vault.caseBox(this.#reader, scope);
    this.#boxes.set(scope, box);
    return box;
  }

  /** The same, made when it is not there yet. */
  async make(writer: StoreWriter, scope: string): Promise<KeyBox> {
    const known = await this.#boxes.get(scope);
    if (known !== undefined) return known;
    const box = this.#vault.caseBoxFor(writer, scope);
    this.#boxes.set(scope, box);
    return box;
  }

  /** The key that a record is sealed with. */
  readonly for = async (record: {
    readonly activity?: string | undefined;
  }): Promise<KeyBox | undefined> =>
    record.activity === undefined ? this.#vault.domain : this.of(record.activity);
}
