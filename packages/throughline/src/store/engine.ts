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

/**
 * What a driver in this process fills: the port without its waiting and its checks. Arguments are
 * checked and lists are free of doubles before they get here; rows come back as stored.
 */
export interface ReadEngine {
  /** Fixes the moment that is read, until `end`. */
  begin(): void;
  end(): void;
  /** The error of ours for one of the engine's; anything else as it is. */
  explain(error: unknown): unknown;
  head(): Head;
  log(query: LogQuery): Raw<StoredLogEntry>[];
  objects(ids: readonly string[]): Raw<StoredObject>[];
  objectsOf(query: ObjectQuery): Raw<StoredObject>[];
  edge(id: string): Raw<StoredEdge> | undefined;
  /** At most `limit`. */
  edges(ids: readonly string[], query: EdgeQuery, limit: number): Raw<StoredEdge>[];
  edgesOf(activity: string, limit: number): Raw<StoredEdge>[];
  reach(ids: readonly string[], query: ReachQuery): Reached[];
  record(key: RecordKey): Raw<StoredRecord> | undefined;
  records(query: RecordQuery): Raw<StoredRecord>[];
  count(query: CountQuery): number;
  expired(query: ExpiryQuery): RecordKey[];
}

export interface WriteEngine extends Omit<ReadEngine, 'begin' | 'end'> {
  /** Opens the transaction that a batch of works shares. */
  begin(): void;
  commit(): void;
  /** Undoes the whole batch; harmless without one. */
  rollback(): void;
  /** Starts one work. */
  mark(): void;
  keep(): void;
  undo(): void;
  /** After a commit in which something was erased: true once its bytes are gone from the files. */
  scrub(): boolean;
  insert(entries: readonly Raw<StoredLogEntry>[]): void;
  putObject(object: Raw<StoredObject>): void;
  putEdge(edge: Raw<StoredEdge>): void;
  /** The version that a record has, 0 without one. */
  version(key: RecordKey): number;
  putRecord(record: Raw<StoredRecord>): void;
  deleteRecord(key: RecordKey): void;
  eraseActivity(activity: string): void;
}
