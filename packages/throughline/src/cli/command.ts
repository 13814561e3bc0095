import { Command, Option } from 'commander';
import { z } from 'zod';
import { HubClient } from '../client/index.ts';
import { ThroughlineError } from '../errors.ts';
import { DataFolder, defaultDataFolder, readPrivate } from './data-folder.ts';
import { output, type Output, type Streams } from './output.ts';
import { terminal } from './terminal.ts';

/** What a command runs in: the process, or a test. */
export interface Surroundings extends Streams {
  readonly stdout: Streams['stdout'] & { readonly isTTY?: boolean; readonly columns?: number };
  readonly env: Readonly<Record<string, string | undefined>>;
}

const commonSchema = z.object({
  data: z.string(),
  hub: z.string().optional(),
  keyFile: z.string().optional(),
  json: z.boolean().default(false),
  fullIds: z.boolean().default(false),
});

const data = () =>
  new Option('--data <folder>', 'folder of the hub')
    .env('THROUGHLINE_DATA')
    .default(defaultDataFolder);
const json = () => new Option('--json', 'one JSON object on stdout, {"version":1, …}');

/** A command with examples at the end of its help. */
export function command(name: string, description: string, examples: readonly string[]): Command {
  const lines = examples.map((each) => `  $ throughline ${each}`).join('\n');
  return new Command(name).description(description).addHelpText('after', `\nExamples:\n${lines}`);
}

/** Adds the options of commands that run by themselves. */
export const withData = (each: Command): Command => each.addOption(data()).addOption(json());

/** Adds the options of commands that ask a hub. */
export const withHub = (each: Command): Command =>
  withData(each)
    .addOption(
      new Option('--hub <url>', 'the hub (default: the one of the folder)').env('THROUGHLINE_HUB'),
    )
    .addOption(
      new Option('--key-file <file>', 'file with an API key (default: the folder’s)').env(
        'THROUGHLINE_KEY_FILE',
      ),
    )
    .addOption(new Option('--full-ids', 'whole ids on a terminal, too'));

/** How this command's results are written. */
export function outputOf(surroundings: Surroundings, options: unknown): Output {
  const { json: isJson, fullIds } = commonSchema.parse(options);
  const { stdout, env } = surroundings;
  const shows = terminal({
    isTTY: stdout.isTTY === true,
    // A terminal whose size is not known says 0.
    columns: stdout.columns === 0 ? undefined : stdout.columns,
    env,
    wholeIds: fullIds,
  });
  return output(surroundings, shows, isJson);
}

/** The hub that the options, the environment or the folder name, with the key for it. */
export const clientOf = (options: unknown): HubClient => new HubClient(hubOf(options));

/** Where that hub is, and the key. */
export function hubOf(options: unknown): { readonly url: string; readonly key: string } {
  const { data: path, hub, keyFile } = commonSchema.parse(options);
  const folder = new DataFolder(path);
  const url = hub ?? folder.hubUrl();
  if (url === undefined) {
    throw new ThroughlineError(
      'unavailable',
      `no hub is known in ${folder.path}; start one with: throughline serve, or name one with --hub URL`,
    );
  }
  if (!URL.canParse(url)) {
    throw new ThroughlineError(
      'invalid',
      `--hub ${url}: is no URL; give one such as http://127.0.0.1:4680`,
    );
  }
  const key = keyFile === undefined ? folder.localKey() : readPrivate(keyFile);
  if (key === undefined) {
    throw new ThroughlineError('unauthenticated', `there is no key in ${folder.path}.`);
  }
  return { url, key };
}

/** Options of a command by their schema; what does not fit is named as the person typed it. */
export function parseOptions<T extends z.ZodType>(schema: T, options: unknown): z.output<T> {
  const result = schema.safeParse(options);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const name = String(issue?.path[0] ?? 'options').replaceAll(
    /[A-Z]/g,
    (c) => `-${c.toLowerCase()}`,
  );
  throw new ThroughlineError('invalid', `--${name}: ${issue?.message ?? 'is not valid'}`);
}
