import { randomUUID } from 'node:crypto';
import type { QueryResultRow } from 'pg';
import { setTimeout } from 'node:timers/promises';
import { ThroughlineError } from '../../errors.ts';
import { genesis } from '../chain.ts';
import type {
  CountQuery,
  ExpiryQuery,
  Head,
  LogQuery,
  ObjectQuery,
  Raw,
  Reached,
  ReachQuery,
  Scanned,
  Table,
  WriteEngine,
} from '../engine.ts';
import type { Answer } from '../lane.ts';
import type {
  EdgeQuery,
  RecordKey,
  RecordQuery,
  StoredEdge,
  StoredLogEntry,
  StoredObject,
  StoredRecord,
} from '../store.ts';
import { Changes, own, type RecordChange } from './changes.ts';
import type { Connection, Session, Value } from './connection.ts';
import { statementFor } from './flush.ts';
import { KnownRows } from './known.ts';
import { Questions, sent } from './reader.ts';
import { scopeOf } from './rows.ts';
import { newerVersion, partitions, schemaVersion } from './schema.ts';
import type { Scrubber } from './scrub.ts';

/** Bytes of changes that are kept back, at most, but for the last one. */
const keptBackBytes = 8_388_608;

/** Pauses before each look at what became of a commit whose answer was lost, in milliseconds. */
const looksMs = [0, 50, 100, 200, 400, 800, 1_600, 3_200] as const;

/**
 * Works of a batch in one transaction, which holds the row that stands for the store: nobody else
 * writes meanwhile, so the next number is known, and commits come in the order of their numbers.
 *
 * Changes are kept back and brought to the database together, before a question that they bear on,
 * or else with the commit. A savepoint before a work's first statement lets it be undone by itself;
 * what earlier works kept back and this one brought is then kept back once more.
 */
export class PostgresWriter extends Questions implements WriteEngine {
  readonly #session: Session;
  readonly #scrubber: Scrubber;
  readonly #id = randomUUID();
  #batch = 0;
  #transaction: Connection | undefined;
  #head: Head = { seq: 0, hash: genesis };
  /** The transaction has something to commit beside what is kept back. */
  #wrote = false;
  #appended = false;
  /** Of the works before. */
  #kept = new Changes();
  /** Of the work under way. */
  #current = new Changes();
  #marked: { readonly kept: Changes; readonly head: Head; readonly appended: boolean } | undefined;
  /** The work under way has its savepoint. */
  #saved = false;
  #failure: { readonly error: unknown } | undefined;
  readonly #known = new KnownRows();

  constructor(session: Session, scrubber: Scrubber) {
    super();
    this.#session = session;
    this.#scrubber = scrubber;
  }

  async begin(): Promise<void> {
    this.#clear();
    const connection = await this.#session.connected();
    this.#transaction = connection;
    const [store] = await connection.run<Head & { version: number }>(
      `begin; select version, seq, encode(hash, 'hex') as hash from store where one for update`,
    );
    if (store === undefined) throw new ThroughlineError('damaged', 'the store has lost its head');
    const { version, seq, hash } = store;
    if (version !== schemaVersion) throw newerVersion(version);
    this.#head = { seq, hash };
  }

  async commit(): Promise<void> {
    const transaction = this.#running();
    const changed = this.#wrote || !this.#kept.empty;
    this.#batch += 1;
    const batch = this.#batch;
    const head = this.#appended ? this.#head : undefined;
    const statement = changed && statementFor(this.#kept, { head, writer: this.#id, batch });
    // Sent together; a commit after a failure is a rollback.
    const flushed = statement
      ? sent(transaction.rows(statement.text, statement.values))
      : undefined;
    const committed = sent(transaction.run('commit'));
    try {
      await flushed;
      await committed;
    } catch (error) {
      if (transaction.alive || !changed) throw error;
      await this.#findOut(batch, error);
    }
    this.#transaction = undefined;
  }

  async rollback(): Promise<void> {
    const transaction = this.#transaction;
    this.#clear();
    if (transaction?.alive === true) {
      await transaction.run('rollback').catch(() => transaction.destroy());
    }
  }

  mark(): void {
    this.#marked = { kept: this.#kept, head: this.#head, appended: this.#appended };
    this.#saved = false;
    this.#current = new Changes();
    this.#known.trim();
  }

  keep(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
    if (this.#saved) void sent(this.#running().run('release savepoint work'));
    this.#kept.absorb(this.#current);
    this.#current = new Changes();
  }

  async undo(): Promise<void> {
    if (this.#saved) {
      await this.#running().run('rollback to savepoint work; release savepoint work');
      this.#known.clear();
    }
    if (this.#marked !== undefined) {
      this.#kept = this.#marked.kept;
      this.#head = this.#marked.head;
      this.#appended = this.#marked.appended;
    }
    this.#current = new Changes();
    this.#failure = undefined;
  }

  scrub(): Promise<boolean> {
    return this.#scrubber.scrub();
  }

  head(): Head {
    return this.#head;
  }

  async insert(entries: readonly Raw<StoredLogEntry>[]): Promise<void> {
    const ids = entries.map(({ id }) => id);
    const last = entries.at(-1);
    if (last === undefined) return;
    const pending = ids.some((id) => this.#kept.appends(id) || this.#current.appends(id));
    if (pending || new Set(ids).size < ids.length || (await this.#inLog(ids))) {
      throw new ThroughlineError('conflict', 'an entry with this id is in the log already');
    }
    this.#current.append(entries);
    this.#appended = true;
    this.#head = { seq: last.seq, hash: last.hash };
    await this.#flushMuch();
  }

  /** Of all that works ask, the most frequent, and the one that needs no savepoint to be safe. */
  async #inLog(ids: readonly string[]): Promise<boolean> {
    const text = 'select from log where id = any($1) limit 1';
    return (await this.#running().rows(text, [ids])).length > 0;
  }

  putObject(object: Raw<StoredObject>): Answer<void> {
    this.#current.putObject(object);
    return this.#flushMuch();
  }

  putEdge(edge: Raw<StoredEdge>): Answer<void> {
    this.#current.putEdge(edge);
    return this.#flushMuch();
  }

  async version(key: RecordKey): Promise<number> {
    return (await this.#recordNow(key))?.version ?? 0;
  }

  putRecord(record: Raw<StoredRecord>): Answer<void> {
    const { kind, key } = record;
    this.#current.setRecord({ kind, key, stored: this.#stored(record), wanted: record });
    return this.#flushMuch();
  }

  async deleteRecord({ kind, key }: RecordKey): Promise<void> {
    if ((await this.version({ kind, key })) === 0) return;
    const stored = this.#stored({ kind, key });
    this.#current.setRecord({ kind, key, stored, wanted: undefined });
  }

  async eraseActivity(activity: string): Promise<void> {
    await this.#flush();
    this.#wrote = true;
    this.#known.clear();
    await this.ask(
      `with gone as (delete from sealed where activity = $1)
       insert into unscrubbed (part) select part from generate_series(0, ${partitions - 1}) part
       where satisfies_hash_partition('sealed'::regclass, ${partitions}, part, $1::text)
       on conflict do nothing`,
      [scopeOf(activity)],
    );
  }

  override async log(query: LogQuery): Promise<Raw<StoredLogEntry>[]> {
    await this.#flushWhere(({ log }) => log.length > 0);
    return super.log(query);
  }

  override async objects(ids: readonly string[]): Promise<Raw<StoredObject>[]> {
    const missing = ids.filter((id) => !this.#hasObject(id));
    if (missing.length > 0) {
      for (const id of missing) this.#known.keepObject(id, undefined);
      for (const found of await super.objects(missing)) this.#known.keepObject(found.id, found);
    }
    return ids.flatMap((id) => {
      const row = this.#pendingObject(id) ?? this.#known.object(id)?.row;
      return row === undefined ? [] : [own(row)];
    });
  }

  override async objectsOf(query: ObjectQuery): Promise<Raw<StoredObject>[]> {
    await this.#flushWhere(({ objects }) => objects.size > 0);
    return super.objectsOf(query);
  }

  override async edge(id: string): Promise<Raw<StoredEdge> | undefined> {
    await this.#flushWhere(({ edges }) => edges.has(id));
    return super.edge(id);
  }

  override async edges(
    ids: readonly string[],
    query: EdgeQuery,
    limit: number,
  ): Promise<Raw<StoredEdge>[]> {
    await this.#flushWhere(anyEdge);
    return super.edges(ids, query, limit);
  }

  override async edgesOf(activity: string, limit: number): Promise<Raw<StoredEdge>[]> {
    await this.#flushWhere(anyEdge);
    return super.edgesOf(activity, limit);
  }

  override async reach(ids: readonly string[], query: ReachQuery): Promise<Reached[]> {
    await this.#flushWhere(anyEdge);
    return super.reach(ids, query);
  }

  override async record(key: RecordKey): Promise<Raw<StoredRecord> | undefined> {
    const row = await this.#recordNow(key);
    return row && own(row);
  }

  override async records(query: RecordQuery): Promise<Raw<StoredRecord>[]> {
    await this.#flushWhere((changes) => changes.touches(query));
    const found = await super.records(query);
    for (const row of found) this.#known.keepRecord(row, row);
    return found;
  }

  override async count(query: CountQuery): Promise<number> {
    await this.#flushWhere((changes) => changes.touches(query));
    return super.count(query);
  }

  override async expired(query: ExpiryQuery): Promise<RecordKey[]> {
    await this.#flushWhere(({ records }) => records.length > 0);
    return super.expired(query);
  }

  override async scan(table: Table, after: string | undefined, limit: number): Promise<Scanned[]> {
    await this.#flush();
    return super.scan(table, after, limit);
  }

  /** In the transaction, behind the savepoint of the work; a failure means that the work is lost. */
  protected async ask<Row extends QueryResultRow>(text: string, values: Value[]): Promise<Row[]> {
    const transaction = this.#running();
    if (!this.#saved) {
      void sent(transaction.run('savepoint work'));
      this.#saved = true;
    }
    try {
      return await transaction.rows<Row>(text, values);
    } catch (error) {
      this.#failure ??= { error: this.explain(error) };
      throw error;
    }
  }

  #flushWhere(bears: (changes: Changes) => boolean): Answer<void> {
    if (bears(this.#kept) || bears(this.#current)) return this.#flush();
  }

  #flushMuch(): Answer<void> {
    if (this.#kept.bytes + this.#current.bytes > keptBackBytes) return this.#flush();
  }

  /** Brings all changes to the database. Those of works before stay at hand for when this is undone. */
  async #flush(): Promise<void> {
    const all = new Changes();
    all.absorb(this.#kept);
    all.absorb(this.#current);
    this.#kept = new Changes();
    this.#current = new Changes();
    const statement = statementFor(all);
    if (statement === undefined) return;
    this.#wrote = true;
    await this.ask(statement.text, statement.values);
    this.#known.brought(all);
  }

  #pendingRecord(key: RecordKey): RecordChange | undefined {
    return this.#current.record(key) ?? this.#kept.record(key);
  }

  #pendingObject(id: string): Raw<StoredObject> | undefined {
    return this.#current.objects.get(id) ?? this.#kept.objects.get(id);
  }

  #hasObject(id: string): boolean {
    return this.#pendingObject(id) !== undefined || this.#known.object(id) !== undefined;
  }

  /** With what is kept back. Not to be given away. */
  async #recordNow(key: RecordKey): Promise<Raw<StoredRecord> | undefined> {
    const pending = this.#pendingRecord(key);
    if (pending !== undefined) return pending.wanted;
    const known = this.#known.record(key);
    if (known !== undefined) return known.row;
    const found = await super.record(key);
    this.#known.keepRecord(key, found);
    return found;
  }

  /** What the database has of a record, whose version was asked for just now. */
  #stored(key: RecordKey): Raw<StoredRecord> | undefined {
    const pending = this.#pendingRecord(key);
    if (pending !== undefined) return undefined;
    return this.#known.record(key)?.row;
  }

  #running(): Connection {
    if (this.#transaction !== undefined) return this.#transaction;
    throw new ThroughlineError('internal', 'a change outside of a transaction');
  }

  #clear(): void {
    this.#transaction = undefined;
    this.#wrote = false;
    this.#appended = false;
    this.#kept = new Changes();
    this.#current = new Changes();
    this.#marked = undefined;
    this.#saved = false;
    this.#failure = undefined;
    this.#known.clear();
  }

  /**
   * Whether a commit whose answer was lost took place: each leaves its number in a row of this
   * writer, which is held while the commit is still under way. Throws unless it did.
   */
  async #findOut(batch: number, cause: unknown): Promise<void> {
    const last = await this.#lastCommitted();
    if (last === batch) return;
    if (last !== undefined) {
      throw new ThroughlineError(
        'unavailable',
        'the connection to the database broke before the commit; nothing was written, try again',
        { cause, details: { outcome: 'undone' } },
      );
    }
    throw new ThroughlineError(
      'unavailable',
      'the connection to the database broke during the commit, and the database is out of reach: ' +
        'whether it was written is unknown; read it before you write again',
      { cause, retryable: false, details: { outcome: 'unknown' } },
    );
  }

  async #lastCommitted(): Promise<number | undefined> {
    for (const pause of looksMs) {
      await setTimeout(pause);
      try {
        const connection = await this.#session.connected();
        // One that is under way is waited for, the first one too.
        const [row] = await connection.rows<{ batch: number }>(
          `insert into writers (id, batch) values ($1, 0)
           on conflict (id) do update set batch = writers.batch returning batch`,
          [this.#id],
        );
        if (row !== undefined) return row.batch;
      } catch {
        // Not there yet, or still held.
      }
    }
    return undefined;
  }
}

const anyEdge = ({ edges }: Changes): boolean => edges.size > 0;
