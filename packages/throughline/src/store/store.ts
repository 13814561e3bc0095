/**
 * The port that every database driver fills. It knows nothing of meaning: a numbered log, the graph
 * as objects and edges, and versioned records found by index. All three change in one transaction.
 *
 * Text that a person may have written never arrives here in the clear: `sealed` is encrypted by the
 * hub under the case's key, and index values made from ids of outside are blinded.
 */

/**
 * JSON without `undefined`: plain objects and arrays, well-formed strings without NUL, finite
 * numbers, integers within ±2^53. Anything else is refused with `invalid` before it is written,
 * since engines disagree on what they make of it. Kept in the canonical form of RFC 8785, so the
 * order of an object's members is not kept.
 */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

export interface LogEntry {
  /** Assertion id. */
  readonly id: string;
  /** Object that the entry is about. */
  readonly about: string;
  /** Activity it belongs to; absent for Participants. */
  readonly activity?: string;
  /** Shape: ids, types, states, times, commitments. */
  readonly shape: Json;
  /** Content of the entry, encrypted. */
  readonly sealed?: Uint8Array;
}

export interface StoredLogEntry extends LogEntry {
  readonly seq: number;
  /** SHA-256 over the previous hash and this entry without its sealed part; see `chainHash`. */
  readonly hash: string;
}

export interface StoredObject {
  readonly id: string;
  /** `participant`, `activity`, `dialog`, `task`, `resource`. */
  readonly kind: string;
  readonly activity?: string;
  /** Dialog that a Task is in; lets a Dialog list its Tasks. */
  readonly parent?: string;
  readonly shape: Json;
  readonly sealed?: Uint8Array;
  /** Sequence number of the last entry that changed it; orders lists. */
  readonly seq: number;
}

export interface StoredEdge {
  readonly id: string;
  readonly type: string;
  readonly from: string;
  readonly to: string;
  readonly activity?: string;
  readonly status: 'active' | 'revoked';
  readonly shape: Json;
  readonly sealed?: Uint8Array;
  readonly seq: number;
}

export interface RecordKey {
  /** What it is: `context`, `task`, `message`, `grant`, `key`, `run`, …; the hub's own words. */
  readonly kind: string;
  readonly key: string;
}

export interface StoredRecord extends RecordKey {
  /** 1 at the first write, one more at each. */
  readonly version: number;
  /** Order in lists: milliseconds, sequence number or nothing in particular (0). */
  readonly sort: number;
  /** name → value; a record is found by any of them. */
  readonly index: Readonly<Record<string, string>>;
  /** Activity it belongs to; with that erased, its sealed part is too. */
  readonly activity?: string;
  readonly shape: Json;
  readonly sealed?: Uint8Array;
  /** Milliseconds since the epoch after which it may be swept. */
  readonly expiresAt?: number;
}

export interface RecordQuery {
  readonly kind: string;
  /** All of these must match. At least one; the narrowest first, the search goes along it. */
  readonly index: Readonly<Record<string, string>>;
  /** Descending by (sort, key) unless `ascending`; keys in the order of their UTF-8 bytes. */
  readonly ascending?: boolean;
  /** Only what comes after this place in that order. */
  readonly after?: { readonly sort: number; readonly key: string };
  /** Inclusive bounds on `sort`. */
  readonly from?: number;
  readonly to?: number;
  readonly limit: number;
}

/** What is stored beside the log. */
export type StoredRow =
  | { readonly object: StoredObject }
  | { readonly edge: StoredEdge }
  | { readonly record: StoredRecord };

export interface EdgeQuery {
  readonly direction: 'out' | 'in';
  readonly types?: readonly string[];
  /** Revoked ones too. Default: active only. */
  readonly revoked?: boolean;
}

/**
 * Reads, as of one moment. Usable only inside the work it was given to. A limit is at most 100,000;
 * what has no limit of its own and would give more rows than that is refused with `too-large`.
 */
export interface StoreReader {
  /** Highest sequence number. */
  head(): Promise<{ readonly seq: number; readonly hash: string }>;
  /** Entries after a number, ascending; the one of an id, of one activity, about one object where given. */
  log(query: {
    readonly after: number;
    readonly limit: number;
    readonly id?: string;
    readonly activity?: string;
    readonly about?: string;
  }): Promise<readonly StoredLogEntry[]>;
  /** Those that exist, in no order. */
  objects(ids: readonly string[]): Promise<readonly StoredObject[]>;
  /** Ascending by sequence of their last change; at most `limit`. Name an activity or a parent. */
  objectsOf(query: {
    readonly activity?: string;
    readonly parent?: string;
    readonly kind?: string;
    readonly limit: number;
  }): Promise<readonly StoredObject[]>;
  edge(id: string): Promise<StoredEdge | undefined>;
  /** Edges that touch any of these objects. */
  edges(ids: readonly string[], query: EdgeQuery): Promise<readonly StoredEdge[]>;
  edgesOf(activity: string, limit: number): Promise<readonly StoredEdge[]>;
  /** Closure along these types in one direction, nearest first, without the start; bounded. */
  reach(
    ids: readonly string[],
    query: EdgeQuery & { readonly depth: number; readonly limit: number },
  ): Promise<readonly { readonly id: string; readonly depth: number }[]>;
  record(key: RecordKey): Promise<StoredRecord | undefined>;
  records(query: RecordQuery): Promise<readonly StoredRecord[]>;
  /** How many match, without the place and the limit. */
  count(query: Omit<RecordQuery, 'after' | 'limit' | 'ascending'>): Promise<number>;
  /** Records whose `expiresAt` is at most `until` (milliseconds), soonest first. */
  expired(query: { readonly until: number; readonly limit: number }): Promise<readonly RecordKey[]>;
  /**
   * Everything beside the log, page by page, each row once, in an order of the store's own. `next` goes on
   * from there, within the same work; without it that was all.
   */
  scan(query: {
    readonly after?: string;
    readonly limit: number;
  }): Promise<{ readonly rows: readonly StoredRow[]; readonly next?: string }>;
}

export interface StoreWriter extends StoreReader {
  /**
   * Gives each entry the next number and chains its hash. An id that is already in the log is
   * `conflict`, and undoes the work even where the work catches it.
   */
  append(entries: readonly LogEntry[]): Promise<readonly StoredLogEntry[]>;
  putObject(object: StoredObject): Promise<void>;
  putEdge(edge: StoredEdge): Promise<void>;
  /**
   * Writes a record. `expected` is the version it must have now (0: must not exist); another one is
   * `conflict`. Absent: last write wins. Gives the new version: the next one, or `version` for a record
   * that is brought from another store with it.
   */
  putRecord(
    record: Omit<StoredRecord, 'version'>,
    options?: { readonly expected?: number; readonly version?: number },
  ): Promise<number>;
  deleteRecord(key: RecordKey): Promise<void>;
  /**
   * Forgets the sealed part of everything of one activity; shapes and hashes stay. Once the write
   * is acknowledged the bytes are gone from the store's files too; where another process still
   * reads an older moment, with a commit after it has let go. A server may have them in its
   * write-ahead log for longer; see its driver.
   */
  eraseActivity(activity: string): Promise<void>;
}

/**
 * A store of one domain.
 *
 * `write` runs work alone, in one transaction, and resolves after its effects are on disk; several
 * waiting works may share one commit, and one that throws undoes only itself. `read` sees one
 * moment, with all that was acknowledged before it. A write whose commit was lost on its way is
 * `unavailable`; where nobody can tell whether it was made, `details.outcome` is `unknown`.
 *
 * Either work must await nothing but the reader or writer it is given, or it is refused with
 * `timeout` and undone: nobody waits for a work that waits for something else, a timer, a file, or
 * a call of the store inside a call of it. With more waiting than the store holds, or once it is
 * closed, calls are refused with `unavailable`.
 */
export interface Store {
  read<T>(work: (reader: StoreReader) => Promise<T>): Promise<T>;
  write<T>(work: (writer: StoreWriter) => Promise<T>): Promise<T>;
  /**
   * Calls back after each commit made here with the highest number, before its writes are
   * acknowledged; gives a function that stops it. The numbers never fall. Of other processes' commits
   * a driver tells as far as it hears of them: PostgreSQL's of all, SQLite's of none.
   */
  onCommit(listener: (seq: number) => void): () => void;
  /** Finishes what waits, then closes. May be called again. */
  close(): Promise<void>;
}
