import { ThroughlineError } from '../../errors.ts';
import { genesis } from '../chain.ts';
import type { Connection } from './connection.ts';

/** Comment on our schema, by which it is known as ours. */
const mark = 'Throughline store';

/** Held while a store is made or brought to a newer version: "TLin" in ASCII. */
const migrationLock = 0x54_4c_69_6e;

/** Oldest server that has all that is used here. */
const oldestServer = 140_000;

/** Into how many files, each rewritten by itself, sealed bytes are spread by their activity. */
export const partitions = 8;

/** Text that is compared and ordered by its bytes, and stays whole in an index. */
const key = 'text collate "C" not null';
const maybe = 'text collate "C"';

/**
 * Steps from one version to the next, applied in order and never changed once released. `store` has
 * one row, which whoever writes holds until the commit, so that numbers are given out in the order
 * of commits. `sealed` holds what `slot` names, beside the activity that it is forgotten with.
 */
export const steps: readonly string[] = [
  `
  create table store (
    one boolean primary key default true check (one), version integer not null,
    seq bigint not null, hash bytea not null
  ) with (fillfactor = 10);
  insert into store (version, seq, hash) values (0, 0, decode('${genesis}', 'hex'));

  create table writers (
    id uuid primary key, batch bigint not null, at timestamptz not null default now()
  ) with (fillfactor = 10);

  create table sealed (
    activity ${key}, slot uuid not null, bytes bytea not null, primary key (activity, slot)
  ) partition by hash (activity);
  alter table sealed alter column bytes set storage external;
  do $$ begin
    for i in 0 .. ${partitions - 1} loop
      execute format('create table sealed_%s partition of sealed
        for values with (modulus ${partitions}, remainder %s)', i, i);
    end loop;
  end $$;
  create table unscrubbed (part integer primary key);

  create table log (
    seq bigint primary key, id ${key} unique, about ${key}, activity ${maybe},
    hash bytea not null, shape text not null, slot uuid
  );
  create index log_about on log (about, seq);
  create index log_activity on log (activity, seq) where activity is not null;

  create table objects (
    id ${key} primary key, kind ${key}, activity ${maybe}, parent ${maybe},
    seq bigint not null, shape text not null, slot uuid
  ) with (fillfactor = 80);
  create index objects_activity on objects (activity) where activity is not null;
  create index objects_parent on objects (parent) where parent is not null;

  create table edges (
    id ${key} primary key, type ${key}, source ${key}, target ${key}, activity ${maybe},
    active boolean not null, seq bigint not null, shape text not null, slot uuid
  );
  create index edges_out on edges (source, type);
  create index edges_in on edges (target, type);
  create index edges_activity on edges (activity) where activity is not null;

  create table records (
    kind ${key}, key ${key}, version bigint not null, sort bigint not null, terms text not null,
    activity ${maybe}, expires bigint, shape text not null, slot uuid, primary key (kind, key)
  ) with (fillfactor = 80);
  create index records_expires on records (expires) where expires is not null;

  create table terms (
    term bytea not null, sort bigint not null, key ${key}, primary key (term, sort, key)
  );
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

interface Found {
  readonly server: number;
  readonly encoding: string;
  readonly standby: boolean;
  /** Comment on the schema of our name; null without one. */
  readonly mark: string | null;
  /** The schema of our name is there. */
  readonly ours: boolean;
  /** Something is in it. */
  readonly filled: boolean;
  /** Another program has something in the database. */
  readonly others: boolean;
}

const look = `
  select current_setting('server_version_num')::integer as server,
    current_setting('server_encoding') as encoding, pg_is_in_recovery() as standby,
    obj_description(to_regnamespace('throughline')::oid, 'pg_namespace') as mark,
    to_regnamespace('throughline') is not null as ours,
    exists (select from pg_class where relnamespace = to_regnamespace('throughline')::oid) as filled,
    exists (
      select from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname !~ '^pg_' and n.nspname not in ('information_schema', 'throughline')
        and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
    ) as others`;

/** Why this is no place for a store of ours, if so. Looks only. */
function problem({ server, encoding, standby, ...found }: Found): ThroughlineError | undefined {
  if (server < oldestServer) {
    return new ThroughlineError('unsupported', 'the server is older than PostgreSQL 14');
  }
  if (encoding !== 'UTF8') {
    return new ThroughlineError('unsupported', `the database is in ${encoding}; make one in UTF8`);
  }
  if (standby) {
    return new ThroughlineError('unavailable', 'the server is a standby; name the primary');
  }
  if (found.mark === mark) return undefined;
  if (found.filled) {
    return new ThroughlineError(
      'damaged',
      'the schema throughline in the database belongs to another program; name another database',
    );
  }
  // Making the schema by hand is consent to live beside the others.
  if (!found.others || found.ours) return undefined;
  return new ThroughlineError(
    'damaged',
    'the database belongs to another program; name an empty one, ' +
      'or make an empty schema throughline in it',
  );
}

async function versionOf(connection: Connection): Promise<number> {
  const [row] = await connection.run<{ version: number }>('select version from store');
  return row?.version ?? 0;
}

/** The version of the schema, 0 where there is none yet. Looks only, and refuses like `migrate`. */
export async function inspect(connection: Connection, known = schemaVersion): Promise<number> {
  const [found] = await connection.run<Found & Record<string, unknown>>(look);
  const refused = found && problem(found);
  if (refused !== undefined) throw refused;
  if (found?.mark !== mark) return 0;
  const version = await versionOf(connection);
  if (version > known) throw newerVersion(version);
  return version;
}

/**
 * Brings an empty database, or an older store, to this version, in one transaction and one program
 * at a time. Refuses, and leaves as it is, what is of a newer version or of another program. `known`: the
 * steps that this program has.
 */
export async function migrate(
  connection: Connection,
  known: readonly string[] = steps,
): Promise<void> {
  if ((await inspect(connection, known.length)) === known.length) return;
  await connection.run('begin; set local lock_timeout = 0; set local statement_timeout = 0');
  try {
    await connection.run(`select pg_advisory_xact_lock(${migrationLock})`);
    await upgrade(connection, known);
    await connection.run('commit');
  } catch (error) {
    await connection.run('rollback');
    throw error;
  }
}

/** Another program may have been here between the look and the lock. */
async function upgrade(connection: Connection, known: readonly string[]): Promise<void> {
  const [found] = await connection.run<Found & Record<string, unknown>>(look);
  const refused = found && problem(found);
  if (refused !== undefined) throw refused;
  const made = found?.mark === mark;
  // Whoever writes is waited for, and waits.
  if (made) await connection.run('lock table store in access exclusive mode');
  const version = made ? await versionOf(connection) : 0;
  if (version > known.length) throw newerVersion(version);
  if (!made) {
    await connection.run(
      `create schema if not exists throughline; comment on schema throughline is '${mark}'`,
    );
  }
  for (const step of known.slice(version)) await connection.run(step);
  await connection.run(`update store set version = ${known.length}`);
}
