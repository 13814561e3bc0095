import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ThroughlineError } from '../errors.ts';
import { openSqliteStore, type Store } from '../store/index.ts';
import type { DataFolder } from './data-folder.ts';

/** Record that every hub leaves in the store it was opened on. */
const mark = { kind: 'domain', key: 'mark' };

/** What a hub is opened on: its store, and the key that everything in it is sealed under. */
export interface Opened {
  readonly store: Store;
  readonly domainKey: Uint8Array;
}

/** Whether a store is one that other hubs reach, too. */
export const isShared = (where: string | undefined): boolean =>
  /^[a-z][a-z0-9+.-]+:\/\//i.test(where ?? '');

/**
 * Opens the store that `--store` names, a `postgres://` URL or the path of a SQLite file, with the key
 * that belongs to it. Throws `unsupported` for a URL of anything else, `damaged` where a store has
 * been in use and its key is missing, and what the store says of itself. A URL is never repeated in
 * an error, since it may hold a password.
 */
export async function openStore(
  folder: DataFolder,
  where: string = folder.database,
  keyFile?: string,
): Promise<Opened> {
  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(where)?.[1]?.toLowerCase();
  if (scheme === undefined) {
    // The key before the file: without one, no database is made.
    const domainKey = folder.domainKey(where, keyFile);
    return { store: await openSqliteStore({ path: where }), domainKey };
  }
  if (scheme !== 'postgres' && scheme !== 'postgresql') {
    throw new ThroughlineError(
      'unsupported',
      `--store ${scheme}://…: there is postgres://… and the path of a SQLite file`,
    );
  }
  const store = await openPostgres(where);
  try {
    const file = keyFile ?? join(folder.path, 'domain.key');
    const used = (await store.read((reader) => reader.record(mark))) !== undefined;
    if (used && !existsSync(file)) {
      throw new ThroughlineError(
        'damaged',
        `${file}: is missing, and the database can’t be read without it; put the key file there ` +
          'that the first hub on this database has',
      );
    }
    return { store, domainKey: folder.domainKey(where, keyFile) };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Whether a store is there; makes none. Throws what the store says of itself. */
export async function isInUse(where: string): Promise<boolean> {
  if (!isShared(where)) return existsSync(where);
  const { inspectPostgresStore } = await postgres();
  return (await inspectPostgresStore({ url: where })) > 0;
}

const openPostgres = async (url: string): Promise<Store> =>
  (await postgres()).openPostgresStore({ url });

/** Only here, so that whoever has a file needs no driver for PostgreSQL. */
async function postgres() {
  try {
    return await import('../store/postgres/index.ts');
  } catch (cause) {
    throw new ThroughlineError(
      'unsupported',
      '--store postgres://…: needs the package pg beside this one; run: npm install pg',
      { cause },
    );
  }
}
