import { Option, type Command } from 'commander';
import { z } from 'zod';
import { command, outputOf, parseOptions, withData, type Surroundings } from '../command.ts';
import { DataFolder } from '../data-folder.ts';
import type { Output } from '../output.ts';
import type { RunningHub } from '../wire.ts';

const defaultPort = 4680;

const serveSchema = z.object({
  data: z.string(),
  port: z.coerce.number().int().min(0).max(65_535),
  host: z.string(),
  origin: z.url().exactOptional(),
  store: z.string().exactOptional(),
  domainKeyFile: z.string().exactOptional(),
  allowPlainHttp: z.boolean().default(false),
});

/** `throughline serve`: a hub until SIGINT or SIGTERM. */
export const serveCommand = (surroundings: Surroundings): Command =>
  withData(
    command('serve', 'Runs a hub until Ctrl-C', [
      'serve',
      'serve --port 4000 --data ./data',
      'serve --host 0.0.0.0 --allow-plain-http --origin https://hub.example.com',
    ]),
  )
    .option('--port <n>', 'port to listen on; 0 for any free one', String(defaultPort))
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--origin <url>', 'where it is reached from outside (default: the address)')
    .option('--store <file>', 'SQLite file (default: hub.sqlite in the folder)')
    .addOption(
      new Option('--domain-key-file <file>', 'key of the domain (default: in the folder)').env(
        'THROUGHLINE_DOMAIN_KEY_FILE',
      ),
    )
    .option('--allow-plain-http', 'plain HTTP on an address that other machines reach')
    .action(async (options: unknown) => {
      const { data, ...rest } = parseOptions(serveSchema, options);
      const out = outputOf(surroundings, options);
      // Only here: everybody else's commands start without a hub and its database.
      const { startHub } = await import('../wire.ts');
      const running = await startHub({
        ...rest,
        dataDir: data,
        onFailure: ({ requestId, method, path, error }) => {
          const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
          out.note(`${requestId} ${method} ${path}: ${what}`);
        },
      });
      announce(out, running, new DataFolder(data));
      await signalled();
      if (!out.json) out.note('Closing: requests under way may end …');
      await running.close();
    });

function announce(out: Output, { url }: RunningHub, folder: DataFolder): void {
  const { paint } = out.terminal;
  const at = folder.path.endsWith('/.throughline') ? '' : ` --data ${folder.path}`;
  out.result({ url, data: folder.path, keyFile: folder.localKeyFile }, () => [
    `Hub up at ${paint('bold', url)}`,
    `Data and keys in ${folder.path}`,
    '',
    'Next, in another terminal:',
    `  throughline case list${at}`,
    `  throughline key create my-agent --role agent${at}`,
    '',
    paint('dim', 'Ctrl-C ends it.'),
  ]);
}

/** Resolves at the first signal to end; a second one ends the process at once. */
function signalled(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => resolve(undefined));
  }
  return promise;
}
