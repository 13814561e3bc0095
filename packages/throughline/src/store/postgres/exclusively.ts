import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { ThroughlineError } from '../../errors.ts';
import { explain, lost } from './errors.ts';

const connectTimeoutMs = 10_000;
const lockTimeoutMs = 60_000;
/** Milliseconds between two tries. */
const pauseMs = 200;

/**
 * Runs work that no other process does at the same time which calls it by the same name on the same
 * database.
 *
 * @param url `postgres://` URL.
 * @throws ThroughlineError `unavailable` where the database can't be reached or refuses, or others were
 *   at it for a minute.
 */
export async function exclusively<T>(
  url: string,
  name: string,
  work: () => Promise<T>,
): Promise<T> {
  const client = new Client({
    connectionString: url,
    application_name: 'throughline',
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await lock(client, name);
  } catch (error) {
    await client.end().catch(() => undefined);
    throw explain(lost(error));
  }
  try {
    return await work();
  } finally {
    // The lock goes with the connection.
    await client.end().catch(() => undefined);
  }
}

/** By trying: whoever waits in the server holds a snapshot, which an index made concurrently waits for. */
async function lock(client: Client, name: string): Promise<void> {
  const text = 'select pg_try_advisory_lock(hashtextextended($1, 0)) as mine';
  for (const end = performance.now() + lockTimeoutMs; performance.now() < end;) {
    const { rows } = await client.query<{ mine: boolean }>(text, [name]);
    if (rows[0]?.mine === true) return;
    await sleep(pauseMs);
  }
  const late = 'other processes were at the same for a minute; try again in a moment';
  throw new ThroughlineError('unavailable', late);
}
