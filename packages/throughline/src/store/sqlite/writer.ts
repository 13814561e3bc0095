import type { Database } from 'better-sqlite3';
import type { Head, Raw, WriteEngine } from '../engine.ts';
import type {
  RecordKey,
  StoredEdge,
  StoredLogEntry,
  StoredObject,
  StoredRecord,
} from '../store.ts';
import { SqliteReader } from './reader.ts';
import { Slots } from './slots.ts';

/** Numbers kept at hand. */
const cachedNames = 20_000;

/** Longest that a checkpoint after an erasure waits for other processes' readers. */
const scrubWaitMs = 100;

interface Sealed {
  /** Slot that the sealed bytes are in. */
  readonly sealed: number | null;
}

/** What a record had before it is changed. */
interface Known extends Sealed {
  readonly terms: string;
  readonly sort: number;
}

export class SqliteWriter extends SqliteReader implements WriteEngine {
  readonly #names = new Map<string, number>();
  readonly #slots: Slots;
  #head: Head | undefined;

  constructor(db: Database) {
    super(db);
    this.#slots = new Slots(db);
  }

  override begin(): void {
    this.#forget();
    this.sql('begin immediate').run();
  }

  override head(): Head {
    this.#head ??= super.head();
    return this.#head;
  }

  commit(): void {
    this.sql('commit').run();
  }

  rollback(): void {
    this.#names.clear();
    this.#forget();
    if (this.db.inTransaction) this.sql('rollback').run();
  }

  mark(): void {
    this.sql('savepoint work').run();
  }

  keep(): void {
    this.sql('release work').run();
  }

  undo(): void {
    this.#names.clear();
    this.#forget();
    this.sql('rollback to work').run();
    this.sql('release work').run();
  }

  scrub(): boolean {
    const usual = Number(this.db.pragma('busy_timeout', { simple: true }));
    this.db.pragma(`busy_timeout = ${scrubWaitMs}`);
    try {
      return this.db.pragma('wal_checkpoint(truncate)', { simple: true }) === 0;
    } catch {
      return false;
    } finally {
      this.db.pragma(`busy_timeout = ${usual}`);
    }
  }

  insert(entries: readonly Raw<StoredLogEntry>[]): void {
    const statement = this.sql(
      `insert into log (seq, id, about, activity, hash, shape, sealed)
       values (?, ?, ?, ?, unhex(?), ?, ?)`,
    );
    const last = entries.at(-1);
    for (const { seq, id, about, activity, hash, shape, sealed } of entries) {
      const aboutNumber = this.#intern(about);
      const slot = this.#slots.put(null, sealed);
      statement.run(seq, id, aboutNumber, this.#maybe(activity), hash, shape, slot);
    }
    if (last !== undefined) this.#head = { seq: last.seq, hash: last.hash };
  }

  putObject(object: Raw<StoredObject>): void {
    const n = this.#intern(object.id);
    const before = this.sql<Sealed>('select sealed from objects where n = ?').get(n);
    this.sql(
      `insert into objects (n, kind, activity, parent, seq, shape, sealed)
       values (?, ?, ?, ?, ?, ?, ?)
       on conflict (n) do update set kind = excluded.kind, activity = excluded.activity,
         parent = excluded.parent, seq = excluded.seq, shape = excluded.shape,
         sealed = excluded.sealed`,
    ).run(
      n,
      object.kind,
      this.#maybe(object.activity),
      this.#maybe(object.parent),
      object.seq,
      object.shape,
      this.#slots.put(before?.sealed ?? null, object.sealed),
    );
  }

  putEdge(edge: Raw<StoredEdge>): void {
    const before = this.sql<Sealed>('select sealed from edges where id = ?').get(edge.id);
    this.sql(
      `insert into edges (id, type, source, target, activity, active, seq, shape, sealed)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?)
       on conflict (id) do update set type = excluded.type, source = excluded.source,
         target = excluded.target, activity = excluded.activity, active = excluded.active,
         seq = excluded.seq, shape = excluded.shape, sealed = excluded.sealed`,
    ).run(
      edge.id,
      this.#intern(edge.type),
      this.#intern(edge.from),
      this.#intern(edge.to),
      this.#maybe(edge.activity),
      edge.status === 'active' ? 1 : 0,
      edge.seq,
      edge.shape,
      this.#slots.put(before?.sealed ?? null, edge.sealed),
    );
  }

  version({ kind, key }: RecordKey): number {
    const n = this.number(kind);
    if (n === undefined) return 0;
    const row = this.sql<{ version: number }>(
      'select version from records where kind = ? and key = ?',
    );
    return row.get(n, key)?.version ?? 0;
  }

  putRecord(record: Raw<StoredRecord>): void {
    const kind = this.#intern(record.kind);
    const { key, sort, index } = record;
    const terms = JSON.stringify(index);
    const before = this.#known(kind, key);
    const { n } = this.sql<{ n: number }>(
      `insert into records
         (kind, key, version, sort, terms, activity, expires, shape, sealed)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?)
       on conflict (kind, key) do update set version = excluded.version, sort = excluded.sort,
         terms = excluded.terms, activity = excluded.activity, expires = excluded.expires,
         shape = excluded.shape, sealed = excluded.sealed
       returning n`,
    ).get(
      kind,
      key,
      record.version,
      sort,
      terms,
      this.#maybe(record.activity),
      record.expiresAt ?? null,
      record.shape,
      this.#slots.put(before?.sealed ?? null, record.sealed),
    ) ?? { n: 0 };
    if (before !== undefined && before.terms === terms && before.sort === sort) return;
    if (before !== undefined) this.#dropTerms(kind, key, before);
    const insert = this.sql(
      'insert into terms (kind, name, value, sort, key, record) values (?, ?, ?, ?, ?, ?)',
    );
    for (const [name, value] of Object.entries(index)) {
      insert.run(kind, this.#intern(name), value, sort, key, n);
    }
  }

  deleteRecord(record: RecordKey): void {
    const kind = this.number(record.kind);
    const before = kind === undefined ? undefined : this.#known(kind, record.key);
    if (kind === undefined || before === undefined) return;
    this.#dropTerms(kind, record.key, before);
    this.#slots.put(before.sealed, undefined);
    this.sql('delete from records where kind = ? and key = ?').run(kind, record.key);
  }

  eraseActivity(activity: string): void {
    const n = this.number(activity);
    if (n === undefined) return;
    for (const table of ['log', 'objects', 'edges', 'records']) {
      const its = `from ${table} where activity = ? and sealed is not null`;
      for (const { sealed } of this.sql<{ sealed: number }>(`select sealed ${its}`).all(n)) {
        this.#slots.clear(sealed);
      }
      this.sql(`update ${table} set sealed = null where activity = ?`).run(n);
    }
  }

  #known(kind: number, key: string): Known | undefined {
    return this.sql<Known>(
      'select terms, sort, sealed from records where kind = ? and key = ?',
    ).get(kind, key);
  }

  #dropTerms(kind: number, key: string, { terms, sort }: Known): void {
    const drop = this.sql(
      'delete from terms where kind = ? and name = ? and value = ? and sort = ? and key = ?',
    );
    const index: Record<string, string> = JSON.parse(terms);
    for (const [name, value] of Object.entries(index)) {
      drop.run(kind, this.#intern(name), value, sort, key);
    }
  }

  #maybe(text: string | undefined): number | null {
    return text === undefined ? null : this.#intern(text);
  }

  protected override number(text: string): number | undefined {
    const n = this.#names.get(text) ?? super.number(text);
    if (n !== undefined) this.#keep(text, n);
    return n;
  }

  /** The integer that stands for a text, given out at its first use. */
  #intern(text: string): number {
    const known = this.number(text);
    if (known !== undefined) return known;
    const n = Number(this.sql('insert into names (id) values (?)').run(text).lastInsertRowid);
    this.#keep(text, n);
    return n;
  }

  /** What is known of a transaction that is over or was changed back. */
  #forget(): void {
    this.#head = undefined;
    this.#slots.forget();
  }

  #keep(text: string, n: number): void {
    if (this.#names.size >= cachedNames) this.#names.clear();
    this.#names.set(text, n);
  }
}
