import Database from 'better-sqlite3';
import { ThroughlineError } from '../../errors.ts';

/** The Node-API that better-sqlite3 is built against: an older one ends the process without a word. */
const needed = 10;

/**
 * Opens a database file, or `:memory:`.
 *
 * Throws `unsupported` on a Node older than 22.14, which would die of it.
 */
export function connect(
  path: string,
  options: Database.Options,
  nodeApi = process.versions['napi'],
): Database.Database {
  if (Number(nodeApi ?? needed) < needed)
    throw new ThroughlineError(
      'unsupported',
      `SQLite needs Node 22.14 or newer, and this is ${process.versions.node}; install Node 24`,
    );
  return new Database(path, options);
}
