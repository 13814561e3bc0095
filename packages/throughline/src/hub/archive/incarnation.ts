import { z } from 'zod';
import type { StoreWriter } from '../../store/index.ts';
import type { Deps } from '../deps.ts';
import { Records } from '../records.ts';

/** Which life of the domain's store this is: another one after each restore, so that a peer can tell. */
const incarnationRecords = new Records('incarnation', z.object({ id: z.string() }), z.object({}));
const key = 'now';
const bytes = 16;

/** Random, made at the first question. */
export async function incarnationOf(deps: Deps): Promise<string> {
  const { store, vault } = deps;
  const found = await store.read((reader) => incarnationRecords.get(reader, vault.domain, key));
  if (found !== undefined) return found.shape.id;
  return store.write(async (writer) => {
    const known = await incarnationRecords.get(writer, vault.domain, key);
    return known?.shape.id ?? renewIncarnation(deps, writer);
  });
}

export async function renewIncarnation({ vault }: Deps, writer: StoreWriter): Promise<string> {
  const id = Buffer.from(vault.random(bytes)).toString('base64url');
  await incarnationRecords.put(writer, vault.domain, {
    key,
    index: {},
    shape: { id },
    content: {},
  });
  return id;
}
