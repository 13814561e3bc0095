import { randomUUID } from 'node:crypto';
import type { Head } from '../engine.ts';
import type { RecordKey } from '../store.ts';
import type { Changes } from './changes.ts';
import type { Value } from './connection.ts';
import { scope, scopeOf } from './rows.ts';

/** What a batch ends with: the new head of the log, and a mark that its writer has come so far. */
export interface Ending {
  /** Absent where nothing was appended. */
  readonly head: Head | undefined;
  readonly writer: string;
  readonly batch: number;
}

export interface Statement {
  readonly text: string;
  readonly values: Value[];
}

/** Channel on which commits are told with their number. */
export const channel = 'throughline';

/** A list of rows in JSON, as a table. */
const given = (columns: string): string => `json_to_recordset(?) as x (${columns})`;

const upsert = (columns: string, key: string): string => {
  const changed = columns
    .split(', ')
    .filter((column) => !key.split(', ').includes(column))
    .map((column) => `${column} = excluded.${column}`);
  return `on conflict (${key}) do update set ${changed.join(', ')}`;
};

/** Slots that rows of a table let go of, as the table was before this statement. */
const released = (table: string, row: string, match: string, columns: string): string =>
  `delete from sealed s using ${table} ${row}, ${given(columns)}
   where ${match} and s.activity = ${scope(row)} and s.slot = ${row}.slot`;

const object = 'id, kind, activity, parent, seq, shape, slot';
const edge = 'id, type, source, target, activity, active, seq, shape, slot';
const record = 'kind, key, version, sort, terms, activity, expires, shape, slot';

/**
 * Parts of the one statement that brings changes to the database. All see the tables as they were
 * before it, and no two touch the same row, so their order is of no matter. `?` is the list of rows.
 */
const parts = {
  log: `insert into log (seq, id, about, activity, hash, shape, slot)
    select seq, id, about, activity, decode(hash, 'hex'), shape, slot
    from ${given('seq bigint, id text, about text, activity text, hash text, shape text, slot uuid')}`,
  objects: `insert into objects (${object}) select ${object} from ${given(
    'id text, kind text, activity text, parent text, seq bigint, shape text, slot uuid',
  )} ${upsert(object, 'id')}`,
  objectSlots: released('objects', 'o', 'o.id = x.id', 'id text'),
  edges: `insert into edges (${edge}) select ${edge} from ${given(
    `id text, type text, source text, target text, activity text, active boolean, seq bigint,
     shape text, slot uuid`,
  )} ${upsert(edge, 'id')}`,
  edgeSlots: released('edges', 'e', 'e.id = x.id', 'id text'),
  records: `insert into records (${record}) select ${record} from ${given(
    `kind text, key text, version bigint, sort bigint, terms text, activity text, expires bigint,
     shape text, slot uuid`,
  )} ${upsert(record, 'kind, key')}`,
  deleted: `delete from records r using ${given('kind text, key text')}
    where r.kind = x.kind and r.key = x.key`,
  recordSlots: released('records', 'r', 'r.kind = x.kind and r.key = x.key', 'kind text, key text'),
  dropped: `delete from terms t using ${given('term text, sort bigint, key text')}
    where t.term = decode(x.term, 'hex') and t.sort = x.sort and t.key = x.key`,
  added: `insert into terms (term, sort, key)
    select decode(term, 'hex'), sort, key from ${given('term text, sort bigint, key text')}`,
  sealed: `insert into sealed (activity, slot, bytes)
    select activity, slot, decode(bytes, 'base64')
    from ${given('activity text, slot uuid, bytes text')}`,
  head: `update store set seq = x.seq, hash = decode(x.hash, 'hex')
    from ${given('seq bigint, hash text')} where store.one`,
  writer: `insert into writers (id, batch) select id, batch from ${given('id uuid, batch bigint')}
    on conflict (id) do update set batch = excluded.batch, at = now()`,
};

/** Rows by the part that they go in with. */
type Lists = Readonly<Record<string, readonly object[]>>;

/** The statement for changes, and for the end of their batch where it ends; undefined for none. */
export function statementFor(changes: Changes, ending?: Ending): Statement | undefined {
  const lists: Lists = { ...listsOf(changes), ...listsOfEnding(ending) };
  const texts: string[] = [];
  const values: Value[] = [];
  for (const [name, text] of Object.entries(parts)) {
    const list = lists[name] ?? [];
    if (list.length === 0) continue;
    const place = `$${values.push(JSON.stringify(list))}`;
    texts.push(`do_${name} as (${text.replace('?', place)})`);
  }
  if (texts.length === 0) return undefined;
  const told = ending?.head;
  const last =
    told === undefined ? '' : `pg_notify('${channel}', $${values.push(String(told.seq))})`;
  return { text: `with ${texts.join(',\n')} select ${last}`, values };
}

const listsOfEnding = (ending: Ending | undefined): Lists => ({
  head: ending?.head === undefined ? [] : [ending.head],
  writer: ending === undefined ? [] : [{ id: ending.writer, batch: ending.batch }],
});

function listsOf(changes: Changes): Lists {
  const sealed: object[] = [];
  /** A row with its sealed part in a slot, new each time. */
  const slotted = ({ sealed: bytes, ...row }: Row): object => {
    if (bytes === undefined) return row;
    const slot = randomUUID();
    const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
    sealed.push({ activity: scopeOf(row.activity), slot, bytes: content });
    return { ...row, slot };
  };
  const objects = [...changes.objects.values()];
  const edges = [...changes.edges.values()];
  const { records } = changes;
  const { drop, add } = changes.terms();
  return {
    log: changes.log.map(slotted),
    objects: objects.map(slotted),
    objectSlots: objects.map(({ id }) => ({ id })),
    edges: edges.map(({ from, to, status, ...row }) =>
      slotted({ ...row, source: from, target: to, active: status === 'active' }),
    ),
    edgeSlots: edges.map(({ id }) => ({ id })),
    records: records.flatMap(({ wanted }) => {
      if (wanted === undefined) return [];
      const { index, expiresAt: expires, ...row } = wanted;
      return [slotted({ ...row, terms: JSON.stringify(index), expires })];
    }),
    deleted: records.filter(({ wanted }) => wanted === undefined).map(keyOf),
    recordSlots: records.filter(({ stored }) => stored !== undefined).map(keyOf),
    dropped: drop,
    added: add,
    sealed,
  };
}

interface Row {
  readonly activity?: string;
  readonly sealed?: Uint8Array;
  readonly [column: string]: unknown;
}

const keyOf = ({ kind, key }: RecordKey): RecordKey => ({ kind, key });
