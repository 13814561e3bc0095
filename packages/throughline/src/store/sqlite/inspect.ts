import type Database from 'better-sqlite3';
import {
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdtempSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { ThroughlineError } from '../../errors.ts';
import type { RecordKey } from '../store.ts';
import { connect } from './connection.ts';
import { explain } from './errors.ts';
import { SqliteReader } from './reader.ts';
import { applicationId, newerVersion, schemaVersion } from './schema.ts';

/**
 * Refuses a file that is no store of ours, is damaged, or was written by a newer program, and
 * leaves it and its companions as they are, byte for byte. Opening a database in place, even to
 * read, may rewrite its `-shm` or fold its `-wal` in; so the file is looked at read-only through a
 * second name in a folder of its own, beside a copy of the write-ahead log.
 *
 * Where a process is writing meanwhile, such a look can be torn: a bad verdict counts only when the
 * files stood still. If not, they have an owner to share locks with, and are looked at in place.
 *
 * Gives the version of the schema, 0 where there is none yet.
 */
export function inspect(path: string): number {
  return look(path, (_db, version) => version);
}

/** The sealed part of a record, read as carefully; undefined where there is none, or the schema is older. */
export function peek(path: string, key: RecordKey): Uint8Array | undefined {
  return look(path, (db, version) =>
    version === schemaVersion ? new SqliteReader(db).record(key)?.sealed : undefined,
  );
}

type Look<T> = (db: Database.Database, version: number) => T;

function look<T>(path: string, take: Look<T>): T {
  const before = stamp(path);
  try {
    return lookAside(path, take);
  } catch (problem) {
    if (stamp(path) === before) throw problem;
    return verdict(path, take);
  }
}

/** Changes when the file or its write-ahead log does. */
function stamp(path: string): string {
  return [path, `${path}-wal`]
    .map((name) => statSync(name, { bigint: true, throwIfNoEntry: false }))
    .map((stat) => (stat === undefined ? 'none' : `${stat.ino} ${stat.size} ${stat.mtimeNs}`))
    .join();
}

function lookAside<T>(path: string, take: Look<T>): T {
  const folder = mkdtempSync(`${path}-check-`);
  try {
    const second = join(folder, 'db');
    linkOrCopy(path, second);
    if (existsSync(`${path}-wal`)) copyFileSync(`${path}-wal`, `${second}-wal`);
    return verdict(second, take);
  } catch (error) {
    throw explain(error);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Some file systems have no second names. */
function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to, constants.COPYFILE_FICLONE);
  }
}

function verdict<T>(path: string, take: Look<T>): T {
  const db = connect(path, { readonly: true });
  try {
    const owner = Number(db.pragma('application_id', { simple: true }));
    const version = Number(db.pragma('user_version', { simple: true }));
    const tables = Number(db.prepare('select count(*) from sqlite_schema').pluck().get());
    // What a process leaves that died before its first commit.
    if (owner === 0 && version === 0 && tables === 0) return take(db, version);
    if (owner !== applicationId) {
      throw new ThroughlineError(
        'damaged',
        'the file is a database of another program; name another one',
      );
    }
    if (version > schemaVersion) throw newerVersion(version);
    const check = db.pragma('quick_check(1)', { simple: true });
    if (check === 'ok') return take(db, version);
    throw new ThroughlineError('damaged', 'the store is damaged; restore it from a backup', {
      details: { found: String(check) },
    });
  } finally {
    db.close();
  }
}
