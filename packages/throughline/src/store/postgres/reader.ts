import { hash } from 'node:crypto';
import type { QueryResultRow } from 'pg';
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
  ReadEngine,
  Scanned,
  Table,
} from '../engine.ts';
import type {
  EdgeQuery,
  RecordKey,
  RecordQuery,
  StoredEdge,
  StoredLogEntry,
  StoredObject,
  StoredRecord,
} from '../store.ts';
import type { Connection, Session, Value } from './connection.ts';
import { explain } from './errors.ts';
import * as rows from './rows.ts';

/** A statement under way: its conditions and what they bind. */
class Conditions {
  readonly values: Value[] = [];
  readonly #conditions: string[] = [];

  /** The place of a value in the statement. */
  bind(value: Value): string {
    return `$${this.values.push(value)}`;
  }

  add(condition: string): this {
    this.#conditions.push(condition);
    return this;
  }

  /** Where a column must hold a value; nothing without one. */
  equal(column: string, value: string | undefined): this {
    return value === undefined ? this : this.add(`${column} = ${this.bind(value)}`);
  }

  get sql(): string {
    return this.#conditions.join(' and ');
  }
}

/** What stands for one name and value in the index of a kind of records. */
export const termOf = (kind: string, name: string, value: string): string =>
  hash('sha256', `${kind}\0${name}\0${value}`, 'hex');

/** The head of the log, in the one row that stands for the store. */
export const headOf = `select seq, encode(hash, 'hex') as hash from store where one`;

const term = (place: string): string => `decode(${place}, 'hex')`;

/** The port's questions in SQL, asked wherever `ask` asks them. */
export abstract class Questions {
  protected abstract ask<Row extends QueryResultRow>(text: string, values: Value[]): Promise<Row[]>;

  explain(error: unknown): unknown {
    return explain(error);
  }

  async log({ after, limit, id, activity, about }: LogQuery): Promise<Raw<StoredLogEntry>[]> {
    const where = new Conditions().equal('l.id', id);
    where.equal('l.about', about).equal('l.activity', activity);
    where.add(`l.seq > ${where.bind(after)}`);
    const found = await this.ask<rows.LogRow>(
      `select ${rows.logColumns} from log l where ${where.sql} order by l.seq limit ${where.bind(limit)}`,
      where.values,
    );
    return found.map(rows.logEntry);
  }

  async objects(ids: readonly string[]): Promise<Raw<StoredObject>[]> {
    const text = `select ${rows.objectColumns} from objects o where o.id = any($1)`;
    return (await this.ask<rows.ObjectRow>(text, [ids])).map(rows.object);
  }

  async objectsOf({ activity, parent, kind, limit }: ObjectQuery): Promise<Raw<StoredObject>[]> {
    const where = new Conditions();
    where.equal('o.parent', parent).equal('o.activity', activity).equal('o.kind', kind);
    const found = await this.ask<rows.ObjectRow>(
      `select ${rows.objectColumns} from objects o where ${where.sql}
       order by o.seq limit ${where.bind(limit)}`,
      where.values,
    );
    return found.map(rows.object);
  }

  async edge(id: string): Promise<Raw<StoredEdge> | undefined> {
    const text = `select ${rows.edgeColumns} from edges e where e.id = $1`;
    const [found] = await this.ask<rows.EdgeRow>(text, [id]);
    return found && rows.edge(found);
  }

  async edges(ids: readonly string[], query: EdgeQuery, limit: number): Promise<Raw<StoredEdge>[]> {
    const where = edgesNear(ids, query);
    const found = await this.ask<rows.EdgeRow>(
      `select ${rows.edgeColumns} from edges e where ${where.sql} limit ${where.bind(limit)}`,
      where.values,
    );
    return found.map(rows.edge);
  }

  async edgesOf(activity: string, limit: number): Promise<Raw<StoredEdge>[]> {
    const found = await this.ask<rows.EdgeRow>(
      `select ${rows.edgeColumns} from edges e where e.activity = $1 order by e.seq limit $2`,
      [activity, limit],
    );
    return found.map(rows.edge);
  }

  /** Level by level; one recursive query would walk a cycle again and again. */
  async reach(ids: readonly string[], query: ReachQuery): Promise<Reached[]> {
    const far = query.direction === 'out' ? 'target' : 'source';
    const seen = new Set(ids);
    const reached: Reached[] = [];
    let frontier = ids;
    for (let depth = 1; depth <= query.depth && frontier.length > 0; depth++) {
      if (reached.length >= query.limit) break;
      const where = edgesNear(frontier, query);
      const found = await this.ask<{ id: string }>(
        `select distinct e.${far} as id from edges e where ${where.sql}`,
        where.values,
      );
      frontier = found.map(({ id }) => id).filter((id) => !seen.has(id));
      for (const id of frontier) {
        seen.add(id);
        reached.push({ id, depth });
      }
    }
    return reached.slice(0, query.limit);
  }

  async record({ kind, key }: RecordKey): Promise<Raw<StoredRecord> | undefined> {
    const text = `select ${rows.recordColumns} from records r where r.kind = $1 and r.key = $2`;
    const [found] = await this.ask<rows.RecordRow>(text, [kind, key]);
    return found && rows.record(found);
  }

  async records(query: RecordQuery): Promise<Raw<StoredRecord>[]> {
    const where = termsLike(query);
    const [compare, order] = query.ascending === true ? ['>', 'asc'] : ['<', 'desc'];
    const { after, kind, limit } = query;
    if (after !== undefined) {
      const place = `${where.bind(after.sort)}::bigint, ${where.bind(after.key)}`;
      where.add(`(i.sort, i.key) ${compare} (${place})`);
    }
    const found = await this.ask<rows.RecordRow>(
      `select ${rows.recordColumns} from terms i
       join records r on r.kind = ${where.bind(kind)} and r.key = i.key
       where ${where.sql} order by i.sort ${order}, i.key ${order} limit ${where.bind(limit)}`,
      where.values,
    );
    return found.map(rows.record);
  }

  async count(query: CountQuery): Promise<number> {
    const where = termsLike(query);
    const [found] = await this.ask<{ total: number }>(
      `select count(*) as total from terms i where ${where.sql}`,
      where.values,
    );
    return found?.total ?? 0;
  }

  expired({ until, limit }: ExpiryQuery): Promise<RecordKey[]> {
    return this.ask<{ kind: string; key: string }>(
      'select kind, key from records where expires <= $1 order by expires limit $2',
      [until, limit],
    );
  }

  /** In the order of their primary keys. */
  async scan(table: Table, after: string | undefined, limit: number): Promise<Scanned[]> {
    const behind = <Row extends QueryResultRow>(columns: string, key: string, place: string[]) => {
      const places = place.map((_, i) => `$${i + 2}`).join();
      const where = after === undefined ? '' : `where (${key}) > (${places})`;
      const values = [limit, ...(after === undefined ? [] : place)];
      return this.ask<Row>(
        `select ${columns} from ${table}s ${table[0]} ${where} order by ${key} limit $1`,
        values,
      );
    };
    if (table === 'object') {
      const found = await behind<rows.ObjectRow>(rows.objectColumns, 'o.id', [after ?? '']);
      return found.map((row) => ({ row: { object: rows.object(row) }, place: row.id }));
    }
    if (table === 'edge') {
      const found = await behind<rows.EdgeRow>(rows.edgeColumns, 'e.id', [after ?? '']);
      return found.map((row) => ({ row: { edge: rows.edge(row) }, place: row.id }));
    }
    const [, length = '', both = ''] = /^(\d+):(.*)$/s.exec(after ?? '') ?? [];
    const place = [both.slice(0, Number(length)), both.slice(Number(length))];
    const found = await behind<rows.RecordRow>(rows.recordColumns, 'r.kind, r.key', place);
    return found.map((row) => ({
      row: { record: rows.record(row) },
      place: `${row.kind.length}:${row.kind}${row.key}`,
    }));
  }
}

function edgesNear(ids: readonly string[], { direction, types, revoked }: EdgeQuery): Conditions {
  const where = new Conditions();
  where.add(`e.${direction === 'out' ? 'source' : 'target'} = any(${where.bind(ids)})`);
  if (types !== undefined) where.add(`e.type = any(${where.bind(types)})`);
  if (revoked !== true) where.add('e.active');
  return where;
}

/** Along the first index; the others are looked up for each row of that. */
function termsLike({ kind, index, from, to }: CountQuery): Conditions {
  const where = new Conditions();
  for (const [i, [name, value]] of Object.entries(index).entries()) {
    const wanted = term(where.bind(termOf(kind, name, value)));
    where.add(
      i === 0
        ? `i.term = ${wanted}`
        : `exists (select from terms t where t.term = ${wanted} and t.sort = i.sort
           and t.key = i.key)`,
    );
  }
  if (from !== undefined) where.add(`i.sort >= ${where.bind(from)}`);
  if (to !== undefined) where.add(`i.sort <= ${where.bind(to)}`);
  return where;
}

/** One read at a time, each in a transaction that sees one moment, over a connection of its own. */
export class PostgresReader extends Questions implements ReadEngine {
  readonly together = true;
  readonly #session: Session;
  #connection: Connection | undefined;
  #begun: Promise<unknown> | undefined;

  constructor(session: Session) {
    super();
    this.#session = session;
  }

  async begin(): Promise<void> {
    this.#connection = await this.#session.connected();
    // Sent together with the first question, whose moment is the one that is read.
    this.#begun = sent(this.#connection.run('begin isolation level repeatable read read only'));
  }

  /** Not waited for: whoever comes next is answered after it. */
  end(): void {
    if (this.#connection?.alive === true) void sent(this.#connection.run('commit'));
    this.#connection = undefined;
    this.#begun = undefined;
  }

  async head(): Promise<Head> {
    const [head] = await this.ask<Head & QueryResultRow>(headOf, []);
    return head ?? { seq: 0, hash: genesis };
  }

  protected async ask<Row extends QueryResultRow>(text: string, values: Value[]): Promise<Row[]> {
    if (this.#connection === undefined) throw new TypeError('asked outside of a read');
    const answer = sent(this.#connection.rows<Row>(text, values));
    await this.#begun;
    return answer;
  }
}

/** A statement whose failure is seen by whoever waits for it, or else with the next one. */
export function sent<T>(answer: Promise<T>): Promise<T> {
  answer.catch(() => {});
  return answer;
}
