import { z } from 'zod';
import {
  foreignId,
  grantOperation,
  type Grant,
  type GrantOperation,
  type Principal,
} from '../model/index.ts';
import type { StoreReader } from '../store/store.ts';
import { CaseBoxes } from './case-boxes.ts';
import { Records, type Kept } from './records.ts';
import type { KeyBox, Vault } from './vault.ts';

/** Grants that one principal may hold on one context at a time, revoked ones included. */
export const maxGrantsOnContext = 64;
/** Granted contexts that one principal's lists cover. */
export const maxGrantsToPrincipal = 256;

const shape = z.object({
  ref: z.string(),
  operations: z.array(grantOperation),
  fromSequence: z.int().nonnegative(),
  expires: z.int().optional(),
  revoked: z.boolean(),
});
const content = z.object({ tenant: foreignId, grantee: foreignId, grantedBy: foreignId });

export const grantRecords = new Records('grant', shape, content);
export type GrantRecord = Kept<z.infer<typeof shape>, z.infer<typeof content>>;

/** Operation → the earliest sequence number that a grant in force covers. */
export type Granted = ReadonlyMap<GrantOperation, number>;

const inForce = (record: GrantRecord, at: number): boolean =>
  record.content !== undefined &&
  !record.shape.revoked &&
  (record.shape.expires === undefined || record.shape.expires > at);

function combine(records: readonly GrantRecord[]): Granted {
  const granted = new Map<GrantOperation, number>();
  for (const record of records) {
    const { operations, fromSequence } = record.shape;
    for (const operation of operations) {
      granted.set(operation, Math.min(fromSequence, granted.get(operation) ?? fromSequence));
    }
  }
  return granted;
}

/** What a principal is granted on one context at that moment. */
export async function grantsTo(
  reader: StoreReader,
  of: { vault: Vault; box: KeyBox | undefined; principal: Principal; ref: string; at: number },
): Promise<Granted> {
  const { vault, box, principal, ref, at } = of;
  const grantee = vault.blind('principal', principal.tenant, principal.id);
  const index = { context: ref, grantee };
  const found = await grantRecords.find(reader, () => box, { index, limit: maxGrantsOnContext });
  return combine(found.filter((record) => inForce(record, at)));
}

/** Contexts on which a principal holds grants in force, with what they cover. */
export async function grantedContexts(
  reader: StoreReader,
  vault: Vault,
  principal: Principal,
  at: number,
): Promise<ReadonlyMap<string, Granted>> {
  const grantee = vault.blind('principal', principal.tenant, principal.id);
  const query = { index: { grantee, revoked: 'no' }, limit: maxGrantsToPrincipal };
  const byContext = new Map<string, GrantRecord[]>();
  const boxes = new CaseBoxes(vault, reader);
  for (const record of await grantRecords.find(reader, boxes.for, query)) {
    if (!inForce(record, at)) continue;
    byContext.set(record.shape.ref, [...(byContext.get(record.shape.ref) ?? []), record]);
  }
  return new Map([...byContext].map(([ref, records]) => [ref, combine(records)]));
}

/** A grant as its context's owner sees it. */
export function toGrant(record: GrantRecord): Grant[] {
  if (record.content === undefined) return [];
  const { ref, operations, fromSequence, expires, revoked } = record.shape;
  const grant = {
    id: record.key,
    contextId: ref,
    ...record.content,
    operations,
    fromSequence,
    revoked,
  };
  return [expires === undefined ? grant : { ...grant, expiresAt: new Date(expires).toISOString() }];
}
