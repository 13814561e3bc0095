import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { HubClient } from 'throughline/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../throughline/test/free-port.ts';
import { findBrowser, openBrowser, type Browser } from './browser.ts';
import { startHubProcess, type HubProcess } from './hub-process.ts';
import { faultsOf } from './looks.ts';
import { MadeCase } from './made-case.ts';
import { randomCase, randomFrom } from './random-case.ts';
import { servePage, type ServedPage } from './serve-page.ts';
import { castOf, tellStory, type Cast, type Story } from './story.ts';

const browserPath = findBrowser();
const wide = { width: 1440, height: 900 } as const;
const narrow = { width: 390, height: 844 } as const;

async function signIn(page: Page, url: string, key: string, hash = '#/'): Promise<void> {
  await page.goto(url + hash);
  await page.getByLabel('API key').fill(key);
  await page.keyboard.press('Enter');
  await page.getByRole('banner').waitFor();
}

/** Every row of a list, by scrolling through all of it. */
async function allRows(page: Page, attribute: string): Promise<Map<string, string | null>> {
  const rows = new Map<string, string | null>();
  const body = page.locator('.rows-body');
  const scroller = page.locator('main.scroller');
  await scroller.evaluate((element) => element.scrollTo(0, 0));
  for (let isEnd = false; !isEnd;) {
    await wait(60);
    const seen = await body
      .locator('[role=row]')
      .evaluateAll(
        (elements, name) =>
          elements.map(
            (row) => [row.getAttribute('data-id') ?? '', row.getAttribute(name)] as const,
          ),
        attribute,
      );
    for (const [id, value] of seen) rows.set(id, value);
    isEnd = await scroller.evaluate((element) => {
      const before = element.scrollTop;
      element.scrollBy(0, element.clientHeight / 2);
      return element.scrollTop === before;
    });
  }
  return rows;
}

const realComplaints = ({ complaints }: Browser): string[] =>
  complaints.filter((text) => !text.startsWith('Failed to load resource'));

const withBrowser = async (
  look: { width: number; height: number },
  use: (browser: Browser) => Promise<void>,
  colorScheme: 'dark' | 'light' = 'light',
): Promise<void> => {
  const browser = await openBrowser(browserPath ?? '', { ...look, colorScheme });
  try {
    await use(browser);
    expect(realComplaints(browser)).toEqual([]);
  } finally {
    await browser.close();
  }
};

describe.skipIf(browserPath === undefined)('the page in a browser', () => {
  const folder = mkdtempSync(join(tmpdir(), 'page-hub-'));
  let port: number;
  let hub: HubProcess;
  let served: ServedPage;
  let cast: Cast;
  let story: Story;
  let operator: HubClient;

  beforeAll(async () => {
    port = await freePort();
    hub = await startHubProcess(folder, port);
    served = await servePage(hub.url);
    cast = await castOf(hub.url, hub.key);
    story = await tellStory(cast);
    operator = new HubClient({ url: hub.url, key: hub.key });
  });
  afterAll(async () => {
    await served?.close();
    await hub?.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  it('tells a newcomer what is stuck, who got which document, what the hand-overs saved', async () => {
    await withBrowser(wide, async ({ page }) => {
      await signIn(page, served.url, hub.key);
      await page.getByRole('row', { name: /My cash back looks wrong/ }).click();
      const stuck = page.getByRole('region', { name: 'Needs attention' });
      await stuck.getByText('1 stuck').waitFor();
      expect(await stuck.textContent()).toContain('at Case writer · next step: Support desk');

      const saved = page.getByRole('region', { name: 'What the hand-overs saved' });
      const view = await operator.caseView(story.contextId);
      const total = view.handovers.reduce((sum, each) => sum + each.fullHistory - each.sent, 0);
      expect(await saved.textContent()).toContain(`${total.toLocaleString('en')} tokens saved`);
      expect(await saved.textContent()).toContain('date of birth');

      await page.getByRole('tab', { name: 'Documents' }).click();
      const documents = page.getByRole('grid', { name: 'Who got which document' });
      const terms = documents.getByRole('row', { name: /^Gold card terms 2031/ });
      expect(await terms.getByRole('gridcell').allTextContents()).toEqual([
        'Gold card terms 2031',
        'Policy reader',
        'where to look',
        'Find the cash back terms that hold for her card',
        'outside',
      ]);
      await documents
        .getByRole('row', { name: /^Cash back rate/ })
        .first()
        .click();
      const details = page.getByRole('complementary', { name: 'Details' });
      expect(await details.textContent()).toContain('put out byFind the cash back terms');
    });
  });

  it('takes the code of an address that is put into a tab where the page is open', async () => {
    await withBrowser(wide, async ({ page }) => {
      await page.goto(hub.url);
      await page.getByLabel('API key').waitFor();
      await page.goto((await operator.pageAddress()).url);
      await page.getByRole('row', { name: /My cash back looks wrong/ }).waitFor();
      expect(page.url()).toBe(`${hub.url}/#/`);
    });
  });

  it('lets a person in by the address that the hub gives, once, and keeps nothing of it', async () => {
    const { url } = await operator.pageAddress();
    await withBrowser(wide, async ({ page, context }) => {
      await page.goto(`${url}/case/${story.contextId}/tree`);
      await page.getByRole('treegrid', { name: 'The case as a tree' }).waitFor();
      expect(page.url()).toBe(`${hub.url}/#/case/${story.contextId}/tree`);
      await page.getByRole('link', { name: 'Throughline' }).click();
      await page.getByRole('row', { name: /My cash back looks wrong/ }).waitFor();
      await page.getByText('Live', { exact: true }).waitFor();
      const kept = await page.evaluate(() => [
        document.cookie,
        localStorage.length,
        sessionStorage.length,
      ]);
      expect(kept).toEqual(['', 0, 0]);
      const [cookie, ...more] = await context.cookies();
      expect(more).toEqual([]);
      expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/' });
      await page.reload();
      await page.getByRole('row', { name: /My cash back looks wrong/ }).waitFor();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByText('You are signed out.').waitFor();
      await page.reload();
      await page.getByLabel('API key').waitFor();
      expect(await context.cookies()).toEqual([]);
    });
    await withBrowser(wide, async ({ page }) => {
      await page.goto(url);
      await page.getByText(/The code in the address counts once/).waitFor();
      expect(await page.getByRole('row').count()).toBe(0);
    });
  });

  it('is walked through by keys alone, and shows where the focus is', async () => {
    await withBrowser(wide, async ({ page }) => {
      await signIn(page, served.url, hub.key);
      const first = page.getByRole('grid', { name: 'Cases' }).getByRole('row').nth(1);
      await first.waitFor();
      for (let steps = 0; steps < 20; steps++) {
        await page.keyboard.press('Tab');
        if (await first.evaluate((row) => row === document.activeElement)) break;
      }
      expect(await first.evaluate((row) => getComputedStyle(row).outlineStyle)).toBe('solid');
      await page.keyboard.press('Enter');
      const tree = page.getByRole('treegrid', { name: 'The case as a tree' });
      await tree.waitFor();
      await tree.getByRole('row').nth(1).focus();
      for (const key of ['ArrowRight', 'ArrowRight', 'ArrowRight', 'Enter']) {
        await page.keyboard.press(key);
      }
      await page
        .getByRole('heading', { name: 'Find the cash back terms that hold for her card' })
        .waitFor();
      await page.keyboard.press('ArrowLeft');
      const dialog = tree.getByRole('row', { name: /Policy reader/ }).first();
      expect(await dialog.getAttribute('aria-expanded')).toBe('false');
      expect(await dialog.getAttribute('aria-level')).toBe('4');
    });
  });

  it('shows after 1,000 random assertions, a killed hub and a reconnect what the API says', async () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    const random = await randomCase(cast, randomFrom(seed));
    await withBrowser(wide, async ({ page }) => {
      await signIn(page, served.url, hub.key, `#/case/${random.contextId}/tree`);
      await page.getByRole('treegrid').waitFor();
      await random.say(600);
      await hub.kill();
      await page.getByText(/^Hub not reached/).waitFor();
      hub = await startHubProcess(folder, port);
      await random.say(400);
      await page.getByText('Live', { exact: true }).waitFor({ timeout: 30_000 });
      // From here on the feed tells what is said: nobody asks for the timeline again.
      const asked: string[] = [];
      page.on('request', (request) => asked.push(new URL(request.url()).pathname));
      await random.say(200);
      const view = await operator.caseView(random.contextId);
      const expected = new Map<string, string | null>([
        ...view.activities.map(({ id }) => [id, null] as const),
        ...view.dialogs.map(({ id, state }) => [id, state] as const),
        ...view.tasks.map(({ id, state }) => [id, state] as const),
        ...view.resources.map(({ id }) => [id, null] as const),
      ]);
      await expect
        .poll(() => allRows(page, 'data-state'), { timeout: 30_000, message: `seed ${seed}` })
        .toEqual(expected);
      const stuck = page.getByRole('region', { name: 'Needs attention' });
      if (view.summary.stuck > 0) {
        expect(await stuck.textContent()).toContain(`${view.summary.stuck} stuck`);
      }

      const again = asked.filter((path) => path.endsWith('/timeline'));
      expect({ seed, again: again.length < 3 }).toEqual({ seed, again: true });
      await page.getByRole('tab', { name: 'Timeline' }).click();
      const said = new Map<string, string | null>();
      for (let after: number | undefined = 0; after !== undefined;) {
        const next = await operator.timeline(random.contextId, { after });
        for (const { id, seq } of next.assertions) said.set(id, String(seq));
        after = next.next;
      }
      expect(said.size).toBeGreaterThan(1_000);
      expect(await allRows(page, 'data-seq')).toEqual(said);
    });
  });

  it('keeps few of 10,000 dialogs in the document, and reaches the last', async () => {
    const made = new MadeCase();
    const desk = made.participant('Desk');
    let last = '';
    for (let n = 0; n < 10_000; n++) last = made.dialog([desk]);
    const view = made.view();
    await withBrowser(wide, async ({ page }) => {
      await page.route('**/cases/ctx-many', (route) => route.fulfill({ json: view }));
      await page.route('**/cases/ctx-many/timeline*', (route) =>
        route.fulfill({ json: { assertions: [] } }),
      );
      await signIn(page, served.url, hub.key, '#/case/ctx-many/tree');
      const tree = page.getByRole('treegrid');
      await tree.getByRole('row').nth(1).focus();
      await page.keyboard.press('End');
      await page.locator(`[data-id="${last}"]:focus`).waitFor();
      expect(await tree.getAttribute('aria-rowcount')).toBe('10002');
      expect(await tree.getByRole('row').count()).toBeLessThan(60);
    });
  });

  const places = (): readonly string[] => [
    '#/',
    ...['tree', 'timeline', 'documents', 'handovers'].map(
      (tab) => `#/case/${story.contextId}/${tab}`,
    ),
    ...[story.stuck, story.failed, story.finding, story.activity].map(
      (id) => `#/case/${story.contextId}/tree/${id}`,
    ),
    '#/case/ctx_unknown/tree',
  ];

  it.each([
    [wide, 'light'],
    [wide, 'dark'],
    [narrow, 'light'],
    [narrow, 'dark'],
  ] as const)('is readable, reachable and fits at %o in %s', async (size, scheme) => {
    await withBrowser(
      size,
      async ({ page }) => {
        await page.goto(served.url);
        await page.getByLabel('API key').waitFor();
        expect(await faultsOf(page)).toEqual([]);
        await signIn(page, served.url, hub.key);
        for (const place of places()) {
          await page.evaluate((hash) => {
            window.location.hash = hash;
          }, place);
          await page.locator('.rows-body, [role=alert]').first().waitFor();
          await wait(150);
          expect({ place, faults: await faultsOf(page) }).toEqual({ place, faults: [] });
        }
      },
      scheme,
    );
  });

  it('puts details over a narrow page until they are closed', async () => {
    await withBrowser(narrow, async ({ page }) => {
      await signIn(page, served.url, hub.key, `#/case/${story.contextId}/tree`);
      await page.getByRole('button', { name: /Write the credit note/ }).click();
      const dialog = page.getByRole('dialog', { name: 'Details' });
      await dialog.getByText('Stuck: waits for an authorization').waitFor();
      await dialog.getByRole('button', { name: 'Read both texts' }).click();
      await dialog.getByText('The whole history, which nobody was sent.').waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    });
  });
});
