import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import { ThroughlineError } from '../../errors.ts';
import type { Anchor } from '../../hub/archive/verify.ts';
import { readManifest } from '../backup-files.ts';
import { command, outputOf, parseOptions, type Surroundings } from '../command.ts';
import { DataFolder } from '../data-folder.ts';
import { localSchema, openLocal, withStore } from '../local-hub.ts';
import { counted, progress } from '../progress.ts';

const verifySchema = localSchema.extend({ against: z.string().min(1).exactOptional() });

/** `throughline verify`: is what is stored what was recorded? */
export const verifyCommand = (surroundings: Surroundings): Command =>
  withStore(
    command('verify', 'Checks that what is stored is what was recorded', [
      'verify',
      'verify --data ./data',
      'verify --against safe',
      'verify --store postgres://localhost/hub --json',
    ]),
  )
    .option('--against <folder>', 'a backup, or its keys: the log must hold what it ends with')
    .addHelpText(
      'after',
      '\nRecomputes the log’s chain of hashes, opens what is sealed and holds it against\nits commitment, and folds the log once more to compare the graph. Whether the\nend of the log is there is known from what the hub noted of it in its folder,\nand from a backup. Writes nothing to the hub’s data. Exits 1 when something is\nnot as it should be.',
    )
    .action(async (options: unknown) => {
      const out = outputOf(surroundings, options);
      const tell = progress(out);
      const { data, against } = parseOptions(verifySchema, options);
      const hub = await openLocal(options, 'known');
      const scratch = mkdtempSync(join(tmpdir(), 'throughline-verify-'));
      try {
        const { openSqliteStore } = await import('../../store/index.ts');
        const anchors = anchorsFor(await hub.archive.incarnation(), data, against);
        const found = await hub.archive.verify({
          anchors,
          scratch: () => openSqliteStore({ path: join(scratch, 'scratch.sqlite') }),
          onProgress: (step, done) => tell(`${counted(done)} ${step}`),
        });
        const { entries, rows, compared, findings } = found;
        const { paint } = out.terminal;
        out.result({ ...found }, () => [
          ...findings.map(
            ({ id, seq, problem }) =>
              `${paint('red', 'BAD')}  ${id}${seq === undefined ? '' : ` (entry ${seq})`}  ${problem}`,
          ),
          ...(findings.length > 0
            ? []
            : [`${paint('green', 'ok')}  ${counted(entries)} entries, ${counted(rows)} rows`]),
          ...(compared ? [] : ['The graph was not compared with the log, which is broken itself.']),
        ]);
        if (findings.length > 0) {
          throw new ThroughlineError('damaged', `verify: ${findings.length} things are not right`);
        }
      } finally {
        rmSync(scratch, { recursive: true, force: true });
        await hub.close();
      }
    });

/** Of this life of the store alone: in another one, entries have other numbers. */
function anchorsFor(incarnation: string, data: string, against: string | undefined): Anchor[] {
  const folder = new DataFolder(data);
  const noted = folder.head();
  const backup = against === undefined ? undefined : readManifest(against).manifest;
  if (backup !== undefined && backup.incarnation !== incarnation) {
    throw new ThroughlineError(
      'conflict',
      `--against ${against}: is of another hub, or of another life of it`,
    );
  }
  return [
    ...(noted?.incarnation === incarnation ? [{ ...noted, from: folder.headFile }] : []),
    ...(backup === undefined ? [] : [{ ...backup, from: String(against) }]),
  ];
}
