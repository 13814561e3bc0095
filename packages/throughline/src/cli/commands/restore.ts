import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import { openFileContent, type ContentDriver } from '../../content/index.ts';
import { ThroughlineError } from '../../errors.ts';
import { checkFile, linesOf, needEmpty, readManifest, type Manifest } from '../backup-files.ts';
import { command, outputOf, parseOptions, type Surroundings } from '../command.ts';
import { DataFolder, readPrivate } from '../data-folder.ts';
import { localSchema, withNewStore } from '../local-hub.ts';
import { openContent } from '../open-content.ts';
import { isShared, openStore } from '../open-store.ts';
import type { Store } from '../../store/index.ts';
import { counted, progress } from '../progress.ts';
import { syncFolder, writePrivate } from '../whole-file.ts';
import { copyObjects } from './backup.ts';

const restoreSchema = localSchema.omit({ domainKeyFile: true }).extend({ keys: z.string().min(1) });
type Restoring = z.output<typeof restoreSchema>;

/** `throughline restore`: a hub from a backup, without what was erased or taken back since. */
export const restoreCommand = (surroundings: Surroundings): Command =>
  withNewStore(
    command('restore', 'Makes a hub from a backup, in a new data folder', [
      'restore monday --keys safe --data ./data',
      'restore monday --keys safe --data ./data --store postgres://localhost/new',
    ]),
  )
    .argument('<folder>', 'what backup wrote with --output')
    .requiredOption('--keys <folder>', 'keys and ledger, as old as the data or newer')
    .addHelpText(
      'after',
      '\nChecks everything first and overwrites nothing. What the ledger says was erased\nor taken back since stays so. Sessions of browsers end; the local key is made\nanew.',
    )
    .action(async (from: string, options: unknown) => {
      const given = parseOptions(restoreSchema, options);
      const out = outputOf(surroundings, options);
      const tell = progress(out);
      needEmpty('--data', given.data);
      const backup = await checked(from, given.keys);
      const { seq, rows } = backup.data;
      await restoreInto(given, { from, ...backup }, (done) =>
        tell(`${counted(done)} of ${counted(rows)} rows`),
      );
      const folder = new DataFolder(given.data).path;
      out.result({ data: folder, seq, rows }, () => [
        `A hub as of entry ${counted(seq)} in ${folder}`,
        `Start it with: throughline serve --data ${given.data}`,
      ]);
    });

interface Backup {
  readonly id: string;
  readonly data: Manifest;
  readonly ledger: Manifest;
}

/** Everything that can be checked without writing. */
async function checked(from: string, keys: string): Promise<Backup> {
  const { manifest: data, id } = readManifest(from, 'data');
  const { manifest: ledger } = readManifest(keys, 'keys');
  if (ledger.incarnation !== data.incarnation) {
    throw new ThroughlineError(
      'conflict',
      `--keys ${keys}: belongs to another hub, or to another life of it`,
    );
  }
  if (ledger.seq < data.seq) {
    throw new ThroughlineError(
      'conflict',
      `--keys ${keys}: is older than the data (entry ${ledger.seq}, not ${data.seq}); use a newer one`,
    );
  }
  await checkFile(from, data.file);
  await checkFile(keys, ledger.file);
  if (data.content === undefined) return { id, data, ledger };
  const path = join(resolve(from), 'content');
  const content = await openFileContent({ path });
  try {
    const { objects, sha256 } = await copyObjects(content);
    if (objects === data.content.objects && sha256 === data.content.sha256)
      return { id, data, ledger };
    throw new ThroughlineError('damaged', `${path}: is not as it was written; use another backup`);
  } finally {
    await content.close();
  }
}

/** In a folder of another name until it is whole. */
async function restoreInto(
  given: Restoring,
  backup: Backup & { readonly from: string },
  onProgress: (rows: number) => void,
): Promise<void> {
  const target = resolve(given.data);
  const draft = `${target}.restoring`;
  mkdirSync(dirname(target), { recursive: true });
  rmSync(draft, { recursive: true, force: true });
  const folder = new DataFolder(draft);
  folder.create();
  writePrivate(join(draft, 'domain.key'), `${readPrivate(join(given.keys, 'domain.key'))}\n`);
  try {
    await fill(folder, given, backup, onProgress);
  } catch (error) {
    // The key in it is not to lie about; run again, a restore begins a new one.
    rmSync(draft, { recursive: true, force: true });
    throw error;
  }
  if (existsSync(target) && readdirSync(target).length === 0) rmdirSync(target);
  renameSync(draft, target);
  syncFolder(dirname(target));
}

async function fill(
  folder: DataFolder,
  given: Restoring,
  { from, id, data, ledger }: Backup & { readonly from: string },
  onProgress: (rows: number) => void,
): Promise<void> {
  const { Hub } = await import('../../hub/index.ts');
  const { fillFrom } = await import('../../hub/archive/restore.ts');
  const content = await openContent(folder, { at: given.content }, isShared(given.store));
  if (data.content !== undefined && content.driver === undefined) {
    throw new ThroughlineError(
      'invalid',
      '--content: the backup holds content of its own; name a place for it',
    );
  }
  const { store, domainKey } = await openStore(folder, given.store);
  let isOpen = false;
  try {
    await fillFrom(store, domainKey, {
      id,
      moment: data,
      rows: () => linesOf(from, data.file),
      ledger: () => linesOf(given.keys, ledger.file),
      onProgress,
    });
    await restoreContent(from, store, content.driver);
    const hub = await Hub.open({
      store,
      domainKey,
      origin: 'http://localhost',
      content,
      restoring: id,
    });
    isOpen = true;
    await hub.archive.finishRestore();
    await hub.close();
  } finally {
    if (!isOpen) await store.close();
  }
}

/** But for what was put while the backup was made: its rows do not know of it, so that nobody would end it. */
async function restoreContent(
  from: string,
  store: Store,
  to: ContentDriver | undefined,
): Promise<void> {
  const path = join(resolve(from), 'content');
  if (to === undefined || !existsSync(path)) return;
  const { objectKind: kind } = await import('../../hub/content-objects.ts');
  const content = await openFileContent({ path });
  const put = async (key: string, bytes: Uint8Array): Promise<void> => {
    const known = await store.read((reader) => reader.record({ kind, key }));
    if (known !== undefined) await to.put(key, bytes);
  };
  try {
    await copyObjects(content, { put });
  } finally {
    await content.close();
  }
}
