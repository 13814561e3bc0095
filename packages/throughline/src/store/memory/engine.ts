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
  Table as TableName,
  WriteEngine,
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
import { Table, UndoLog } from './undo.ts';

/** A term of a table: the name of a field and what is in it. */
const term = (field: string, ...values: readonly (string | undefined)[]): string =>
  JSON.stringify([field, ...values]);

const keyOf = ({ kind, key }: RecordKey): string => JSON.stringify([kind, key]);

/** Takes rows apart from the caller's bytes; shapes are text already. */
function copied<T extends { readonly sealed?: Uint8Array }>(row: T): T {
  return row.sealed === undefined ? row : { ...row, sealed: Uint8Array.from(row.sealed) };
}

function unsealed<T extends { readonly sealed?: Uint8Array }>(row: T): Omit<T, 'sealed'> {
  const { sealed: _, ...rest } = row;
  return rest;
}

export class MemoryEngine implements WriteEngine {
  readonly #undo = new UndoLog();
  readonly #log = new Table<Raw<StoredLogEntry>>(this.#undo, (entry) => [
    term('id', entry.id),
    term('about', entry.about),
    term('activity', entry.activity),
  ]);
  readonly #objects = new Table<Raw<StoredObject>>(this.#undo, (object) => [
    term('activity', object.activity),
    term('parent', object.parent),
  ]);
  readonly #edges = new Table<Raw<StoredEdge>>(this.#undo, (edge) => [
    term('out', edge.from),
    term('in', edge.to),
    term('activity', edge.activity),
  ]);
  readonly #records = new Table<Raw<StoredRecord>>(this.#undo, (record) => [
    term('activity', record.activity),
    ...Object.entries(record.index).map(([name, value]) => term('index', record.kind, name, value)),
  ]);

  begin(): void {
    this.#undo.forget();
  }

  commit(): void {
    this.#undo.forget();
  }

  rollback(): void {
    this.#undo.undoAll();
  }

  mark(): void {
    this.#undo.mark();
  }

  keep(): void {
    this.#undo.mark();
  }

  undo(): void {
    this.#undo.undo();
  }

  scrub(): boolean {
    return true;
  }

  explain(error: unknown): unknown {
    return error;
  }

  head(): Head {
    const last = this.#log.get(String(this.#log.size));
    return last === undefined ? { seq: 0, hash: genesis } : { seq: last.seq, hash: last.hash };
  }

  log({ after, limit, id, activity, about }: LogQuery): Raw<StoredLogEntry>[] {
    const [field, value] =
      id !== undefined
        ? ['id', id]
        : about !== undefined
          ? ['about', about]
          : ['activity', activity];
    if (value === undefined) {
      const last = Math.min(this.#log.size, after + limit);
      const seqs = Array.from({ length: Math.max(0, last - after) }, (_, i) => after + 1 + i);
      return seqs.flatMap((seq) => this.#log.get(String(seq)) ?? []).map(copied);
    }
    return this.#log
      .find(term(field ?? '', value))
      .filter((entry) => entry.seq > after)
      .filter((entry) => about === undefined || entry.about === about)
      .filter((entry) => activity === undefined || entry.activity === activity)
      .toSorted((a, b) => a.seq - b.seq)
      .slice(0, limit)
      .map(copied);
  }

  objects(ids: readonly string[]): Raw<StoredObject>[] {
    return ids.flatMap((id) => this.#objects.get(id) ?? []).map(copied);
  }

  objectsOf({ activity, parent, kind, limit }: ObjectQuery): Raw<StoredObject>[] {
    const given = Object.entries({ parent, activity }).find(([, v]) => v !== undefined);
    return this.#objects
      .find(given && term(...given))
      .filter((object) => activity === undefined || object.activity === activity)
      .filter((object) => parent === undefined || object.parent === parent)
      .filter((object) => kind === undefined || object.kind === kind)
      .toSorted((a, b) => a.seq - b.seq)
      .slice(0, limit)
      .map(copied);
  }

  edge(id: string): Raw<StoredEdge> | undefined {
    const edge = this.#edges.get(id);
    return edge && copied(edge);
  }

  edges(ids: readonly string[], query: EdgeQuery, limit: number): Raw<StoredEdge>[] {
    return ids
      .flatMap((id) => this.#touching(id, query))
      .slice(0, limit)
      .map(copied);
  }

  edgesOf(activity: string, limit: number): Raw<StoredEdge>[] {
    return this.#edges
      .find(term('activity', activity))
      .toSorted((a, b) => a.seq - b.seq)
      .slice(0, limit)
      .map(copied);
  }

  reach(ids: readonly string[], query: ReachQuery): Reached[] {
    const seen = new Set(ids);
    const reached: Reached[] = [];
    let frontier: readonly string[] = ids;
    for (let depth = 1; depth <= query.depth && frontier.length > 0; depth++) {
      const next: string[] = [];
      for (const edge of frontier.flatMap((id) => this.#touching(id, query))) {
        const id = query.direction === 'out' ? edge.to : edge.from;
        if (seen.has(id)) continue;
        if (reached.length >= query.limit) return reached;
        seen.add(id);
        next.push(id);
        reached.push({ id, depth });
      }
      frontier = next;
    }
    return reached;
  }

  record(key: RecordKey): Raw<StoredRecord> | undefined {
    const record = this.#records.get(keyOf(key));
    return record && copied(record);
  }

  records(query: RecordQuery): Raw<StoredRecord>[] {
    const { after, limit } = query;
    const step = query.ascending === true ? 1 : -1;
    return this.#matching(query)
      .toSorted((a, b) => step * bySortAndKey(a, b))
      .filter((record) => after === undefined || step * bySortAndKey(record, after) > 0)
      .slice(0, limit)
      .map(copied);
  }

  count(query: CountQuery): number {
    return this.#matching(query).length;
  }

  expired({ until, limit }: ExpiryQuery): RecordKey[] {
    return this.#records
      .find()
      .flatMap(({ kind, key, expiresAt }) =>
        expiresAt !== undefined && expiresAt <= until ? [{ kind, key, expiresAt }] : [],
      )
      .toSorted((a, b) => a.expiresAt - b.expiresAt)
      .slice(0, limit)
      .map(({ kind, key }) => ({ kind, key }));
  }

  /** In the order of their keys, which stays the same when rows come and go. */
  scan(table: TableName, after: string | undefined, limit: number): Scanned[] {
    const rows: Scanned[] =
      table === 'object'
        ? this.#objects
            .find()
            .map((object) => ({ row: { object: copied(object) }, place: object.id }))
        : table === 'edge'
          ? this.#edges.find().map((edge) => ({ row: { edge: copied(edge) }, place: edge.id }))
          : this.#records
              .find()
              .map((record) => ({ row: { record: copied(record) }, place: keyOf(record) }));
    return rows
      .filter(({ place }) => after === undefined || place > after)
      .toSorted((a, b) => (a.place < b.place ? -1 : 1))
      .slice(0, limit);
  }

  insert(entries: readonly Raw<StoredLogEntry>[]): void {
    for (const entry of entries) {
      if (this.#log.find(term('id', entry.id)).length > 0) {
        throw new ThroughlineError('conflict', 'an entry with this id is in the log already', {
          details: { id: entry.id },
        });
      }
      this.#log.set(String(entry.seq), copied(entry));
    }
  }

  putObject(object: Raw<StoredObject>): void {
    this.#objects.set(object.id, copied(object));
  }

  putEdge(edge: Raw<StoredEdge>): void {
    this.#edges.set(edge.id, copied(edge));
  }

  version(key: RecordKey): number {
    return this.#records.get(keyOf(key))?.version ?? 0;
  }

  putRecord(record: Raw<StoredRecord>): void {
    this.#records.set(keyOf(record), copied({ ...record, index: { ...record.index } }));
  }

  deleteRecord(key: RecordKey): void {
    this.#records.set(keyOf(key), undefined);
  }

  eraseActivity(activity: string): void {
    const its = term('activity', activity);
    for (const entry of this.#log.find(its)) this.#log.set(String(entry.seq), unsealed(entry));
    for (const object of this.#objects.find(its)) this.#objects.set(object.id, unsealed(object));
    for (const edge of this.#edges.find(its)) this.#edges.set(edge.id, unsealed(edge));
    for (const record of this.#records.find(its)) {
      this.#records.set(keyOf(record), unsealed(record));
    }
  }

  #touching(id: string, query: EdgeQuery): Raw<StoredEdge>[] {
    return this.#edges
      .find(term(query.direction, id))
      .filter((edge) => query.revoked === true || edge.status === 'active')
      .filter((edge) => query.types?.includes(edge.type) ?? true);
  }

  #matching({ kind, index, from, to }: CountQuery): Raw<StoredRecord>[] {
    const wanted = Object.entries(index);
    const [first] = wanted;
    return this.#records
      .find(first && term('index', kind, ...first))
      .filter((record) => wanted.every(([name, value]) => record.index[name] === value))
      .filter((record) => from === undefined || record.sort >= from)
      .filter((record) => to === undefined || record.sort <= to);
  }
}

interface Place {
  readonly sort: number;
  readonly key: string;
}

/** Keys in the order of their UTF-8 bytes, as databases have them; JavaScript's is by UTF-16. */
function bySortAndKey(a: Place, b: Place): number {
  return a.sort - b.sort || Buffer.compare(Buffer.from(a.key), Buffer.from(b.key));
}
