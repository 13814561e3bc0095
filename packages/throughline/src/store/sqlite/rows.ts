import { slotContent } from './slots.ts';
import type { Raw } from '../engine.ts';
import type { StoredEdge, StoredLogEntry, StoredObject, StoredRecord } from '../store.ts';

/** A column with a text that an integer stands for. */
const name = (column: string): string => `(select id from names where n = ${column})`;

/** A column with the bytes in a slot. */
const slot = (column: string): string => `(select bytes from slots where n = ${column})`;

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

export const logColumns = `l.seq, l.id, ${name('l.about')} as about,
  ${name('l.activity')} as activity, lower(hex(l.hash)) as hash, l.shape, ${slot('l.sealed')} as sealed`;

export interface ObjectRow extends Common {
  readonly id: string;
  readonly kind: string;
  readonly parent: string | null;
}

export const objectColumns = `${name('o.n')} as id, o.kind, ${name('o.activity')} as activity,
  ${name('o.parent')} as parent, o.seq, o.shape, ${slot('o.sealed')} as sealed`;

export interface EdgeRow extends Common {
  readonly id: string;
  readonly type: string;
  readonly source: string;
  readonly target: string;
  readonly active: number;
}

export const edgeColumns = `e.id, ${name('e.type')} as type, ${name('e.source')} as source,
  ${name('e.target')} as target, ${name('e.activity')} as activity, e.active, e.seq, e.shape,
  ${slot('e.sealed')} as sealed`;

export interface RecordRow extends Omit<Common, 'seq'> {
  readonly kind: string;
  readonly key: string;
  readonly version: number;
  readonly sort: number;
  readonly terms: string;
  readonly expires: number | null;
}

export const recordColumns = `${name('r.kind')} as kind, r.key, r.version, r.sort, r.terms,
  ${name('r.activity')} as activity, r.expires, r.shape, ${slot('r.sealed')} as sealed`;

/** What may be absent. */
function optional(row: Pick<Common, 'activity' | 'sealed'>): {
  activity?: string;
  sealed?: Uint8Array;
} {
  const { activity, sealed } = row;
  return {
    ...(activity !== null && { activity }),
    ...(sealed !== null && { sealed: slotContent(sealed) }),
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
  const status = row.active === 1 ? 'active' : 'revoked';
  return { id, type, from, to, status, shape, seq, ...optional(row) };
}

export function record(row: RecordRow): Raw<StoredRecord> {
  const { kind, key, version, sort, terms, expires, shape } = row;
  const index: Record<string, string> = JSON.parse(terms);
  const expiresAt = expires === null ? {} : { expiresAt: expires };
  return { kind, key, version, sort, index, shape, ...expiresAt, ...optional(row) };
}
