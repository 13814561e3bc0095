import { z } from 'zod';
import { ThroughlineError } from '../../errors.ts';
import { idKind } from '../../model/index.ts';
import type { Store, StoredLogEntry, StoredRecord, StoreWriter } from '../../store/index.ts';
import { CaseBoxes } from '../case-boxes.ts';
import { contentNotes, storedBy } from '../content-records.ts';
import type { Contexts } from '../contexts.ts';
import { contextRecords } from '../contexts.ts';
import type { Deps } from '../deps.ts';
import type { Erasure } from '../erasure.ts';
import { grantRecords } from '../grant-records.ts';
import { scopeOf } from '../graph-codec.ts';
import { keyRecords } from '../keys.ts';
import { messageRecords } from '../messages.ts';
import type { Registries } from '../observing.ts';
import { sumKind, type Quotas, type Stored } from '../quotas.ts';
import { dropAll, toJson } from '../records.ts';
import { caseKeyKind, domainMark, Vault } from '../vault.ts';
import type { Moment } from './backup.ts';
import { renewIncarnation } from './incarnation.ts';
import { parseLedger, parseRow, type BackupRow, type Revoked } from './rows.ts';

/** Rows, and bytes of their lines, that are written together. */
const batchRows = 200;
const batchBytes = 4_194_304;

export interface BackupFiles {
  /** Names this backup: a digest of what it says of itself. */
  readonly id: string;
  readonly moment: Moment;
  /** Lines without their line feeds, from the first on. */
  readonly rows: () => AsyncIterable<string>;
  readonly ledger: () => AsyncIterable<string>;
  readonly onProgress?: (rows: number) => void;
}

const looseShape = z.looseObject({});
const messageShape = z.looseObject({ settled: z.boolean() });

/**
 * Fills an empty store from a backup, all but what the ledger says was erased or taken back since. Killed
 * in between, the store opens for no hub until the same restore has been run to its end.
 */
export async function fillFrom(
  store: Store,
  domainKey: Uint8Array,
  files: BackupFiles,
): Promise<void> {
  await begin(store, files.id);
  const vault = new Vault(domainKey);
  const revoked = new Set<string>();
  await inBatches(files.ledger(), async (lines) => {
    const rows = lines.map(parseLedger);
    for (const row of rows) if ('revoked' in row) revoked.add(nameOf(row));
    await store.write(async (writer) => {
      for (const row of rows) if ('record' in row) await putRecord(writer, row.record);
    });
  });
  let done = 0;
  await inBatches(files.rows(), async (lines) => {
    const rows = lines.map(parseRow);
    await store.write(async (writer) => {
      for (const row of rows) await putRow(writer, { vault, revoked, id: files.id }, row);
    });
    done += rows.length;
    files.onProgress?.(done);
  });
  const head = await store.read((reader) => reader.head());
  if (head.seq !== files.moment.seq || head.hash !== files.moment.hash) {
    throw damaged(`ends at entry ${head.seq}, not ${files.moment.seq}, or with another hash`);
  }
}

const nameOf = ({ revoked, id }: Revoked): string => `${revoked}/${id}`;

/** Marks an empty store as being restored; one that is so already goes on. */
async function begin(store: Store, id: string): Promise<void> {
  await store.write(async (writer) => {
    const mark = await writer.record(domainMark);
    if (mark !== undefined && looseShape.parse(mark.shape)['restoring'] === id) return;
    const { rows } = await writer.scan({ limit: 1 });
    if (mark !== undefined || rows.length > 0 || (await writer.head()).seq > 0) {
      throw new ThroughlineError(
        'conflict',
        'the store is not empty, and a restore overwrites nothing; name an empty one',
      );
    }
    const index = { kind: domainMark.kind };
    await writer.putRecord({ ...domainMark, sort: 0, index, shape: { restoring: id } });
  });
}

interface Filling {
  readonly vault: Vault;
  readonly revoked: ReadonlySet<string>;
  readonly id: string;
}

async function putRow(writer: StoreWriter, filling: Filling, row: BackupRow): Promise<void> {
  if ('log' in row) return append(writer, filling, row.log);
  if ('object' in row) {
    const { sealed, ...bare } = row.object;
    const of = { scope: scopeOf(bare.id, bare.activity), label: `object/${bare.id}` };
    return writer.putObject((await isReadable(writer, filling, of, sealed)) ? row.object : bare);
  }
  if ('edge' in row) {
    const { sealed, ...bare } = row.edge;
    const of = { scope: bare.activity, label: `edge/${bare.id}` };
    return writer.putEdge((await isReadable(writer, filling, of, sealed)) ? row.edge : bare);
  }
  const { record } = row;
  if (record.kind === domainMark.kind && record.key === domainMark.key) {
    return putRecord(writer, { ...record, shape: { restoring: filling.id } });
  }
  const { sealed, ...bare } = record;
  const of = { scope: record.activity, label: `${record.kind}/${record.key}` };
  const kept = (await isReadable(writer, filling, of, sealed)) ? record : bare;
  return putRecord(writer, asOfNow(kept, filling.revoked));
}

async function append(
  writer: StoreWriter,
  filling: Filling,
  { seq, hash, ...entry }: StoredLogEntry,
): Promise<void> {
  if (seq <= (await writer.head()).seq) return;
  const { sealed, ...bare } = entry;
  const of = { scope: scopeOf(entry.about, entry.activity), label: `log/${entry.id}` };
  const kept = (await isReadable(writer, filling, of, sealed)) ? entry : bare;
  const [stored] = await writer.append([kept]);
  if (stored?.seq !== seq || stored.hash !== hash) throw damaged(`breaks off at entry ${seq}`);
}

/** Takes back what was taken back since; lets nobody hold a lease of a process that is gone. */
function asOfNow(record: StoredRecord, revoked: ReadonlySet<string>): StoredRecord {
  const { kind, key, index } = record;
  if (kind === messageRecords.kind && !messageShape.parse(record.shape).settled) {
    return { ...record, shape: toJson({ ...messageShape.parse(record.shape), leaseUntil: 0 }) };
  }
  if (kind === keyRecords.kind && revoked.has(`key/${key}`)) {
    const { holder: _holder, valid: _valid, ...found } = index;
    return { ...record, index: found, shape: revokedNow(record) };
  }
  if (kind === grantRecords.kind && revoked.has(`grant/${key}`)) {
    const { context = '', grantee = '' } = index;
    return { ...record, index: { context, grantee, revoked: 'yes' }, shape: revokedNow(record) };
  }
  return record;
}

const revokedNow = ({ shape }: StoredRecord) =>
  toJson({ ...looseShape.parse(shape), revoked: true });

async function putRecord(writer: StoreWriter, given: StoredRecord): Promise<void> {
  const { version, ...record } = given;
  await writer.putRecord(record, { version });
}

/**
 * Whether the key of a sealed part is still there: not where its scope was destroyed since, or where a
 * Participant was forgotten, met again and given another key.
 */
async function isReadable(
  writer: StoreWriter,
  { vault }: Filling,
  { scope, label }: { scope: string | undefined; label: string },
  sealed: Uint8Array | undefined,
): Promise<boolean> {
  if (sealed === undefined || scope === undefined) return true;
  const box = await vault.caseBox(writer, scope);
  if (box === undefined || idKind(scope) !== 'participant') return box !== undefined;
  return box.opens(label, sealed);
}

async function inBatches(
  lines: AsyncIterable<string>,
  take: (lines: readonly string[]) => Promise<void>,
): Promise<void> {
  let batch: string[] = [];
  let bytes = 0;
  for await (const line of lines) {
    batch.push(line);
    bytes += line.length;
    if (batch.length < batchRows && bytes < batchBytes) continue;
    await take(batch);
    [batch, bytes] = [[], 0];
  }
  if (batch.length > 0) await take(batch);
}

const damaged = (what: string): ThroughlineError =>
  new ThroughlineError('damaged', `the log in the backup ${what}; take another backup`);

/** Makes true in a filled store what the ledger says was destroyed since, and opens it for hubs. */
export async function finishRestore(
  deps: Deps,
  parts: { contexts: Contexts; registries: Registries; erasure: Erasure; quotas: Quotas },
): Promise<void> {
  const { store } = deps;
  const { scopes, sums, kept } = await look(deps);
  for (const scope of scopes) {
    await store.write((writer) => destroyAgain(parts, writer, scope));
  }
  await store.write(async (writer) => {
    const mark = await writer.record(domainMark);
    if (mark === undefined) throw damaged('is whole, but the mark of its domain is missing');
    await parts.quotas.recount(writer, sums, kept);
    await writer.putRecord({ ...mark, shape: {} });
    await renewIncarnation(deps, writer);
  });
}

interface Found {
  /** Whose keys are destroyed. */
  readonly scopes: readonly string[];
  /** Keys of the sums of bytes, which count what was erased since as well. */
  readonly sums: readonly string[];
  /** Bytes that can still be read, by keeper. */
  readonly kept: readonly Stored[];
}

async function look({ store, vault }: Deps): Promise<Found> {
  const [scopes, sums]: [string[], string[]] = [[], []];
  const kept = new Map<string, Stored>();
  for (let after: string | undefined, isEnd = false; !isEnd;) {
    const query = { limit: 1_000, ...(after === undefined ? {} : { after }) };
    after = await store.read(async (reader) => {
      const boxes = new CaseBoxes(vault, reader);
      const { rows, next } = await reader.scan(query);
      for (const { record } of rows.filter((row) => 'record' in row)) {
        const { kind, key, sealed } = record;
        if (kind === caseKeyKind && sealed === undefined) scopes.push(key);
        if (kind === sumKind) sums.push(key);
        if (kind !== contentNotes.kind) continue;
        const { shape, content } = contentNotes.open(record, await boxes.for(record));
        if (content === undefined) continue;
        const { tenant, id, bytes } = storedBy(content, shape.size);
        const name = JSON.stringify([tenant, id]);
        kept.set(name, { tenant, id, bytes: bytes + (kept.get(name)?.bytes ?? 0) });
      }
      return next;
    });
    isEnd = after === undefined;
  }
  return { scopes, sums, kept: [...kept.values()] };
}

async function destroyAgain(
  parts: { contexts: Contexts; registries: Registries; erasure: Erasure },
  writer: StoreWriter,
  scope: string,
): Promise<void> {
  const { contexts, registries, erasure } = parts;
  if (idKind(scope) === 'context') {
    const context = await writer.record({ kind: contextRecords.kind, key: scope });
    if (context === undefined || Object.keys(context.index).length === 0) return;
    await dropAll(writer, grantRecords.kind, { context: scope });
    await contexts.bury(writer, scope);
    return;
  }
  const record = await registries.cases.get(writer, scope);
  if (record === undefined || record.shape.erased === true) return;
  // Saying it writes the case's shape once more, which wants a key; erasing destroys that as well.
  await writer.deleteRecord({ kind: caseKeyKind, key: scope });
  await erasure.erase(writer, record, { source: 'hub' });
}
