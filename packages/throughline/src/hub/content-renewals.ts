import { z } from 'zod';
import { foreignId, principalSchema, type Principal } from '../model/index.ts';
import type { StoreReader, StoreWriter } from '../store/store.ts';
import type { Deps } from './deps.ts';
import { Records } from './records.ts';

/** By the id of a token: until when its reader may have it renewed, and by whose right it reads. */
const renewals = new Records(
  'token-renewal',
  z.object({
    /** Seconds that a renewed one holds. */
    seconds: z.int(),
    /** Seconds since the epoch; none holds for longer. */
    until: z.int(),
  }),
  z.object({ tenant: foreignId, id: foreignId, role: principalSchema.shape.role }),
);

export interface Renewal {
  readonly seconds: number;
  readonly until: number;
  /** Who made the token: what it may no more read itself is not renewed. */
  readonly maker: Principal;
}

/** In the write that the token is made after. */
export async function allowRenewal(
  { vault }: Deps,
  writer: StoreWriter,
  jti: string,
  { maker: { tenant, id, role }, ...shape }: Renewal,
): Promise<void> {
  await renewals.put(writer, vault.domain, {
    key: jti,
    index: {},
    shape,
    content: { tenant, id, role },
    expiresAt: shape.until * 1_000,
    expected: 0,
  });
}

/** Undefined for a token that is not renewed, or not any more. */
export async function renewalOf(
  { vault, now }: Deps,
  reader: StoreReader,
  jti: string,
): Promise<Renewal | undefined> {
  const found = await renewals.get(reader, vault.domain, jti);
  if (found?.content === undefined) return undefined;
  const { seconds, until } = found.shape;
  return until * 1_000 > now().getTime() ? { seconds, until, maker: found.content } : undefined;
}
