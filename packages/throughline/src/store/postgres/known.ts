import type { Raw } from '../engine.ts';
import type { RecordKey, StoredObject, StoredRecord } from '../store.ts';
import { type Changes, own, recordName, weight } from './changes.ts';

/** Bytes of rows that are kept at hand, at most, but for those of the work under way. */
const knownBytes = 16_777_216;

/** A row that is known: as it is, or that there is none. */
interface Known<T> {
  readonly row: T | undefined;
}

/**
 * What the database was found to have since the transaction began. It can't change but by what is
 * brought to it here, since nobody else writes meanwhile; so nothing is asked for twice.
 */
export class KnownRows {
  readonly #records = new Map<string, Known<Raw<StoredRecord>>>();
  readonly #objects = new Map<string, Known<Raw<StoredObject>>>();
  #bytes = 0;

  record(key: RecordKey): Known<Raw<StoredRecord>> | undefined {
    return this.#records.get(recordName(key));
  }

  object(id: string): Known<Raw<StoredObject>> | undefined {
    return this.#objects.get(id);
  }

  keepRecord(key: RecordKey, row: Raw<StoredRecord> | undefined): void {
    this.#records.set(recordName(key), { row: row && own(row) });
    this.#bytes += row === undefined ? 0 : weight(row);
  }

  keepObject(id: string, row: Raw<StoredObject> | undefined): void {
    this.#objects.set(id, { row: row && own(row) });
    this.#bytes += row === undefined ? 0 : weight(row);
  }

  /** The database has these now. */
  brought({ records, objects }: Changes): void {
    for (const change of records) this.keepRecord(change, change.wanted);
    for (const [id, object] of objects) this.keepObject(id, object);
  }

  /** Makes room once too much is at hand. */
  trim(): void {
    if (this.#bytes > knownBytes) this.clear();
  }

  clear(): void {
    this.#records.clear();
    this.#objects.clear();
    this.#bytes = 0;
  }
}
