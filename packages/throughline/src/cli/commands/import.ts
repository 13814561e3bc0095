import { createReadStream, statSync } from 'node:fs';
import type { Command } from 'commander';
import { ThroughlineError } from '../../errors.ts';
import { command, outputOf, type Surroundings } from '../command.ts';
import { openLocal, withStore } from '../local-hub.ts';
import { counted, progress } from '../progress.ts';

/** `throughline import`: takes in what `export` wrote, for whoever holds the data folder. */
export const importCommand = (surroundings: Surroundings): Command =>
  withStore(
    command('import', 'Takes in cases that export wrote, all of a file or nothing', [
      'import case.jsonl',
      'import cases.jsonl --data ./data',
    ]),
  )
    .argument('<file>', 'a file of throughline export')
    .addHelpText(
      'after',
      '\nWorks on the data itself, whether or not a hub runs on it. Ids stay; whoever\nowned a case owns it here. What broke off is taken up by running it again.',
    )
    .action(async (file: string, options: unknown) => {
      if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) {
        throw new ThroughlineError('invalid', `${file}: is no file`);
      }
      const out = outputOf(surroundings, options);
      const tell = progress(out);
      const hub = await openLocal(options, 'new');
      try {
        const imported = await hub.archive.importing.import(() => createReadStream(file), {
          onProgress: (done, all) => tell(`${counted(done)} of ${counted(all)} lines`),
        });
        const { cases, known, entries } = imported;
        out.result({ ...imported }, () => [
          `${counted(cases - known)} cases taken in, ${counted(known)} were here already (${counted(entries)} entries)`,
        ]);
      } finally {
        await hub.close();
      }
    });
