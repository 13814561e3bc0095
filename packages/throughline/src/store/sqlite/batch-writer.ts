import type { Raw } from '../engine.ts';
import type {
  RecordKey,
  StoredEdge,
  StoredLogEntry,
  StoredObject,
  StoredRecord,
} from '../store.ts';
import { SqliteWriter } from './writer.ts';

/** Works that share one savepoint, at most. */
const shared = 16;

/** A row that the caller can't change any more. */
function own<T extends { readonly sealed?: Uint8Array }>(row: T): T {
  return row.sealed === undefined ? row : { ...row, sealed: Uint8Array.from(row.sealed) };
}

/**
 * Lets several works share a savepoint, since each one makes SQLite copy every page that is touched
 * after it. When a work is undone, so are those before it that share its savepoint, and their
 * changes are made again: within the same transaction, from the same state, so to the same end.
 */
export class SqliteBatchWriter extends SqliteWriter {
  /** Changes of the works kept since the savepoint, and of the one under way. */
  #kept: (() => void)[] = [];
  #current: (() => void)[] = [];
  #works = 0;

  override begin(): void {
    super.begin();
    this.#start();
  }

  override mark(): void {
    this.#current = [];
    if (this.#works === shared) {
      super.keep();
      this.#start();
    }
    if (this.#works === 0) super.mark();
    this.#works += 1;
  }

  override keep(): void {
    this.#kept.push(...this.#current);
  }

  override undo(): void {
    super.undo();
    super.mark();
    for (const change of this.#kept) change();
  }

  override insert(entries: readonly Raw<StoredLogEntry>[]): void {
    const owned = entries.map(own);
    this.#change(() => super.insert(owned));
  }

  override putObject(object: Raw<StoredObject>): void {
    const owned = own(object);
    this.#change(() => super.putObject(owned));
  }

  override putEdge(edge: Raw<StoredEdge>): void {
    const owned = own(edge);
    this.#change(() => super.putEdge(owned));
  }

  override putRecord(record: Raw<StoredRecord>): void {
    const owned = own({ ...record, index: { ...record.index } });
    this.#change(() => super.putRecord(owned));
  }

  override deleteRecord({ kind, key }: RecordKey): void {
    this.#change(() => super.deleteRecord({ kind, key }));
  }

  override eraseActivity(activity: string): void {
    this.#change(() => super.eraseActivity(activity));
  }

  #start(): void {
    this.#kept = [];
    this.#current = [];
    this.#works = 0;
  }

  #change(change: () => void): void {
    change();
    this.#current.push(change);
  }
}
