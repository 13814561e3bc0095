import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import type { Assertion } from './workload.ts';

const json = (rows: readonly object[]): string => JSON.stringify(rows);
const scopeOf = (activity: string): string => `=${activity}`;

/** Rows of one transaction, by table, as JSON that is ready to be sent. */
interface Prepared {
  readonly log: string;
  readonly objects: string;
  readonly edges: string;
  readonly sealed: string;
}

function prepared(work: readonly Assertion[], from: number, to: number): Prepared {
  const sealed: object[] = [];
  const slot = ({ activity, sealed: bytes }: Assertion): string => {
    const own = randomUUID();
    sealed.push({
      activity: scopeOf(activity),
      slot: own,
      bytes: Buffer.from(bytes).toString('hex'),
    });
    return own;
  };
  const batch = work.slice(from, to).map((one, i) => ({ ...one, seq: from + i + 1 }));
  const log = batch.map((one) => ({
    seq: one.seq,
    id: one.id,
    about: one.about,
    activity: one.activity,
    hash: '00'.repeat(32),
    shape: JSON.stringify(one.shape),
    slot: slot(one),
  }));
  // The last state of each.
  const last = new Map(batch.map((one) => [one.about, one]));
  const objects = [...last.values()].map((one) => ({
    id: one.about,
    kind: 'dialog',
    activity: one.activity,
    seq: one.seq,
    shape: JSON.stringify(one.shape),
    slot: slot(one),
  }));
  const edges = batch.flatMap(({ edge, about, activity, seq }) =>
    edge === undefined
      ? []
      : [{ id: edge.id, type: 'delegated-from', source: about, target: edge.to, activity, seq }],
  );
  return { log: json(log), objects: json(objects), edges: json(edges), sealed: json(sealed) };
}

const inserts = {
  log: `insert into log (seq, id, about, activity, hash, shape, slot)
    select seq, id, about, activity, decode(hash, 'hex'), shape, slot from json_to_recordset($1)
    as x (seq bigint, id text, about text, activity text, hash text, shape text, slot uuid)`,
  objects: `insert into objects (id, kind, activity, seq, shape, slot)
    select id, kind, activity, seq, shape, slot from json_to_recordset($1)
    as x (id text, kind text, activity text, seq bigint, shape text, slot uuid)
    on conflict (id) do update
    set seq = excluded.seq, shape = excluded.shape, slot = excluded.slot`,
  edges: `insert into edges (id, type, source, target, activity, active, seq, shape)
    select id, type, source, target, activity, true, seq, '{}' from json_to_recordset($1)
    as x (id text, type text, source text, target text, activity text, seq bigint)`,
  sealed: `insert into sealed (activity, slot, bytes)
    select activity, slot, decode(bytes, 'hex') from json_to_recordset($1)
    as x (activity text, slot uuid, bytes text)`,
} as const;

/**
 * Writes the same assertions with the same driver into the tables and indexes of a store: one
 * statement for each table in one transaction. Nothing is looked up, hashed, checked or cleared away,
 * and none can be undone by itself: the least that a store would do.
 */
export async function rawPostgresWriter(
  url: string,
  work: readonly Assertion[],
  batch: number,
): Promise<{ write(from: number): Promise<void>; close(): Promise<void> }> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query('set search_path = throughline');
  const ready = new Map<number, Prepared>();
  for (let from = 0; from < work.length; from += batch) {
    ready.set(from, prepared(work, from, from + batch));
  }
  return {
    async write(from) {
      const rows = ready.get(from);
      if (rows === undefined) throw new Error('not prepared');
      await client.query('begin');
      for (const table of ['log', 'objects', 'edges', 'sealed'] as const) {
        await client.query({ name: table, text: inserts[table], values: [rows[table]] });
      }
      await client.query('commit');
    },
    close: () => client.end(),
  };
}
