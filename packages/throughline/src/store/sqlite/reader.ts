import type { Database, Statement } from 'better-sqlite3';
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
import { explain } from './errors.ts';
import * as rows from './rows.ts';

type Values = (string | number | Uint8Array | null)[];

/** At most so many: a value by itself would be looked at in planning, so anew at each question. */
const most = 'limit ? + 0';

/** Conditions of a query and what they bind, in order. */
type Condition = readonly [sql: string, ...values: (string | number)[]];

const where = (conditions: readonly Condition[]): string =>
  conditions.map(([sql]) => sql).join(' and ');

const values = (conditions: readonly Condition[]): (string | number)[] =>
  conditions.flatMap(([, ...bound]) => bound);

/** The port's questions in SQL, over one connection. */
export class SqliteReader {
  protected readonly db: Database;
  readonly #statements = new Map<string, Statement<Values, never>>();

  constructor(db: Database) {
    this.db = db;
  }

  begin(): void {
    this.sql('begin').run();
  }

  end(): void {
    if (this.db.inTransaction) this.sql('commit').run();
  }

  explain(error: unknown): unknown {
    return explain(error);
  }

  head(): Head {
    const row = this.sql<Head>(
      'select seq, lower(hex(hash)) as hash from log order by seq desc limit 1',
    ).get();
    return row ?? { seq: 0, hash: genesis };
  }

  log({ after, limit, id, activity, about }: LogQuery): Raw<StoredLogEntry>[] {
    const wanted = this.#named({ 'l.about': about, 'l.activity': activity });
    if (wanted === undefined) return [];
    if (id !== undefined) wanted.unshift(['l.id = ?', id]);
    const conditions: Condition[] = [...wanted, ['l.seq > ?', after]];
    return this.sql<rows.LogRow>(
      `select ${rows.logColumns} from log l where ${where(conditions)} order by l.seq ${most}`,
    )
      .all(...values(conditions), limit)
      .map(rows.logEntry);
  }

  objects(ids: readonly string[]): Raw<StoredObject>[] {
    return this.sql<rows.ObjectRow>(
      `select ${rows.objectColumns} from json_each(?) j
       cross join names x on x.id = j.value cross join objects o on o.n = x.n`,
    )
      .all(JSON.stringify(ids))
      .map(rows.object);
  }

  objectsOf({ activity, parent, kind, limit }: ObjectQuery): Raw<StoredObject>[] {
    const conditions = this.#named({ 'o.parent': parent, 'o.activity': activity });
    if (conditions === undefined) return [];
    if (kind !== undefined) conditions.push(['o.kind = ?', kind]);
    return this.sql<rows.ObjectRow>(
      `select ${rows.objectColumns} from objects o where ${where(conditions)} order by o.seq ${most}`,
    )
      .all(...values(conditions), limit)
      .map(rows.object);
  }

  edge(id: string): Raw<StoredEdge> | undefined {
    const row = this.sql<rows.EdgeRow>(`select ${rows.edgeColumns} from edges e where e.id = ?`);
    const found = row.get(id);
    return found && rows.edge(found);
  }

  edges(ids: readonly string[], query: EdgeQuery, limit: number): Raw<StoredEdge>[] {
    const conditions = this.#edgeConditions(query);
    if (conditions === undefined) return [];
    return this.sql<rows.EdgeRow>(
      `select ${rows.edgeColumns} from json_each(?) j cross join names x on x.id = j.value
       cross join edges e on ${where([[`e.${near(query)} = x.n`], ...conditions])} ${most}`,
    )
      .all(JSON.stringify(ids), ...values(conditions), limit)
      .map(rows.edge);
  }

  edgesOf(activity: string, limit: number): Raw<StoredEdge>[] {
    const n = this.number(activity);
    if (n === undefined) return [];
    return this.sql<rows.EdgeRow>(
      `select ${rows.edgeColumns} from edges e where e.activity = ? order by e.seq ${most}`,
    )
      .all(n, limit)
      .map(rows.edge);
  }

  /**
   * Level by level rather than as one recursive query: that can't know what it has been at already
   * without carrying depths, and so walks a cycle again and again, and counts it against the limit.
   */
  reach(ids: readonly string[], query: ReachQuery): Reached[] {
    const conditions = this.#edgeConditions(query);
    if (conditions === undefined || query.limit === 0) return [];
    const step = this.sql<{ n: number; id: string }>(
      `select x.n, x.id from json_each(?) j
       cross join edges e on ${where([[`e.${near(query)} = j.value`], ...conditions])}
       cross join names x on x.n = e.${far(query)}`,
    );
    let frontier = this.#numbers(ids);
    const seen = new Set(frontier);
    const reached: Reached[] = [];
    for (let depth = 1; depth <= query.depth && frontier.length > 0; depth++) {
      const next: number[] = [];
      for (const { n, id } of step.iterate(JSON.stringify(frontier), ...values(conditions))) {
        if (seen.has(n)) continue;
        seen.add(n);
        next.push(n);
        reached.push({ id, depth });
        if (reached.length === query.limit) return reached;
      }
      frontier = next;
    }
    return reached;
  }

  record({ kind, key }: RecordKey): Raw<StoredRecord> | undefined {
    const row = this.sql<rows.RecordRow>(
      `select ${rows.recordColumns} from records r
       where r.kind = (select n from names where id = ?) and r.key = ?`,
    ).get(kind, key);
    return row && rows.record(row);
  }

  records(query: RecordQuery): Raw<StoredRecord>[] {
    const conditions = this.#recordConditions(query);
    if (conditions === undefined) return [];
    const [compare, order] = query.ascending === true ? ['>', 'asc'] : ['<', 'desc'];
    const { after, limit } = query;
    if (after !== undefined) {
      conditions.push([`(i.sort, i.key) ${compare} (?, ?)`, after.sort, after.key]);
    }
    return this.sql<rows.RecordRow>(
      `select ${rows.recordColumns} from terms i cross join records r on r.n = i.record
       where ${where(conditions)} order by i.sort ${order}, i.key ${order} ${most}`,
    )
      .all(...values(conditions), limit)
      .map(rows.record);
  }

  count(query: CountQuery): number {
    const conditions = this.#recordConditions(query);
    if (conditions === undefined) return 0;
    const row = this.sql<{ total: number }>(
      `select count(*) as total from terms i where ${where(conditions)}`,
    );
    return row.get(...values(conditions))?.total ?? 0;
  }

  expired({ until, limit }: ExpiryQuery): RecordKey[] {
    return this.sql<RecordKey>(
      `select (select id from names where n = r.kind) as kind, r.key from records r
       where r.expires <= ? order by r.expires ${most}`,
    ).all(until, limit);
  }

  /** In the order of their row numbers. */
  scan(table: Table, after: string | undefined, limit: number): Scanned[] {
    const from = Number(after ?? -1);
    const behind = <Row>(columns: string, x: string): (Row & { readonly place: string })[] =>
      this.sql<Row & { readonly place: string }>(
        `select ${columns}, cast(${x}.n as text) as place
         from ${table}s ${x} where ${x}.n > ? order by ${x}.n ${most}`,
      ).all(from, limit);
    if (table === 'object') {
      return behind<rows.ObjectRow>(rows.objectColumns, 'o').map((row) => ({
        row: { object: rows.object(row) },
        place: row.place,
      }));
    }
    if (table === 'edge') {
      return behind<rows.EdgeRow>(rows.edgeColumns, 'e').map((row) => ({
        row: { edge: rows.edge(row) },
        place: row.place,
      }));
    }
    return behind<rows.RecordRow>(rows.recordColumns, 'r').map((row) => ({
      row: { record: rows.record(row) },
      place: row.place,
    }));
  }

  /** A prepared statement; the texts are few, since lists go in as JSON. */
  protected sql<Row>(text: string): Statement<Values, Row> {
    const known = this.#statements.get(text);
    if (known !== undefined) return known;
    const statement = this.db.prepare<Values, never>(text);
    this.#statements.set(text, statement);
    return statement;
  }

  /** The integer that stands for a text; undefined when nothing was ever written about it. */
  protected number(text: string): number | undefined {
    return this.sql<{ n: number }>('select n from names where id = ?').get(text)?.n;
  }

  #numbers(texts: readonly string[]): number[] {
    return this.sql<{ n: number }>(
      'select x.n from json_each(?) j cross join names x on x.id = j.value',
    )
      .all(JSON.stringify(texts))
      .map(({ n }) => n);
  }

  /** Columns that must hold these texts; undefined when none can. */
  #named(columns: Readonly<Record<string, string | undefined>>): Condition[] | undefined {
    const conditions: Condition[] = [];
    for (const [column, text] of Object.entries(columns)) {
      if (text === undefined) continue;
      const n = this.number(text);
      if (n === undefined) return undefined;
      conditions.push([`${column} = ?`, n]);
    }
    return conditions;
  }

  #edgeConditions({ types, revoked }: EdgeQuery): Condition[] | undefined {
    const conditions: Condition[] = [];
    if (types !== undefined) {
      const numbers = this.#numbers(types);
      if (numbers.length === 0) return undefined;
      conditions.push([`e.type in (${numbers.map(() => '?').join()})`, ...numbers]);
    }
    if (revoked !== true) conditions.push(['e.active = 1']);
    return conditions;
  }

  /** Along the first index; the others are looked up for each row of that. */
  #recordConditions({ kind, index, from, to }: CountQuery): Condition[] | undefined {
    const kindNumber = this.number(kind);
    if (kindNumber === undefined) return undefined;
    const conditions: Condition[] = [['i.kind = ?', kindNumber]];
    for (const [i, [name, value]] of Object.entries(index).entries()) {
      const n = this.number(name);
      if (n === undefined) return undefined;
      conditions.push(
        i === 0
          ? ['i.name = ? and i.value = ?', n, value]
          : [
              `exists (select 1 from terms t where t.kind = i.kind and t.name = ? and t.value = ?
               and t.sort = i.sort and t.key = i.key)`,
              n,
              value,
            ],
      );
    }
    if (from !== undefined) conditions.push(['i.sort >= ?', from]);
    if (to !== undefined) conditions.push(['i.sort <= ?', to]);
    return conditions;
  }
}

const near = ({ direction }: EdgeQuery): string => (direction === 'out' ? 'source' : 'target');
const far = ({ direction }: EdgeQuery): string => (direction === 'out' ? 'target' : 'source');
