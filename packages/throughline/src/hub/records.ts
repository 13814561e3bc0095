import type { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import type { Json, RecordQuery, StoredRecord, StoreReader, StoreWriter } from '../store/store.ts';
import { Memo } from './memo.ts';
import { textOf, type KeyBox } from './vault.ts';

/** A place in the store where nothing is: what is asked for in vain reads as much as what is found. */
export const nowhere = 'none';

/** JSON as a store keeps it: without `undefined`. */
export function toJson(value: unknown): Json {
  const json: Json = JSON.parse(JSON.stringify(value ?? null));
  return json;
}

/** A record with its parts checked; `content` is undefined when its key was destroyed. */
export interface Kept<S, C> {
  readonly key: string;
  readonly version: number;
  readonly sort: number;
  readonly index: Readonly<Record<string, string>>;
  readonly shape: S;
  readonly content: C | undefined;
}

export interface ToKeep<S, C> {
  readonly key: string;
  readonly sort?: number;
  readonly index: Readonly<Record<string, string>>;
  /** Scope that it is sealed with, and erased with: a case's or a context's. */
  readonly activity?: string | undefined;
  readonly shape: S;
  readonly content: C;
  /** Version that it must have now; 0: must be new. */
  readonly expected?: number;
  /** Milliseconds since the epoch; then the sweeper looks at it. */
  readonly expiresAt?: number | undefined;
}

type BoxOf = (record: StoredRecord) => KeyBox | undefined | Promise<KeyBox | undefined>;

/**
 * One kind of record: what of it is in the clear (`shape`: ids of ours, numbers, blinded values) and
 * what is sealed (`content`). Both are checked when read, so that a damaged file is noticed.
 */
export class Records<S, C> {
  readonly kind: string;
  readonly #shape: z.ZodType<S>;
  readonly #content: z.ZodType<C>;
  readonly #opened: Memo<C> | undefined;

  /** `remember`: contents kept opened, for what is read with nearly every call and sealed for the domain. */
  constructor(
    kind: string,
    shape: z.ZodType<S>,
    content: z.ZodType<C>,
    { remember }: { remember?: number } = {},
  ) {
    this.kind = kind;
    this.#shape = shape;
    this.#content = content;
    this.#opened = remember === undefined ? undefined : new Memo(remember);
  }

  async get(
    reader: StoreReader,
    box: KeyBox | BoxOf,
    key: string,
  ): Promise<Kept<S, C> | undefined> {
    const record = await reader.record({ kind: this.kind, key });
    return record && this.#openBy(record, box);
  }

  async find(
    reader: StoreReader,
    box: KeyBox | BoxOf,
    query: Omit<RecordQuery, 'kind'>,
  ): Promise<Kept<S, C>[]> {
    const found: Kept<S, C>[] = [];
    for (const record of await reader.records({ ...query, kind: this.kind })) {
      found.push(await this.#openBy(record, box));
    }
    return found;
  }

  /** One by its key; reads as often for one that is not there, so that time tells nothing. */
  async look(
    reader: StoreReader,
    boxes: { of(scope: string): Promise<KeyBox | undefined> },
    key: string,
  ): Promise<Kept<S, C> | undefined> {
    const record = await reader.record({ kind: this.kind, key });
    const box = await boxes.of(record?.activity ?? nowhere);
    return record && this.open(record, box);
  }

  count(reader: StoreReader, index: Readonly<Record<string, string>>): Promise<number> {
    return reader.count({ kind: this.kind, index });
  }

  put(writer: StoreWriter, box: KeyBox, record: ToKeep<S, C>): Promise<number> {
    const { expiresAt, ...rest } = record;
    const { key, sort = 0, index, activity, shape, content, expected } = rest;
    const kept = { kind: this.kind, key, sort, index, shape: toJson(shape) };
    return writer.putRecord(
      {
        ...kept,
        ...(isEmpty(content) ? {} : { sealed: box.seal(`${this.kind}/${key}`, content).sealed }),
        ...(activity === undefined ? {} : { activity }),
        ...(expiresAt === undefined ? {} : { expiresAt }),
      },
      expected === undefined ? {} : { expected },
    );
  }

  /** Leaves of a record what says that it was there: its key and its shape. */
  async bury(
    writer: StoreWriter,
    record: Pick<ToKeep<S, C>, 'key' | 'shape' | 'index' | 'sort'>,
  ): Promise<void> {
    const { key, shape, index, sort = 0 } = record;
    await writer.putRecord({ kind: this.kind, key, sort, index, shape: toJson(shape) });
  }

  async #openBy(record: StoredRecord, from: KeyBox | BoxOf): Promise<Kept<S, C>> {
    return this.open(record, typeof from === 'function' ? await from(record) : from);
  }

  /** What a stored record holds; without a key only its shape. */
  open(record: StoredRecord, box: KeyBox | undefined): Kept<S, C> {
    const { key, version, sort, index, sealed } = record;
    const label = `${this.kind}/${key}`;
    const shape = this.#check(this.#shape, record.shape, label);
    const content =
      box === undefined || sealed === undefined ? undefined : this.#contentOf(box, label, sealed);
    return { key, version, sort, index, shape, content };
  }

  #contentOf(box: KeyBox, label: string, sealed: Uint8Array): C {
    const open = (): C => this.#check(this.#content, box.open(label, sealed), label);
    return this.#opened?.get(`${label} ${textOf(sealed)}`, open) ?? open();
  }

  #check<T>(schema: z.ZodType<T>, value: unknown, label: string): T {
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    throw new ThroughlineError(
      'damaged',
      `the record ${label} is not in the form this version writes; restore the data folder from a backup`,
      { cause: result.error },
    );
  }
}

/** Of nothing written there is nothing to seal. */
const isEmpty = (content: unknown): boolean =>
  typeof content === 'object' && content !== null && Object.keys(content).length === 0;

/** Records that are dropped at a time. */
const page = 500;

/** Drops every record of a kind that an index finds. */
export async function dropAll(
  writer: StoreWriter,
  kind: string,
  index: Readonly<Record<string, string>>,
): Promise<void> {
  for (;;) {
    const found = await writer.records({ kind, index, limit: page });
    for (const { key } of found) await writer.deleteRecord({ kind, key });
    if (found.length < page) return;
  }
}
