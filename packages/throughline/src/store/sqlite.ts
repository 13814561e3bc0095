import type Database from 'better-sqlite3';
import { closeSync, existsSync, fsyncSync, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ThroughlineError } from '../errors.ts';
import { invalid } from './check.ts';
import { EngineStore, type StoreLimits } from './engine-store.ts';
import { explain } from './sqlite/errors.ts';
import { SqliteBatchWriter } from './sqlite/batch-writer.ts';
import { connect } from './sqlite/connection.ts';
import { inspect } from './sqlite/inspect.ts';
import { SqliteReader } from './sqlite/reader.ts';
import { migrate } from './sqlite/schema.ts';
import type { Store } from './store.ts';

export interface SqliteOptions extends StoreLimits {
  /** The database file, made where missing; `:memory:` for one that goes with the process. */
  readonly path: string;
  /** Milliseconds to wait for another process's commit. Default 5,000. */
  readonly busyTimeoutMs?: number;
}

/**
 * Opens a store in one SQLite file; several processes may have it open.
 *
 * A file of a newer program is refused with `newer-version`, a damaged one or one that is not ours
 * with `damaged`, and is left as it was.
 */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const { path: given, busyTimeoutMs: timeout = 5_000 } = options;
  if (given === '' || given.includes('\0')) throw invalid('path', 'must name a file or :memory:');
  const memory = given === ':memory:';
  const path = memory ? given : resolve(given);
  if (!memory) prepare(path);
  const opened: Database.Database[] = [];
  try {
    const db = connect(path, { timeout });
    opened.push(db);
    configure(db);
    migrate(db);
    if (!memory) opened.push(connect(path, { timeout, readonly: true }));
  } catch (error) {
    for (const db of opened) db.close();
    throw explain(error);
  }
  const [writer, reader] = opened;
  if (writer === undefined) throw new ThroughlineError('internal', 'the store did not open');
  return new EngineStore(
    {
      writer: new SqliteBatchWriter(writer),
      readers: reader === undefined ? [] : [new SqliteReader(reader)],
      // The writer last, since the last to close folds the write-ahead log into the file.
      close: () => opened.toReversed().forEach((db) => db.close()),
    },
    options,
  );
}

/** Looks at a file that is there; makes one that only its owner can read where none is. */
function prepare(path: string): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat !== undefined && !stat.isFile()) throw invalid('path', 'must name a file');
  if (stat !== undefined) {
    if (stat.size > 0) inspect(path);
    return;
  }
  if (!existsSync(dirname(path))) throw invalid('path', 'is in a folder that does not exist');
  try {
    closeSync(openSync(path, 'ax', 0o600));
  } catch (error) {
    // Another process may have made it just now.
    if (!existsSync(path)) throw error;
  }
  const folder = openSync(dirname(path), 'r');
  fsyncSync(folder);
  closeSync(folder);
}

function configure(db: Database.Database): void {
  db.pragma('journal_mode = wal');
  // An acknowledged write is on the disk.
  db.pragma('synchronous = full');
  // What a page no longer holds is overwritten in it, and sorting leaves no copies in files.
  db.pragma('secure_delete = fast');
  db.pragma('temp_store = memory');
  db.pragma('foreign_keys = on');
  db.pragma('trusted_schema = off');
}
