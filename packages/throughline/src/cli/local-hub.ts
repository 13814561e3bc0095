import { existsSync } from 'node:fs';
import { Option, type Command } from 'commander';
import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import type { Hub } from '../hub/index.ts';
import { parseOptions, withData } from './command.ts';
import { DataFolder } from './data-folder.ts';
import { isInUse } from './open-store.ts';

export const localSchema = z.object({
  data: z.string(),
  store: z.string().exactOptional(),
  domainKeyFile: z.string().exactOptional(),
  content: z.string().exactOptional(),
});
export type Local = z.output<typeof localSchema>;

const store = () =>
  new Option('--store <where>', 'SQLite file or postgres:// URL (default: in the folder)').env(
    'THROUGHLINE_STORE',
  );
const content = () =>
  new Option('--content <where>', 'where content is kept (default: as for serve)').env(
    'THROUGHLINE_CONTENT',
  );
const domainKeyFile = () =>
  new Option('--domain-key-file <file>', 'key of the domain (default: in the folder)').env(
    'THROUGHLINE_DOMAIN_KEY_FILE',
  );

/** Adds the options of a command that makes a store. */
export const withNewStore = (each: Command): Command =>
  withData(each).addOption(store()).addOption(content());

/** Adds the options of commands that work on a hub's store itself, whether or not a hub runs on it. */
export const withStore = (each: Command): Command => withNewStore(each).addOption(domainKeyFile());

/** Opens the hub on a store that is there; makes none, unless it is to be filled. */
export async function openLocal(options: unknown, mayMake: 'new' | 'known'): Promise<Hub> {
  const given = parseOptions(localSchema, options);
  const { data } = given;
  const folder = new DataFolder(data);
  if (mayMake === 'known') await needKnown(folder, given.store);
  // Only here: everybody else's commands start without a hub and its database.
  const { openHub } = await import('./wire.ts');
  return openHub({
    dataDir: data,
    origin: folder.hubUrl() ?? 'http://localhost',
    ...(given.store === undefined ? {} : { store: given.store }),
    ...(given.domainKeyFile === undefined ? {} : { domainKeyFile: given.domainKeyFile }),
    ...(given.content === undefined ? {} : { content: { at: given.content } }),
  });
}

/** One that is named wrongly is not made anew, and taken for a hub without cases. */
async function needKnown(folder: DataFolder, where: string | undefined): Promise<void> {
  if (where === undefined) {
    if (existsSync(folder.database)) return;
    throw new ThroughlineError(
      'invalid',
      `--data ${folder.path}: holds no hub; name the folder of one, or its store with --store`,
    );
  }
  if (await isInUse(where)) return;
  throw new ThroughlineError('invalid', '--store: holds no hub; name the store of one');
}
