import { ThroughlineError } from '../errors.ts';
import { invalid } from './check.ts';
import { EngineStore, type StoreLimits } from './engine-store.ts';
import { Connection, type ConnectionOptions, Session } from './postgres/connection.ts';
import { explain } from './postgres/errors.ts';
import { Listener } from './postgres/listener.ts';
import { PostgresReader } from './postgres/reader.ts';
import { inspect, migrate, schemaVersion } from './postgres/schema.ts';
import { hasUnscrubbed, Scrubber } from './postgres/scrub.ts';
import { PostgresWriter } from './postgres/writer.ts';
import type { RecordKey, Store } from './store.ts';

export interface PostgresOptions extends StoreLimits {
  /** `postgres://user:password@host:port/database`, as libpq takes it. Never shown or logged. */
  readonly url: string;
  /** Connections for reads; one more each for writing, listening and clearing. Default 4. */
  readonly readers?: number;
  /** Milliseconds to wait for a connection. Default 5,000. */
  readonly connectTimeoutMs?: number;
  /** Milliseconds that one statement may take. Default 30,000. */
  readonly statementTimeoutMs?: number;
  /** Milliseconds to wait for another hub's commit. Default 5,000. */
  readonly lockTimeoutMs?: number;
}

/** Longest that clearing a partition after an erasure may take. */
const scrubTimeoutMs = 600_000;
/** Longest that it waits for whoever reads that partition; others wait behind it. */
const scrubLockMs = 500;

/**
 * Opens a store in a PostgreSQL database, 14 or newer, in UTF8; several hubs may have it open, and
 * hear of each other's commits. All is in the schema `throughline`.
 *
 * A store of a newer program is refused with `newer-version`, a database that holds anything of
 * another program with `damaged`, and is left as it was; an empty schema `throughline` made by hand
 * is consent to live beside the others.
 *
 * Out of reach, or gone in mid-transaction, is `unavailable`. Where the answer to a commit was lost,
 * the store finds out whether it took place; where it can't, `details.outcome` is `unknown`.
 *
 * An erasure rewrites one eighth of the sealed bytes (VACUUM FULL) before it is acknowledged. What
 * it forgets is then gone from the files of the tables. It is not gone from the write-ahead log: its
 * segments are overwritten by later writes, as a rule within `max_wal_size` of them, not by any time;
 * with `wal_recycle = off` they are deleted at the second checkpoint after. Archived segments, base
 * backups and standbys keep what they have as long as they are kept.
 */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const { readers = 4, ...limits } = options;
  if (!Number.isInteger(readers) || readers < 1) throw invalid('readers', 'must be at least 1');
  const connect = connectionOptions(options);
  try {
    const connection = await Connection.open(connect);
    try {
      await migrate(connection);
      return await assemble(connect, connection, readers, limits);
    } catch (error) {
      connection.destroy();
      throw error;
    }
  } catch (error) {
    throw explain(error);
  }
}

/**
 * The version of the schema of the store in a database, 0 where none was opened there yet. Changes
 * nothing; throws what `openPostgresStore` would.
 */
export const inspectPostgresStore = (options: PostgresOptions): Promise<number> =>
  look(options, (_connection, version) => Promise.resolve(version));

/** The sealed part of a record; undefined where there is none, or the schema is older. Changes nothing. */
export const peekPostgresStore = (
  options: PostgresOptions,
  key: RecordKey,
): Promise<Uint8Array | undefined> =>
  look(options, async (connection, version) => {
    if (version !== schemaVersion) return undefined;
    const reader = new PostgresReader(new Session(connectionOptions(options), {}, connection));
    await reader.begin();
    return (await reader.record(key))?.sealed;
  });

async function look<T>(
  options: PostgresOptions,
  take: (connection: Connection, version: number) => Promise<T>,
): Promise<T> {
  try {
    const connection = await Connection.open(connectionOptions(options));
    try {
      return await take(connection, await inspect(connection));
    } finally {
      connection.destroy();
    }
  } catch (error) {
    throw explain(error);
  }
}

async function assemble(
  connect: ConnectionOptions,
  first: Connection,
  readers: number,
  limits: StoreLimits,
): Promise<Store> {
  const writing = new Session(connect);
  const reading = Array.from({ length: readers }, (_, i) =>
    i === 0 ? new Session(connect, {}, first) : new Session(connect),
  );
  const scrubbing = new Session({
    ...connect,
    statementTimeoutMs: scrubTimeoutMs,
    lockTimeoutMs: scrubLockMs,
  });
  const listener = new Listener(connect);
  const store = new EngineStore(
    {
      writer: new PostgresWriter(writing, new Scrubber(scrubbing)),
      readers: reading.map((session) => new PostgresReader(session)),
      unscrubbed: await hasUnscrubbed(first),
      follow: (heard) => listener.follow(heard),
      async close() {
        await listener.stop();
        await Promise.all([...reading, writing, scrubbing].map((session) => session.end()));
      },
    },
    limits,
  );
  try {
    await listener.start();
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
}

function connectionOptions(options: PostgresOptions): ConnectionOptions {
  const { connectTimeoutMs = 5_000, statementTimeoutMs = 30_000, lockTimeoutMs = 5_000 } = options;
  // Whatever is wrong with it, it is not repeated: it may hold a password.
  if (!URL.canParse(options.url) || !/^postgres(ql)?:$/.test(new URL(options.url).protocol)) {
    throw new ThroughlineError('invalid', 'the URL must be postgres://user@host:port/database');
  }
  return { url: options.url, connectTimeoutMs, statementTimeoutMs, lockTimeoutMs };
}
