import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { HubClient } from '../client/index.ts';
import { ThroughlineError } from '../errors.ts';
import type { Principal } from '../model/principal.ts';
import { readPrivate, type DataFolder } from './data-folder.ts';
import { writePrivate } from './whole-file.ts';

export interface OwnKey {
  readonly key: string;
  readonly principal: Principal;
}

/**
 * The key of an agent: the one that was given where that is an agent's, else the folder's own for that id,
 * made by an operator's key at its first use.
 *
 * @throws ThroughlineError `unauthenticated` for a key that is neither.
 */
export async function agentKey(
  hub: { readonly url: string; readonly key: string },
  folder: DataFolder,
  id: string,
): Promise<OwnKey> {
  const client = new HubClient(hub);
  const owner = await client.whoAmI();
  if (owner.role === 'agent') return { key: hub.key, principal: owner };
  if (owner.role !== 'operator') {
    throw new ThroughlineError(
      'unauthenticated',
      `the key belongs to ${owner.role} ${owner.id}; an agent needs its own (throughline key create ${id} --role agent), or an operator’s that may make one.`,
    );
  }
  const file = join(folder.path, `agent-${encodeURIComponent(id)}.key`);
  const kept = existsSync(file) ? readPrivate(file) : undefined;
  const known = kept === undefined ? undefined : await ownerOf(hub.url, kept);
  if (kept !== undefined && known?.id === id) return { key: kept, principal: known };
  const principal: Principal = { tenant: owner.tenant, id, role: 'agent' };
  const { key } = await client.createKey({ principal });
  folder.create();
  writePrivate(file, `${key}\n`);
  return { key, principal };
}

/** Undefined for a key that this hub does not know. */
async function ownerOf(url: string, key: string): Promise<Principal | undefined> {
  try {
    return await new HubClient({ url, key }).whoAmI();
  } catch (error) {
    if (error instanceof ThroughlineError && error.code === 'unauthenticated') return undefined;
    throw error;
  }
}
