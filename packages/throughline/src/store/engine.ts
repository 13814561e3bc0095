import type { Answer } from './lane.ts';
import type {
  EdgeQuery,
  RecordKey,
  RecordQuery,
  StoredEdge,
  StoredLogEntry,
  StoredObject,
  StoredRecord,
  StoreReader,
} from './store.ts';

/** A stored thing whose shape is JSON text in canonical form. */
export type Raw<T extends { readonly shape: unknown }> = Omit<T, 'shape'> & {
  readonly shape: string;
};

export type LogQuery = Parameters<StoreReader['log']>[0];
export type ObjectQuery = Parameters<StoreReader['objectsOf']>[0];
export type ReachQuery = Parameters<StoreReader['reach']>[1];
export type CountQuery = Parameters<StoreReader['count']>[0];
export type ExpiryQuery = Parameters<StoreReader['expired']>[0];
export type Head = Awaited<ReturnType<StoreReader['head']>>;
export type Reached = Awaited<ReturnType<StoreReader['reach']>>[number];

/** Tables beside the log, in the order in which they are scanned. */
export const tables = ['object', 'edge', 'record'] as const;
export type Table = (typeof tables)[number];

export type RawRow =
  | { readonly object: Raw<StoredObject> }
  | { readonly edge: Raw<StoredEdge> }
  | { readonly record: Raw<StoredRecord> };

/** A row with the place that a scan goes on from behind it; the text is the engine's own. */
export interface Scanned {
  readonly row: RawRow;
  readonly place: string;
}

/**
 * What a driver fills: the port without its checks. Arguments are checked and lists are free of
 * doubles before they get here; rows come back as stored. An engine in this process answers at once;
 * of one that asks a server, no question is asked before the one before is answered, unless it says so.
 */
export interface ReadEngine {
  /** Questions may be asked before the ones before are answered. */
  readonly together?: boolean;
  /** Fixes the moment that is read, until `end`. */
  begin(): Answer<void>;
  end(): void;
  /** The error of ours for one of the engine's; anything else as it is. */
  explain(error: unknown): unknown;
  head(): Answer<Head>;
  log(query: LogQuery): Answer<Raw<StoredLogEntry>[]>;
  objects(ids: readonly string[]): Answer<Raw<StoredObject>[]>;
  objectsOf(query: ObjectQuery): Answer<Raw<StoredObject>[]>;
  edge(id: string): Answer<Raw<StoredEdge> | undefined>;
  /** At most `limit`. */
  edges(ids: readonly string[], query: EdgeQuery, limit: number): Answer<Raw<StoredEdge>[]>;
  edgesOf(activity: string, limit: number): Answer<Raw<StoredEdge>[]>;
  reach(ids: readonly string[], query: ReachQuery): Answer<Reached[]>;
  record(key: RecordKey): Answer<Raw<StoredRecord> | undefined>;
  records(query: RecordQuery): Answer<Raw<StoredRecord>[]>;
  count(query: CountQuery): Answer<number>;
  expired(query: ExpiryQuery): Answer<RecordKey[]>;
  /** Rows of one table behind a place, or from the first on; at most `limit`. */
  scan(table: Table, after: string | undefined, limit: number): Answer<Scanned[]>;
}

export interface WriteEngine extends Omit<ReadEngine, 'begin' | 'end' | 'head' | 'together'> {
  /** Opens the transaction that a batch of works shares. */
  begin(): Answer<void>;
  /** Throws where the batch was undone, or it is not known whether it was. */
  commit(): Answer<void>;
  /** Undoes the whole batch; harmless without one. */
  rollback(): Answer<void>;
  /** Starts one work. */
  mark(): void;
  /** Throws where the work can't be kept; it is to be undone then. */
  keep(): void;
  undo(): Answer<void>;
  /** After a commit in which something was erased: true once its bytes are gone from the files. */
  scrub(): Answer<boolean>;
  /** With what the batch has appended so far. */
  head(): Head;
  insert(entries: readonly Raw<StoredLogEntry>[]): Answer<void>;
  putObject(object: Raw<StoredObject>): Answer<void>;
  putEdge(edge: Raw<StoredEdge>): Answer<void>;
  /** The version that a record has, 0 without one. */
  version(key: RecordKey): Answer<number>;
  /** Follows `version` of the same record. */
  putRecord(record: Raw<StoredRecord>): Answer<void>;
  deleteRecord(key: RecordKey): Answer<void>;
  eraseActivity(activity: string): Answer<void>;
}
