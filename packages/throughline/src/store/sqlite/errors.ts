import Database from 'better-sqlite3';
import { ThroughlineError, type ErrorCode } from '../../errors.ts';

/** SQLite's result codes by how they begin, the first that fits; what to tell the caller. */
const table: readonly (readonly [prefix: string, code: ErrorCode, advice: string])[] = [
  ['SQLITE_BUSY', 'unavailable', 'another process holds the store; try again in a moment'],
  ['SQLITE_LOCKED', 'unavailable', 'another process holds the store; try again in a moment'],
  ['SQLITE_PROTOCOL', 'unavailable', 'another process holds the store; try again in a moment'],
  ['SQLITE_FULL', 'unavailable', 'the disk is full; make room and try again'],
  ['SQLITE_READONLY', 'unavailable', 'the store can not be written; check its permissions'],
  ['SQLITE_PERM', 'unavailable', 'the store can not be opened; check its permissions'],
  ['SQLITE_CANTOPEN', 'unavailable', 'the store can not be opened; check its permissions'],
  ['SQLITE_IOERR', 'unavailable', 'the disk failed; check it and try again'],
  ['SQLITE_CORRUPT', 'damaged', 'the store is damaged; restore it from a backup'],
  ['SQLITE_NOTADB', 'damaged', 'the file is no SQLite database; name another one'],
  ['SQLITE_CONSTRAINT_UNIQUE', 'conflict', 'an entry with this id is in the log already'],
  ['SQLITE_TOOBIG', 'too-large', 'the row is larger than SQLite takes; offload its content'],
];

/** The error of ours for one of SQLite's; anything else as it is. */
export function explain(error: unknown): unknown {
  if (!(error instanceof Database.SqliteError)) return error;
  const found = table.find(([prefix]) => error.code.startsWith(prefix));
  const [, code, advice] = found ?? ['', 'internal' as const, 'the store failed; see the cause'];
  return new ThroughlineError(code, advice, { cause: error, details: { sqlite: error.code } });
}
