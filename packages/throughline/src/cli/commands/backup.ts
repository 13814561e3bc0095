import { existsSync, readdirSync, rmSync } from 'node:fs';
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import { openFileContent, type ContentDriver } from '../../content/index.ts';
import { ThroughlineError } from '../../errors.ts';
import type { Hub } from '../../hub/index.ts';
import {
  backupVersion,
  LineFile,
  makeFolder,
  manifestName,
  needEmpty,
  readManifest,
  writeManifest,
  type Manifest,
} from '../backup-files.ts';
import { command, outputOf, parseOptions, type Surroundings } from '../command.ts';
import { DataFolder, readPrivate } from '../data-folder.ts';
import { localSchema, openLocal, withStore, type Local } from '../local-hub.ts';
import { openContent } from '../open-content.ts';
import { isShared } from '../open-store.ts';
import { counted, progress } from '../progress.ts';
import { writePrivate } from '../whole-file.ts';

const backupSchema = localSchema.extend({
  output: z.string().min(1).exactOptional(),
  keys: z.string().min(1),
});

/** `throughline backup`: everything of a hub, while it runs, with its keys apart. */
export const backupCommand = (surroundings: Surroundings): Command =>
  withStore(
    command('backup', 'Copies a hub while it runs, with its keys apart', [
      'backup -o monday --keys safe',
      'backup --keys safe',
    ]),
  )
    .option('-o, --output <folder>', 'new folder for the data, all of it sealed')
    .requiredOption('--keys <folder>', 'folder for the keys and the ledger, kept elsewhere')
    .addHelpText(
      'after',
      '\nNobody reads the data without the keys. Their folder also tells what was erased\nor taken back; without -o it alone is renewed, which takes little: do that\noften, and a restore brings back nothing that was erased before the last time.',
    )
    .action(async (options: unknown) => {
      const { output, keys, ...local } = parseOptions(backupSchema, options);
      if (output !== undefined) needEmpty('--output', output);
      const out = outputOf(surroundings, options);
      const tell = progress(out);
      const hub = await openLocal(options, 'known');
      try {
        const data = output === undefined ? undefined : makeFolder(output);
        const made = await copy(hub, { data, keys: makeFolder(keys), local }, (rows) =>
          tell(`${counted(rows)} rows`),
        );
        const { seq, rows, content } = made;
        out.result({ data, keys, seq, rows, objects: content?.objects ?? 0 }, () => [
          data === undefined
            ? `Keys and ledger as of entry ${counted(seq)} in ${keys}`
            : `${counted(rows)} rows as of entry ${counted(seq)} in ${data}, keys in ${keys}`,
        ]);
      } finally {
        await hub.close();
      }
    });

interface Places {
  /** Absent: the keys alone. */
  readonly data: string | undefined;
  readonly keys: string;
  readonly local: Local;
}

async function copy(
  hub: Hub,
  { data, keys, local }: Places,
  onProgress: (rows: number) => void,
): Promise<Manifest> {
  const domainKey = domainKeyOf(local);
  const kept = join(keys, 'domain.key');
  if (existsSync(kept) && readPrivate(kept) !== domainKey) {
    throw new ThroughlineError('conflict', `--keys ${keys}: holds the keys of another hub`);
  }
  await needSameHub(hub, keys);
  const ledger = new LineFile(keys, `ledger-${randomBytes(8).toString('hex')}.jsonl.gz`);
  const rows = data === undefined ? undefined : new LineFile(data, 'rows.jsonl.gz');
  const moment = await hub.archive.backUp({
    ...(rows === undefined ? {} : { rows: (lines: string) => rows.write(lines) }),
    ledger: (lines) => ledger.write(lines),
    onProgress,
  });
  const manifest = {
    format: 'throughline-backup',
    version: backupVersion,
    at: new Date().toISOString(),
    ...moment,
  } as const;
  writePrivate(kept, `${domainKey}\n`);
  const ofKeys: Manifest = { ...manifest, holds: 'keys', file: ledger.finish() };
  writeManifest(keys, ofKeys);
  dropOlder(keys, ofKeys.file.name);
  if (data === undefined || rows === undefined) return ofKeys;
  const content = await copyContent(local, data);
  const ofData: Manifest = {
    ...manifest,
    holds: 'data',
    file: rows.finish(),
    ...(content === undefined ? {} : { content }),
  };
  writeManifest(data, ofData);
  return ofData;
}

/** A store filled anew under the same key would take the place of all keys of the one before. */
async function needSameHub(hub: Hub, keys: string): Promise<void> {
  if (!existsSync(join(keys, manifestName))) return;
  const { manifest } = readManifest(keys, 'keys');
  if (manifest.incarnation === (await hub.archive.incarnation())) return;
  throw new ThroughlineError(
    'conflict',
    `--keys ${keys}: belongs to another hub, or to another life of it; name a new folder`,
  );
}

/** Keys that were destroyed since are in the older ledgers. */
function dropOlder(keys: string, current: string): void {
  for (const name of readdirSync(keys)) {
    const isOurs =
      /^ledger-[0-9a-f]{16}\.jsonl\.gz$/.test(name) && existsSync(join(keys, manifestName));
    if (isOurs && name !== current) rmSync(join(keys, name));
  }
}

function domainKeyOf({ data, domainKeyFile }: Local): string {
  return readPrivate(domainKeyFile ?? join(new DataFolder(data).path, 'domain.key'));
}

/** Objects never change, so those that are there now hold all that the rows name. */
async function copyContent(
  { data, store, content }: Local,
  to: string,
): Promise<Manifest['content']> {
  const options = await openContent(new DataFolder(data), { at: content }, isShared(store));
  if (options.driver === undefined) return undefined;
  const target = await openFileContent({ path: join(to, 'content') });
  try {
    return await copyObjects(options.driver, target);
  } finally {
    await target.close();
    await options.driver.close();
  }
}

/** From one place to another, in the order of their ids; one that is deleted meanwhile is left out. */
export async function copyObjects(
  from: ContentDriver,
  to?: Pick<ContentDriver, 'put'>,
): Promise<NonNullable<Manifest['content']>> {
  const digest = createHash('sha256');
  let objects = 0;
  for (let after = '', isEnd = false; !isEnd;) {
    const ids = await from.list(after, 500);
    for (const id of ids) {
      const bytes = await from.get(id);
      if (bytes === undefined) continue;
      await to?.put(id, bytes);
      digest.update(`${id} ${createHash('sha256').update(bytes).digest('hex')}\n`);
      objects += 1;
    }
    after = ids.at(-1) ?? '';
    isEnd = ids.length === 0;
  }
  return { objects, sha256: digest.digest('hex') };
}
