import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type BrowserContext, type Page } from 'playwright-core';

const known = [
  process.env['THROUGHLINE_CHROMIUM'] ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

/** Path of an installed Chromium, or undefined; said loudly, since the page is then not tested. */
export function findBrowser(): string | undefined {
  const found = known.find((path) => path !== '' && existsSync(path));
  if (found === undefined) {
    process.stderr.write(
      '\n*** THE PAGE WAS NOT TESTED IN A BROWSER: no Chromium is installed. ***\n' +
        '*** Install one (apt-get install chromium), or name it in THROUGHLINE_CHROMIUM. ***\n\n',
    );
  }
  return found;
}

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export interface Browser {
  readonly context: BrowserContext;
  readonly page: Page;
  /** What the browser complained about: errors of scripts, refusals by the page's policy. */
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

/** A browser with a profile of its own, which is gone afterwards. */
export async function openBrowser(
  executablePath: string,
  look: { width: number; height: number; colorScheme: 'dark' | 'light' },
): Promise<Browser> {
  const { width, height, colorScheme } = look;
  const profile = mkdtempSync(join(tmpdir(), 'page-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    headless: true,
    args: flags,
    viewport: { width, height },
    colorScheme,
    reducedMotion: 'reduce',
  });
  const complaints: string[] = [];
  const page = context.pages()[0] ?? (await context.newPage());
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  return {
    context,
    page,
    complaints,
    close: async () => {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}
