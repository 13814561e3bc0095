import type { CountQuery, Raw } from '../engine.ts';
import type {
  RecordKey,
  StoredEdge,
  StoredLogEntry,
  StoredObject,
  StoredRecord,
} from '../store.ts';
import { termOf } from './reader.ts';

/** What a record is found by. */
type Indexed = Pick<StoredRecord, 'kind' | 'key' | 'sort' | 'index'>;

export interface RecordChange extends RecordKey {
  /** What the database has; nothing where there is none. */
  readonly stored: Indexed | undefined;
  /** What it is to have; nothing for none. */
  readonly wanted: Raw<StoredRecord> | undefined;
}

/** One entry of the index of records. */
export interface Term {
  readonly term: string;
  readonly sort: number;
  readonly key: string;
}

/** Bytes of a row that are worth counting. */
export const weight = ({
  shape,
  sealed,
}: {
  shape: string;
  sealed?: Uint8Array | undefined;
}): number => 256 + shape.length + (sealed?.length ?? 0);

/** A row that nobody else can change. */
export function own<T extends { readonly sealed?: Uint8Array }>(row: T): T {
  return row.sealed === undefined ? row : { ...row, sealed: Uint8Array.from(row.sealed) };
}

/** Kinds have no NUL in them, nor do keys. */
export const recordName = ({ kind, key }: RecordKey): string => `${kind}\0${key}`;

/**
 * What a work has changed and the database does not know of yet: the last state of each row. Kept
 * back, so that many changes of many works go out as one statement.
 */
export class Changes {
  readonly log: Raw<StoredLogEntry>[] = [];
  readonly objects = new Map<string, Raw<StoredObject>>();
  readonly edges = new Map<string, Raw<StoredEdge>>();
  readonly #ids = new Set<string>();
  readonly #records = new Map<string, RecordChange>();
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  get empty(): boolean {
    const { log, objects, edges } = this;
    return log.length + objects.size + edges.size + this.#records.size === 0;
  }

  get records(): readonly RecordChange[] {
    return [...this.#records.values()];
  }

  /** An entry with this id is among these. */
  appends(id: string): boolean {
    return this.#ids.has(id);
  }

  append(entries: readonly Raw<StoredLogEntry>[]): void {
    for (const entry of entries) {
      this.log.push(own(entry));
      this.#ids.add(entry.id);
      this.#bytes += weight(entry);
    }
  }

  putObject(object: Raw<StoredObject>): void {
    this.objects.set(object.id, own(object));
    this.#bytes += weight(object);
  }

  putEdge(edge: Raw<StoredEdge>): void {
    this.edges.set(edge.id, own(edge));
    this.#bytes += weight(edge);
  }

  record(key: RecordKey): RecordChange | undefined {
    return this.#records.get(recordName(key));
  }

  setRecord(change: RecordChange): void {
    const { wanted } = change;
    this.#set({ ...change, wanted: wanted && own({ ...wanted, index: { ...wanted.index } }) });
    if (wanted !== undefined) this.#bytes += weight(wanted);
  }

  /** A record among these may match, or have matched. */
  touches({ kind, index }: Pick<CountQuery, 'kind' | 'index'>): boolean {
    const [first] = Object.entries(index);
    if (first === undefined) return true;
    const [name, value] = first;
    return this.records.some(
      ({ stored, wanted, ...change }) =>
        change.kind === kind && (stored?.index[name] === value || wanted?.index[name] === value),
    );
  }

  /** Takes in what was changed after these. */
  absorb(later: Changes): void {
    for (const entry of later.log) {
      this.log.push(entry);
      this.#ids.add(entry.id);
    }
    for (const [id, object] of later.objects) this.objects.set(id, object);
    for (const [id, edge] of later.edges) this.edges.set(id, edge);
    for (const change of later.records) this.#set(change);
    this.#bytes += later.bytes;
  }

  /** Entries of the index to drop and to make. */
  terms(): { readonly drop: readonly Term[]; readonly add: readonly Term[] } {
    const drop: Term[] = [];
    const add: Term[] = [];
    for (const { stored, wanted } of this.#records.values()) {
      const [before, after] = [termsOf(stored), termsOf(wanted)];
      for (const [name, term] of before) if (!after.has(name)) drop.push(term);
      for (const [name, term] of after) if (!before.has(name)) add.push(term);
    }
    return { drop, add };
  }

  #set(change: RecordChange): void {
    const before = this.record(change);
    const stored = before === undefined ? change.stored : before.stored;
    this.#records.set(recordName(change), { ...change, stored });
  }
}

/** By all that makes one differ from another. */
function termsOf(record: Indexed | undefined): ReadonlyMap<string, Term> {
  if (record === undefined) return new Map();
  const { kind, key, sort, index } = record;
  return new Map(
    Object.entries(index).map(([name, value]) => {
      const term = { term: termOf(kind, name, value), sort, key };
      return [`${term.term}${sort}`, term];
    }),
  );
}
