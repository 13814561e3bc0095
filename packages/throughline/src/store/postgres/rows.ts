import type { Raw } from '../engine.ts';
import type { StoredEdge, StoredLogEntry, StoredObject, StoredRecord } from '../store.ts';

/** What `sealed` is kept under: an activity, or none, which is not the same as one without a name. */
export const scopeOf = (activity: string | undefined): string =>
  activity === undefined ? '' : `=${activity}`;

/** The same in SQL, of a row. */
export const scope = (row: string): string => `coalesce('=' || ${row}.activity, '')`;

/** The bytes that a row's slot names. */
const sealed = (row: string): string =>
  `(select s.bytes from sealed s where s.activity = ${scope(row)} and s.slot = ${row}.slot)
   as sealed`;

interface Common {
  readonly activity: string | null;
  readonly shape: string;
  readonly sealed: Buffer | null;
  readonly seq: number;
}

export interface LogRow extends Common {
  readonly id: string;
  readonly about: string;
  readonly hash: string;
}

export const logColumns = `l.seq, l.id, l.about, l.activity, encode(l.hash, 'hex') as hash,
  l.shape, ${sealed('l')}`;

export interface ObjectRow extends Common {
  readonly id: string;
  readonly kind: string;
  readonly parent: string | null;
}

export const objectColumns = `o.id, o.kind, o.activity, o.parent, o.seq, o.shape, ${sealed('o')}`;

export interface EdgeRow extends Common {
  readonly id: string;
  readonly type: string;
  readonly source: string;
  readonly target: string;
  readonly active: boolean;
}

export const edgeColumns = `e.id, e.type, e.source, e.target, e.activity, e.active, e.seq, e.shape,
  ${sealed('e')}`;

export interface RecordRow extends Omit<Common, 'seq'> {
  readonly kind: string;
  readonly key: string;
  readonly version: number;
  readonly sort: number;
  readonly terms: string;
  readonly expires: number | null;
}

export const recordColumns = `r.kind, r.key, r.version, r.sort, r.terms, r.activity, r.expires,
  r.shape, ${sealed('r')}`;

/** What may be absent. */
function optional({ activity, sealed: bytes }: Pick<Common, 'activity' | 'sealed'>): {
  activity?: string;
  sealed?: Uint8Array;
} {
  return {
    ...(activity !== null && { activity }),
    // Plain bytes, as other drivers give them.
    ...(bytes !== null && { sealed: Uint8Array.from(bytes) }),
  };
}

export function logEntry(row: LogRow): Raw<StoredLogEntry> {
  const { id, about, shape, seq, hash } = row;
  return { id, about, shape, ...optional(row), seq, hash };
}

export function object(row: ObjectRow): Raw<StoredObject> {
  const { id, kind, parent, shape, seq } = row;
  return { id, kind, shape, seq, ...(parent !== null && { parent }), ...optional(row) };
}

export function edge(row: EdgeRow): Raw<StoredEdge> {
  const { id, type, source: from, target: to, shape, seq } = row;
  const status = row.active ? 'active' : 'revoked';
  return { id, type, from, to, status, shape, seq, ...optional(row) };
}

export function record(row: RecordRow): Raw<StoredRecord> {
  const { kind, key, version, sort, terms, expires, shape } = row;
  const index: Record<string, string> = JSON.parse(terms);
  const expiresAt = expires === null ? {} : { expiresAt: expires };
  return { kind, key, version, sort, index, shape, ...expiresAt, ...optional(row) };
}
