import { ThroughlineError } from '../errors.ts';
import { chainHashOf } from './chain.ts';
import {
  bounds,
  canonical,
  checkInteger,
  checkLimit,
  checkRows,
  checkSealed,
  checkText,
  checkTexts,
  invalid,
} from './check.ts';
import { tables, type CountQuery, type ExpiryQuery, type LogQuery } from './engine.ts';
import type { ObjectQuery, RawRow, ReachQuery } from './engine.ts';
import type { Head, Reached, ReadEngine, WriteEngine } from './engine.ts';
import { type Answer, Turns } from './lane.ts';
import type {
  EdgeQuery,
  Json,
  LogEntry,
  RecordKey,
  RecordQuery,
  StoredEdge,
  StoredLogEntry,
  StoredObject,
  StoredRecord,
  StoredRow,
  StoreReader,
  StoreWriter,
} from './store.ts';

/** What a work is given: checks every argument, then asks the engine. Dead once the work is over. */
export class ReaderHandle implements StoreReader {
  readonly #engine: ReadEngine | WriteEngine;
  readonly #turns: Turns;
  #over = false;

  constructor(engine: ReadEngine | WriteEngine) {
    this.#engine = engine;
    this.#turns = new Turns('together' in engine && engine.together);
  }

  /** The engine has yet to answer. */
  get busy(): boolean {
    return this.#turns.busy;
  }

  /** Resolves when the engine has answered all that was asked, whether the work waited for it or not. */
  settled(): Promise<void> {
    return this.#turns.settled();
  }

  /** The work is over: a call that comes later must not land in somebody else's transaction. */
  end(): void {
    this.#over = true;
  }

  async head(): Promise<Head> {
    return this.ask((engine) => engine.head());
  }

  async log(query: LogQuery): Promise<readonly StoredLogEntry[]> {
    checkInteger(query.after, 'after', 0);
    checkLimit(query.limit, 'limit');
    checkOptional(query.id, 'id');
    checkOptional(query.activity, 'activity');
    checkOptional(query.about, 'about');
    return (await this.ask((engine) => engine.log(query))).map(parsed);
  }

  async objects(ids: readonly string[]): Promise<readonly StoredObject[]> {
    checkTexts(ids, 'ids');
    return (await this.ask((engine) => engine.objects(distinct(ids)))).map(parsed);
  }

  async objectsOf(query: ObjectQuery): Promise<readonly StoredObject[]> {
    const { activity, parent, kind } = query;
    if (activity === undefined && parent === undefined) {
      throw invalid('query', 'must name an activity or a parent');
    }
    checkOptional(activity, 'activity');
    checkOptional(parent, 'parent');
    checkOptional(kind, 'kind');
    checkLimit(query.limit, 'limit');
    return (await this.ask((engine) => engine.objectsOf(query))).map(parsed);
  }

  async edge(id: string): Promise<StoredEdge | undefined> {
    checkText(id, 'id');
    return maybeParsed(await this.ask((engine) => engine.edge(id)));
  }

  async edges(ids: readonly string[], query: EdgeQuery): Promise<readonly StoredEdge[]> {
    checkTexts(ids, 'ids');
    checkEdgeQuery(query);
    const found = await this.ask((engine) => engine.edges(distinct(ids), query, bounds.rows + 1));
    checkRows(found.length, 'edges');
    return found.map(parsed);
  }

  async edgesOf(activity: string, limit: number): Promise<readonly StoredEdge[]> {
    checkText(activity, 'activity');
    checkLimit(limit, 'limit');
    return (await this.ask((engine) => engine.edgesOf(activity, limit))).map(parsed);
  }

  async reach(ids: readonly string[], query: ReachQuery): Promise<readonly Reached[]> {
    checkTexts(ids, 'ids');
    checkEdgeQuery(query);
    checkInteger(query.depth, 'depth', 0);
    checkLimit(query.limit, 'limit');
    return this.ask((engine) => engine.reach(distinct(ids), query));
  }

  async record(key: RecordKey): Promise<StoredRecord | undefined> {
    checkKey(key);
    return maybeParsed(await this.ask((engine) => engine.record(key)));
  }

  async records(query: RecordQuery): Promise<readonly StoredRecord[]> {
    checkRecordQuery(query);
    checkLimit(query.limit, 'limit');
    if (query.after !== undefined) {
      checkInteger(query.after.sort, 'after.sort');
      checkText(query.after.key, 'after.key');
    }
    return (await this.ask((engine) => engine.records(query))).map(parsed);
  }

  async count(query: CountQuery): Promise<number> {
    checkRecordQuery(query);
    return this.ask((engine) => engine.count(query));
  }

  async expired(query: ExpiryQuery): Promise<readonly RecordKey[]> {
    checkInteger(query.until, 'until');
    checkLimit(query.limit, 'limit');
    return this.ask((engine) => engine.expired(query));
  }

  async scan(query: { readonly after?: string; readonly limit: number }): Promise<{
    readonly rows: readonly StoredRow[];
    readonly next?: string;
  }> {
    checkInteger(query.limit, 'limit', 1, bounds.rows);
    const [, name = tables[0], place = ''] = /^([a-z]+) (.*)$/s.exec(query.after ?? '') ?? [];
    const table = tables.find((each) => each === name);
    if (table === undefined) throw invalid('after', 'must be what a scan gave as next');
    const behind = place === '' ? undefined : place;
    const found = await this.ask((engine) => engine.scan(table, behind, query.limit));
    const rows = found.map(({ row }) => parsedRow(row));
    const last = found.length < query.limit ? undefined : found.at(-1);
    if (last !== undefined) return { rows, next: `${table} ${last.place}` };
    const following = tables[tables.indexOf(table) + 1];
    return following === undefined ? { rows } : { rows, next: `${following} ` };
  }

  protected ask<T>(question: (engine: ReadEngine | WriteEngine) => Answer<T>): Answer<T> {
    return this.inTurn(() => question(this.#engine));
  }

  protected inTurn<T>(question: () => Answer<T>): Answer<T> {
    return this.#turns.take(() => {
      this.live();
      return otherwise(question, (error) => this.#engine.explain(error));
    });
  }

  protected live(): void {
    if (!this.#over) return;
    throw new ThroughlineError(
      'unavailable',
      'the work that this reader or writer was given to is over; read and write inside the work',
      { retryable: false },
    );
  }
}

export class WriterHandle extends ReaderHandle implements StoreWriter {
  readonly #engine: WriteEngine;
  #erased = false;
  #failure: { readonly error: unknown } | undefined;

  constructor(engine: WriteEngine) {
    super(engine);
    this.#engine = engine;
  }

  get erased(): boolean {
    return this.#erased;
  }

  /** Throws what a statement failed with half way, even where the work has caught it. */
  assertWhole(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  async append(entries: readonly LogEntry[]): Promise<readonly StoredLogEntry[]> {
    const shapes = entries.map((entry, i) => checkEntry(entry, `entries[${i}]`));
    return this.#change((engine) => {
      let { seq, hash } = engine.head();
      const stored = entries.map((entry, i) => {
        const shape = shapes[i] ?? 'null';
        seq += 1;
        hash = chainHashOf(hash, entry, shape);
        return { raw: { ...entry, shape, seq, hash }, entry: { ...entry, seq, hash } };
      });
      const inserted = engine.insert(stored.map(({ raw }) => raw));
      return next(inserted, () => stored.map(({ entry }) => entry));
    });
  }

  async putObject(object: StoredObject): Promise<void> {
    const shape = checkStored(object, 'object');
    checkText(object.kind, 'object.kind');
    checkOptional(object.parent, 'object.parent');
    await this.#change((engine) => engine.putObject({ ...object, shape }));
  }

  async putEdge(edge: StoredEdge): Promise<void> {
    const shape = checkStored(edge, 'edge');
    checkText(edge.type, 'edge.type');
    checkText(edge.from, 'edge.from');
    checkText(edge.to, 'edge.to');
    if (edge.status !== 'active' && edge.status !== 'revoked') {
      throw invalid('edge.status', 'must be active or revoked');
    }
    await this.#change((engine) => engine.putEdge({ ...edge, shape }));
  }

  async putRecord(
    record: Omit<StoredRecord, 'version'>,
    options: { readonly expected?: number; readonly version?: number } = {},
  ): Promise<number> {
    checkKey(record);
    checkInteger(record.sort, 'record.sort');
    checkIndex(record.index, 'record.index');
    checkOptional(record.activity, 'record.activity');
    checkSealed(record.sealed, 'record.sealed');
    if (record.expiresAt !== undefined) checkInteger(record.expiresAt, 'record.expiresAt');
    const shape = canonical(record.shape, 'record.shape');
    const { kind, key } = record;
    const { expected } = options;
    if (options.version !== undefined) checkInteger(options.version, 'version', 1);
    return this.inTurn(() =>
      next(this.#engine.version({ kind, key }), (current) => {
        if (expected !== undefined && expected !== current) {
          throw versionConflict(kind, expected, current);
        }
        const version = options.version ?? current + 1;
        const put = this.#noted((engine) => engine.putRecord({ ...record, shape, version }));
        return next(put, () => version);
      }),
    );
  }

  async deleteRecord(key: RecordKey): Promise<void> {
    checkKey(key);
    await this.#change((engine) => engine.deleteRecord(key));
  }

  async eraseActivity(activity: string): Promise<void> {
    checkText(activity, 'activity');
    await this.#change((engine) => engine.eraseActivity(activity));
    this.#erased = true;
  }

  #change<T>(change: (engine: WriteEngine) => Answer<T>): Answer<T> {
    return this.inTurn(() => this.#noted(change));
  }

  #noted<T>(change: (engine: WriteEngine) => Answer<T>): Answer<T> {
    return otherwise(
      () => change(this.#engine),
      (raw) => {
        const error = this.#engine.explain(raw);
        this.#failure ??= { error };
        return error;
      },
    );
  }
}

/** What follows from an answer, at once where it is there. */
function next<T, R>(answer: Answer<T>, then: (value: T) => Answer<R>): Answer<R> {
  return answer instanceof Promise ? answer.then(then) : then(answer);
}

/** The answer to a question, or another error in place of the one it fails with. */
function otherwise<T>(question: () => Answer<T>, instead: (error: unknown) => unknown): Answer<T> {
  try {
    const answer = question();
    if (!(answer instanceof Promise)) return answer;
    return answer.catch((error: unknown) => {
      throw instead(error);
    });
  } catch (error) {
    throw instead(error);
  }
}

function versionConflict(kind: string, expected: number, current: number): ThroughlineError {
  return new ThroughlineError(
    'conflict',
    `this ${kind} record is at version ${current}, not ${expected}; read it and try again`,
    { details: { kind, expected, current } },
  );
}

function parsed<T extends { readonly shape: string }>(raw: T): Omit<T, 'shape'> & { shape: Json } {
  return { ...raw, shape: parseShape(raw.shape) };
}

function parsedRow(raw: RawRow): StoredRow {
  if ('object' in raw) return { object: parsed(raw.object) };
  return 'edge' in raw ? { edge: parsed(raw.edge) } : { record: parsed(raw.record) };
}

function maybeParsed<T extends { readonly shape: string }>(
  raw: T | undefined,
): (Omit<T, 'shape'> & { shape: Json }) | undefined {
  return raw === undefined ? undefined : parsed(raw);
}

function parseShape(text: string): Json {
  try {
    const shape: Json = JSON.parse(text);
    return shape;
  } catch (cause) {
    throw new ThroughlineError(
      'damaged',
      'a stored shape is not JSON; restore the store from a backup',
      { cause },
    );
  }
}

function distinct(texts: readonly string[]): readonly string[] {
  return texts.length < 2 ? texts : [...new Set(texts)];
}

function checkOptional(text: string | undefined, field: string): void {
  if (text !== undefined) checkText(text, field);
}

function checkEntry(entry: LogEntry, field: string): string {
  checkText(entry.id, `${field}.id`);
  checkText(entry.about, `${field}.about`);
  checkOptional(entry.activity, `${field}.activity`);
  checkSealed(entry.sealed, `${field}.sealed`);
  return canonical(entry.shape, `${field}.shape`);
}

function checkStored(stored: StoredObject | StoredEdge, field: string): string {
  checkText(stored.id, `${field}.id`);
  checkOptional(stored.activity, `${field}.activity`);
  checkInteger(stored.seq, `${field}.seq`, 0);
  checkSealed(stored.sealed, `${field}.sealed`);
  return canonical(stored.shape, `${field}.shape`);
}

function checkKey({ kind, key }: RecordKey): void {
  checkText(kind, 'record.kind');
  checkText(key, 'record.key');
}

function checkIndex(index: Readonly<Record<string, string>>, field: string): void {
  const entries = Object.entries(index);
  if (entries.length > bounds.indexes) {
    throw invalid(field, `has more than ${bounds.indexes} names`);
  }
  for (const [name, value] of entries) {
    checkText(name, `${field}'s name`);
    checkText(value, `${field}.${name}`);
  }
}

function checkRecordQuery(query: CountQuery): void {
  checkText(query.kind, 'kind');
  checkIndex(query.index, 'index');
  if (Object.keys(query.index).length === 0) throw invalid('index', 'must name at least one');
  if (query.from !== undefined) checkInteger(query.from, 'from');
  if (query.to !== undefined) checkInteger(query.to, 'to');
}

function checkEdgeQuery(query: EdgeQuery): void {
  if (query.direction !== 'out' && query.direction !== 'in') {
    throw invalid('direction', 'must be out or in');
  }
  if (query.types !== undefined) checkTexts(query.types, 'types', bounds.types);
}
