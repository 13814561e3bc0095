export { chainHash, genesis, verifyChain, type ChainReport } from './chain.ts';
export { openMemoryStore } from './memory.ts';
export { openSqliteStore, type SqliteOptions } from './sqlite.ts';
export type { StoreLimits } from './engine-store.ts';
export type {
  EdgeQuery,
  Json,
  LogEntry,
  RecordKey,
  RecordQuery,
  Store,
  StoredEdge,
  StoredLogEntry,
  StoredObject,
  StoredRecord,
  StoredRow,
  StoreReader,
  StoreWriter,
} from './store.ts';
