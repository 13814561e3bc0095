import { z } from 'zod';
import type { StoredRecord, StoredRow, StoreReader } from '../../store/index.ts';
import { endedTokenKinds } from '../content-tokens.ts';
import type { Deps } from '../deps.ts';
import { grantRecords } from '../grant-records.ts';
import { keyRecords } from '../keys.ts';
import { caseKeyKind } from '../vault.ts';
import { incarnationOf } from './incarnation.ts';
import { rowLine } from './rows.ts';

/** Rows that are read at a time. */
const page = 500;

/** Takes lines at once: nothing may be waited for while the moment lasts that is read. */
type Sink = (lines: string) => void;

export interface Sinks {
  /** Everything but keys. Absent: the ledger alone. */
  readonly rows?: Sink;
  /** Wrapped keys, and what was erased or taken back: keys, grants, tokens. To be kept apart from the rows. */
  readonly ledger: Sink;
  readonly onProgress?: (rows: number) => void;
}

/** Number and hash of a log's last entry, in one life of its store. */
export interface Head {
  readonly seq: number;
  readonly hash: string;
  readonly incarnation: string;
}

/** The moment that a backup is of. */
export interface Moment extends Head {
  readonly rows: number;
}

/** Kept with the keys alone, so that a restore has them as they were last. */
const ofLedger: ReadonlySet<string> = new Set([caseKeyKind, ...endedTokenKinds]);
/** Sessions of browsers end with the hub that they were opened at. */
const left: ReadonlySet<string> = new Set(['page-session', 'page-code']);
const revokedShape = z.looseObject({ revoked: z.boolean().optional() });

/** Copies a store, its sealed parts sealed as they are, as of one moment, while others write. */
export async function backUp(deps: Deps, sinks: Sinks): Promise<Moment> {
  const incarnation = await incarnationOf(deps);
  return deps.store.read(async (reader) => {
    const { seq, hash } = await reader.head();
    let rows = 0;
    const note = (count: number): void => {
      rows += count;
      sinks.onProgress?.(rows);
    };
    if (sinks.rows !== undefined) await copyLog(reader, seq, sinks.rows, note);
    for (let after: string | undefined, isEnd = false; !isEnd;) {
      const query = { limit: page, ...(after === undefined ? {} : { after }) };
      const found = await reader.scan(query);
      copyRows(found.rows, sinks);
      note(found.rows.length);
      after = found.next;
      isEnd = after === undefined;
    }
    return { seq, hash, incarnation, rows };
  });
}

async function copyLog(
  reader: StoreReader,
  head: number,
  sink: Sink,
  note: (count: number) => void,
): Promise<void> {
  for (let after = 0; after < head;) {
    const found = await reader.log({ after, limit: page });
    sink(found.map((log) => rowLine({ log })).join(''));
    note(found.length);
    after = found.at(-1)?.seq ?? head;
  }
}

function copyRows(rows: readonly StoredRow[], { rows: sink, ledger }: Sinks): void {
  const kept: string[] = [];
  for (const row of rows) {
    const record = 'record' in row ? row.record : undefined;
    if (record !== undefined && left.has(record.kind)) continue;
    if (record !== undefined && ofLedger.has(record.kind)) ledger(rowLine(row));
    else kept.push(rowLine(row));
    if (record !== undefined) noteRevoked(record, ledger);
  }
  sink?.(kept.join(''));
}

function noteRevoked({ kind, key: id, shape }: StoredRecord, ledger: Sink): void {
  if (kind !== keyRecords.kind && kind !== grantRecords.kind) return;
  if (revokedShape.parse(shape).revoked !== true) return;
  ledger(rowLine({ revoked: kind === keyRecords.kind ? 'key' : 'grant', id }));
}
