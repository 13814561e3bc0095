import { spawn } from 'node:child_process';
import type { Command } from 'commander';
import { z } from 'zod';
import {
  clientOf,
  command,
  outputOf,
  parseOptions,
  withHub,
  type Surroundings,
} from '../command.ts';

const pageSchema = z.object({ open: z.boolean().default(false) });

/** `throughline page`: an address of the page that lets a browser in. */
export const pageCommand = (surroundings: Surroundings): Command =>
  withHub(
    command('page', 'Prints an address of the hub’s page that lets a browser in once', [
      'page',
      'page --open',
    ]),
  )
    .option('--open', 'open it in a browser')
    .action(async (options: unknown) => {
      const { open } = parseOptions(pageSchema, options);
      const { url, expiresAt } = await clientOf(options).pageAddress();
      const out = outputOf(surroundings, options);
      out.result({ url, expiresAt }, () => [url]);
      if (!out.json) out.note('It counts once, within a minute.');
      if (open && !(await openInBrowser(url))) out.note('No browser was found: open it by hand.');
    });

const openers: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Whether a program took it; never waits for the browser itself. */
function openInBrowser(url: string): Promise<boolean> {
  const [program, ...words] = openers[process.platform] ?? ['xdg-open'];
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const child = spawn(program, [...words, url], { stdio: 'ignore', detached: true });
  child.once('error', () => resolve(false)).once('spawn', () => resolve(true));
  child.unref();
  return promise;
}
