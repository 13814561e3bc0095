import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { ThroughlineError } from '../../errors.ts';
import { command, outputOf, type Surroundings } from '../command.ts';
import { openLocal, withStore } from '../local-hub.ts';
import { counted, progress } from '../progress.ts';

/** `throughline verify`: is what is stored what was recorded? */
export const verifyCommand = (surroundings: Surroundings): Command =>
  withStore(
    command('verify', 'Checks that what is stored is what was recorded', [
      'verify',
      'verify --data ./data',
      'verify --store postgres://localhost/hub --json',
    ]),
  )
    .addHelpText(
      'after',
      '\nRecomputes the log’s chain of hashes, opens what is sealed and holds it against\nits commitment, and folds the log once more to compare the graph. Writes nothing\nto the hub’s data. Exits 1 when something is not as it should be.',
    )
    .action(async (options: unknown) => {
      const out = outputOf(surroundings, options);
      const tell = progress(out);
      const hub = await openLocal(options, 'known');
      const scratch = mkdtempSync(join(tmpdir(), 'throughline-verify-'));
      try {
        const { openSqliteStore } = await import('../../store/index.ts');
        const found = await hub.archive.verify({
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
