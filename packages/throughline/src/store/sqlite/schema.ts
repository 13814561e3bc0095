import type { Database } from 'better-sqlite3';
import { ThroughlineError } from '../../errors.ts';

/** Marks a database file as ours: "TLin" in ASCII. */
export const applicationId = 0x54_4c_69_6e;

/**
 * Steps from one version to the next, applied in order and never changed once released. `names`
 * gives an id an integer, so that rows and indexes that refer to it stay small;
 * `slots` holds what `sealed` refers to.
 */
export const steps: readonly string[] = [
  `
  create table names (n integer primary key, id text not null unique) strict;

  create table slots (n integer primary key, live integer not null, bytes blob not null) strict;
  create index slots_free on slots (length(bytes)) where live = 0;

  create table log (
    seq integer primary key, id text not null unique, about integer not null, activity integer,
    hash blob not null, shape text not null, sealed integer
  ) strict;
  create index log_about on log (about);
  create index log_activity on log (activity) where activity is not null;

  create table objects (
    n integer primary key, kind text not null, activity integer, parent integer,
    seq integer not null, shape text not null, sealed integer
  ) strict;
  create index objects_activity on objects (activity) where activity is not null;
  create index objects_parent on objects (parent) where parent is not null;

  create table edges (
    n integer primary key, id text not null unique, type integer not null,
    source integer not null, target integer not null, activity integer, active integer not null,
    seq integer not null, shape text not null, sealed integer
  ) strict;
  create index edges_out on edges (source, type, active, target);
  create index edges_in on edges (target, type, active, source);
  create index edges_activity on edges (activity) where activity is not null;

  create table records (
    n integer primary key, kind integer not null, key text not null, version integer not null,
    sort integer not null, terms text not null, activity integer, expires integer,
    shape text not null, sealed integer,
    unique (kind, key)
  ) strict;
  create index records_activity on records (activity) where activity is not null;
  create index records_expires on records (expires) where expires is not null;

  create table terms (
    kind integer not null, name integer not null, value text not null, sort integer not null,
    key text not null, record integer not null,
    primary key (kind, name, value, sort, key)
  ) strict, without rowid;
  `,
];

export const schemaVersion = steps.length;

export function newerVersion(found: number): ThroughlineError {
  return new ThroughlineError(
    'newer-version',
    `the store has version ${found} of its schema, this program knows ${schemaVersion}; ` +
      'use a newer program',
    { details: { found, known: schemaVersion } },
  );
}

function versionOf(db: Database): number {
  return Number(db.pragma('user_version', { simple: true }));
}

/**
 * Brings an open, empty or older database to this version, in one transaction and one program at a time.
 * `known`: the steps that this program has.
 */
export function migrate(db: Database, known: readonly string[] = steps): void {
  // Another process may hold the lock for long, and nothing is to be written as a rule.
  if (versionOf(db) === known.length) return;
  db.exec('begin immediate');
  try {
    const version = versionOf(db);
    if (version > known.length) throw newerVersion(version);
    for (const step of known.slice(version)) db.exec(step);
    db.pragma(`application_id = ${applicationId}`);
    db.pragma(`user_version = ${known.length}`);
    db.exec('commit');
  } catch (error) {
    if (db.inTransaction) db.exec('rollback');
    throw error;
  }
}
