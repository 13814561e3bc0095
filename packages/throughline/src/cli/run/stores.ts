import { resolve } from 'node:path';
import { z } from 'zod';
import { createForeignContent, type ForeignContent } from '../../agent/index.ts';
import type { ForeignStores } from '../../master/index.ts';
import { readPrivate } from '../data-folder.ts';

const host = z.string().min(1).max(255);
const hosts = z.array(host).max(64);

/** Other stores than the hub's that contents may lie in, as a file of agents names them. */
export const storesSchema = z.strictObject({
  /** `store.example`, `*.example`. */
  hosts: hosts.min(1),
  /** `refer`: agents read there. `take`: what is offered is taken into the hub's store. */
  policy: z.enum(['refer', 'take']).default('refer'),
  /** Files with a token of a store, by its host. */
  tokenFiles: z.record(host, z.string()).default({}),
  /** For stores of a private network: what may be reached over plain http, at which addresses, on which ports. */
  plainHttpHosts: hosts.exactOptional(),
  allowAddresses: hosts.exactOptional(),
  ports: z.array(z.int().min(1).max(65_535)).max(64).exactOptional(),
});

/** The guarded way to them, for a Master and the agents beside it. */
export function openStores(
  { policy, tokenFiles, ...guarded }: z.output<typeof storesSchema>,
  folder: string,
): { readonly stores: ForeignStores; readonly foreign: ForeignContent } {
  const foreign = createForeignContent(guarded);
  const token = (uri: string): string | undefined => {
    const file = tokenFiles[new URL(uri).hostname];
    return file === undefined ? undefined : readPrivate(resolve(folder, file));
  };
  return { stores: { content: foreign, policy, token }, foreign };
}
