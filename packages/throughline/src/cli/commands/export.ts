import { closeSync, fsyncSync, openSync, rmSync, writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { z } from 'zod';
import { ThroughlineError } from '../../errors.ts';
import {
  clientOf,
  command,
  outputOf,
  parseOptions,
  withHub,
  type Surroundings,
} from '../command.ts';
import { counted, progress } from '../progress.ts';
import { onSignals } from '../signalled.ts';
import { draftOf, nameDraft } from '../whole-file.ts';

const exportSchema = z.object({
  all: z.boolean().default(false),
  output: z.string().min(1).exactOptional(),
  shapeOnly: z.boolean().default(false),
});

/** `throughline export`: one case, or all of a tenant, as JSON Lines. */
export const exportCommand = (surroundings: Surroundings): Command =>
  withHub(
    command('export', 'Writes a case, or all of the tenant, as JSON Lines', [
      'export ctx_01h… -o case.jsonl',
      'export --all -o cases.jsonl',
      'export ctx_01h… --shape-only',
    ]),
  )
    .argument('[case]', 'a contextId or any other id of the case')
    .option('--all', 'all cases of the tenant; for operators')
    .option('-o, --output <file>', 'file to write, for its owner alone (default: stdout)')
    .option('--shape-only', 'ids, states and times alone, nothing that people wrote')
    .addHelpText(
      'after',
      '\nThe file holds what people wrote, decrypted: keep it as you would keep the case\nitself. It holds no keys and no rights.',
    )
    .action(async (id: string | undefined, options: unknown) => {
      const { all, output, shapeOnly } = parseOptions(exportSchema, options);
      if ((id === undefined) !== all) {
        throw new ThroughlineError('invalid', 'export: name one case, or give --all');
      }
      const { archive } = clientOf(options);
      const stream =
        id === undefined
          ? await archive.exportAll({ shapeOnly })
          : await archive.exportCase(id, { shapeOnly });
      const out = outputOf(surroundings, options);
      const tell = progress(out);
      let lines = 0;
      let last = '';
      const noted = async function* (): AsyncGenerator<Uint8Array> {
        for await (const chunk of stream) {
          lines += chunk.filter((byte) => byte === 0x0a).length;
          last = (last + Buffer.from(chunk).toString('latin1')).slice(-endBytes);
          tell(`${counted(lines)} lines`);
          yield chunk;
        }
        if (/\{"kind":"end","lines":\d+,"digest":"[0-9a-f]{64}"\}\n$/.test(last)) return;
        throw new ThroughlineError('unavailable', 'export: broke off before its end; try again');
      };
      if (output === undefined) {
        // A chunk may end within a character.
        const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
        for await (const chunk of noted()) {
          surroundings.stdout.write(decoder.decode(chunk, { stream: true }));
        }
        return;
      }
      await writeWhole(output, noted());
      out.result({ file: output, lines }, () => [`${counted(lines)} lines in ${output}`]);
    });

/** Of the last line, at most. */
const endBytes = 256;
const privateFile = 0o600;

/** All of it under its name, for its owner alone, or nothing. */
async function writeWhole(file: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  let draft: string;
  let descriptor: number;
  try {
    draft = draftOf(file);
    descriptor = openSync(draft, 'wx', privateFile);
  } catch (cause) {
    throw new ThroughlineError('invalid', `--output ${file}: can’t be written`, { cause });
  }
  const drop = (): void => rmSync(draft, { force: true });
  const heed = onSignals((exitCode) => {
    drop();
    process.exit(exitCode);
  });
  try {
    for await (const chunk of chunks) writeFileSync(descriptor, chunk);
    fsyncSync(descriptor);
    closeSync(descriptor);
    nameDraft(draft, file);
  } catch (error) {
    drop();
    throw error;
  } finally {
    heed();
  }
}
