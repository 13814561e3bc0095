import { existsSync } from 'node:fs';
import { Option, type Command } from 'commander';
import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import type { Hub } from '../hub/index.ts';
import { parseOptions, withData } from './command.ts';
import { DataFolder } from './data-folder.ts';

export const localSchema = z.object({
  data: z.string(),
  store: z.string().exactOptional(),
  domainKeyFile: z.string().exactOptional(),
  content: z.string().exactOptional(),
});
export type Local = z.output<typeof localSchema>;

/** Adds the options of commands that work on a hub's store itself, whether or not a hub runs on it. */
export const withStore = (each: Command): Command =>
  withData(each)
    .addOption(
      new Option('--store <where>', 'SQLite file or postgres:// URL (default: in the folder)').env(
        'THROUGHLINE_STORE',
      ),
    )
    .addOption(
      new Option('--domain-key-file <file>', 'key of the domain (default: in the folder)').env(
        'THROUGHLINE_DOMAIN_KEY_FILE',
      ),
    )
    .addOption(
      new Option('--content <where>', 'where content is kept (default: as for serve)').env(
        'THROUGHLINE_CONTENT',
      ),
    );

/** Opens the hub on a store that is there; makes none, unless it is to be filled. */
export async function openLocal(options: unknown, mayMake: 'new' | 'known'): Promise<Hub> {
  const { data, store, domainKeyFile, content } = parseOptions(localSchema, options);
  const folder = new DataFolder(data);
  if (mayMake === 'known' && store === undefined && !existsSync(folder.database)) {
    throw new ThroughlineError(
      'invalid',
      `--data ${folder.path}: holds no hub; name the folder of one, or its store with --store`,
    );
  }
  // Only here: everybody else's commands start without a hub and its database.
  const { openHub } = await import('./wire.ts');
  return openHub({
    dataDir: data,
    origin: folder.hubUrl() ?? 'http://localhost',
    ...(store === undefined ? {} : { store }),
    ...(domainKeyFile === undefined ? {} : { domainKeyFile }),
    ...(content === undefined ? {} : { content: { at: content } }),
  });
}
