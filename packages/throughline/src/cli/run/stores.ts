import { resolve } from 'node:path';
import { createForeignContent, type ForeignContent } from '../../agent/index.ts';
import type { ForeignStores } from '../../master/index.ts';
import type { AgentsFile } from '../../model/agents-file.ts';
import { readPrivate } from '../data-folder.ts';

/** The guarded way to them, for a Master and the agents beside it. */
export function openStores(
  { policy, tokenFiles, ...guarded }: NonNullable<AgentsFile['stores']>,
  folder: string,
): { readonly stores: ForeignStores; readonly foreign: ForeignContent } {
  const foreign = createForeignContent(guarded);
  const token = (uri: string): string | undefined => {
    const file = tokenFiles[new URL(uri).hostname];
    return file === undefined ? undefined : readPrivate(resolve(folder, file));
  };
  return { stores: { content: foreign, policy, token }, foreign };
}
