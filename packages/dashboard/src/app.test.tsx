import { cleanup, fireEvent, render, screen, within } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CaseSummary, CaseView } from 'throughline/model';
import { MadeCase, spokenOf, summaryOf } from '../test/made-case.ts';
import { App } from './app.tsx';
import type { Follower, Live } from './live/live.ts';
import { openSession } from './session/session.ts';

/** A hub of a test's own, and the moment at which something changed. */
class FakeHub {
  cases: CaseSummary[] = [];
  view: CaseView | undefined;
  task: object | undefined;
  isDown = false;
  key = 'tlk_good';
  readonly #followers = new Set<Follower>();

  readonly live: Live = {
    state: 'live',
    watch: () => () => undefined,
    follow: (_scope, follower) => {
      this.#followers.add(follower);
      return () => this.#followers.delete(follower);
    },
  };

  /** Tells the page that something changed; resolves when it has been read again. */
  async changed(): Promise<void> {
    await Promise.allSettled([...this.#followers].map((each) => each.refresh()));
  }

  readonly fetch: typeof fetch = async (input, init) => {
    if (this.isDown) throw new TypeError('fetch failed');
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    if (new Headers(init?.headers).get('Authorization') !== `Bearer ${this.key}`) {
      return this.#problem(401, 'unauthenticated');
    }
    if (pathname === '/authenticate') {
      return Response.json({ tenant: 'shop', id: 'priya', role: 'caller' });
    }
    if (pathname === '/cases') return Response.json({ cases: this.cases });
    if (pathname.startsWith('/tasks/') && this.task !== undefined) return Response.json(this.task);
    if (this.view === undefined) return this.#problem(404, 'not-found');
    if (pathname.endsWith('/timeline')) {
      return Response.json({ assertions: [spokenOf(this.view.summary.activity, 1)] });
    }
    return Response.json(this.view);
  };

  #problem(status: number, code: string): Response {
    return Response.json({ code, status, detail: `the hub says ${code}` }, { status });
  }
}

const press = (key: string) => fireEvent.keyDown(document.activeElement ?? document.body, { key });

let hub: FakeHub;

async function show(hash = '#/'): Promise<void> {
  window.location.hash = hash;
  const open = (key?: string) =>
    openSession({
      origin: 'http://hub.test',
      fetch: hub.fetch,
      ...(key === undefined ? {} : { key }),
    });
  render(<App live={() => hub.live} open={open} />);
  fireEvent.change(await screen.findByLabelText('API key'), { target: { value: hub.key } });
  fireEvent.click(screen.getByRole('button', { name: 'Open' }));
  await screen.findByText('Throughline');
}

function madeView(): { view: CaseView; stuck: string } {
  const made = new MadeCase();
  const [desk, writer] = [made.participant('Desk'), made.participant('Writer')];
  const dialog = made.dialog([desk, writer]);
  const stuck = made.task(dialog, 'awaiting', {
    awaiting: 'input',
    objective: 'Write it down',
    localId: 'task-1',
  });
  made.edge('input-to', made.resource('Terms'), stuck, { role: 'what it rests on' });
  made.stuck(stuck, 'awaiting-input', [desk]);
  made.handover(stuck, { sent: 120, fullHistory: 1_000, withheld: ['card code'] });
  return { view: made.view(), stuck };
}

beforeEach(() => {
  hub = new FakeHub();
  // Nothing is laid out in this environment: lists are told that there is room.
  for (const side of ['clientHeight', 'clientWidth'] as const) {
    Object.defineProperty(HTMLElement.prototype, side, { configurable: true, value: 800 });
  }
});
afterEach(cleanup);

describe('signing in', () => {
  it('keeps out whoever has no key of the hub, and keeps the key out of storage', async () => {
    const open = (key?: string) =>
      openSession({
        origin: 'http://hub.test',
        fetch: hub.fetch,
        ...(key === undefined ? {} : { key }),
      });
    render(<App live={() => hub.live} open={open} />);
    fireEvent.change(await screen.findByLabelText('API key'), { target: { value: 'tlk_bad' } });
    fireEvent.click(screen.getByRole('button', { name: 'Open' }));
    await screen.findByText('The hub does not know this key.');
    fireEvent.change(screen.getByLabelText('API key'), { target: { value: hub.key } });
    fireEvent.click(screen.getByRole('button', { name: 'Open' }));
    await screen.findByText('No case yet');
    expect([localStorage.length, sessionStorage.length, document.cookie]).toEqual([0, 0, '']);
  });

  it('asks for another key once the hub takes this one no longer', async () => {
    await show();
    await screen.findByText('No case yet');
    hub.key = 'tlk_other';
    await hub.changed();
    await screen.findByText('The hub no longer knows you. Enter a key.');
  });

  it('is left by signing out, which forgets what it showed', async () => {
    await show();
    fireEvent.click(await screen.findByRole('button', { name: 'Sign out' }));
    await screen.findByText('You are signed out.');
    expect(screen.queryByRole('banner')).toBeNull();
  });
});

describe('the list of cases', () => {
  it('says which are stuck before all others, and finds by words', async () => {
    hub.cases = [
      summaryOf(2, { objective: 'Quiet' }),
      summaryOf(1, { objective: 'Loud', stuck: 2, failed: 1 }),
      summaryOf(3, { objective: 'Bad', failed: 1 }),
    ];
    await show();
    const grid = await screen.findByRole('grid', { name: 'Cases' });
    const rows = within(grid).getAllByRole('row').slice(1);
    expect(rows.map((row) => row.textContent)).toEqual([
      expect.stringMatching(/^2 stuckLoudctx-1/),
      expect.stringMatching(/^1 failedBadctx-3/),
      expect.stringMatching(/^openQuietctx-2/),
    ]);
    expect(document.querySelector('.standing')?.textContent).toBe('1 stuck, of 3 cases');
    fireEvent.change(screen.getByLabelText('Find cases'), { target: { value: 'nothing like it' } });
    await screen.findByText('No case matches');
  });

  it('shows what changed, keeps what it knew while the hub is away, and says so', async () => {
    hub.cases = [summaryOf(1, { objective: 'First' })];
    await show();
    await screen.findByText('First');
    hub.isDown = true;
    await hub.changed();
    await screen.findByText(/^Hub not reached\. Shown as of/);
    expect(screen.getByText('First')).toBeDefined();
    hub.isDown = false;
    hub.cases = [summaryOf(2, { objective: 'Second' }), ...hub.cases];
    await hub.changed();
    await screen.findByText('Second');
    await screen.findByText('Live');
  });

  it('puts few of ten thousand rows into the document', async () => {
    hub.cases = Array.from({ length: 10_000 }, (_, n) => summaryOf(10_000 - n));
    await show();
    const grid = await screen.findByRole('grid', { name: 'Cases' });
    expect(grid.getAttribute('aria-rowcount')).toBe('10001');
    const rows = within(grid).getAllByRole('row').length;
    expect(rows).toBeGreaterThan(10);
    expect(rows).toBeLessThan(60);
  });
});

describe('a case', () => {
  it('answers what is stuck, who got what, and what the hand-over saved', async () => {
    const { view, stuck } = madeView();
    hub.view = view;
    await show('#/case/ctx-1');
    const attention = await screen.findByRole('region', { name: 'Needs attention' });
    expect(attention.textContent).toContain('1 stuck');
    expect(attention.textContent).toContain('waits for input');
    expect(attention.textContent).toContain('at Writer · next step: Desk');
    expect(screen.getByText('880 tokens saved')).toBeDefined();
    fireEvent.click(within(attention).getByRole('button', { name: /Write it down/ }));
    const details = await screen.findByRole('complementary', { name: 'Details' });
    expect(details.querySelector('[data-details]')?.getAttribute('data-details')).toBe(stuck);
    expect(details.textContent).toContain('Terms');
    expect(details.textContent).toContain('as “what it rests on”');
    expect(details.textContent).toContain('Withheld: card code');
    const received = screen.getByRole('region', { name: 'Who got which document' });
    fireEvent.click(within(received).getByRole('button', { name: 'Writer: Terms' }));
    const documents = await screen.findByRole('grid', { name: 'Who got which document' });
    expect(within(documents).getAllByRole('row')[1]?.textContent).toContain(
      'TermsWriterwhat it rests on',
    );
  });

  it('shows what a waiting task asks, as words and nothing else', async () => {
    const { view, stuck } = madeView();
    hub.view = view;
    const text = 'Which month? <img src=x onerror=alert(1)>';
    hub.task = {
      id: 'task-1',
      contextId: 'ctx-1',
      agent: 'desk',
      version: 1,
      state: 'awaiting',
      statusAt: '2026-01-01T00:00:00.000Z',
      body: { status: { message: { parts: [{ text }] } } },
    };
    await show('#/case/ctx-1');
    const attention = await screen.findByRole('region', { name: 'Needs attention' });
    fireEvent.click(within(attention).getByRole('button', { name: /Write it down/ }));
    await screen.findByText(text);
    expect(document.querySelector(`[data-details="${stuck}"] img`)).toBeNull();
  });

  it('is a tree that keys walk through, open and close', async () => {
    hub.view = madeView().view;
    await show('#/case/ctx-1');
    const tree = await screen.findByRole('treegrid', { name: 'The case as a tree' });
    const rows = () => within(tree).getAllByRole('row').slice(1);
    expect(rows().map((row) => row.getAttribute('aria-level'))).toEqual(['1', '2', '3', '4']);
    rows()[0]?.focus();
    press('ArrowDown');
    expect(document.activeElement).toBe(rows()[1]);
    press('ArrowLeft');
    expect(rows().map((row) => row.getAttribute('aria-expanded'))).toEqual(['true', 'false']);
    press('ArrowRight');
    press('End');
    expect(document.activeElement).toBe(rows()[3]);
    press('ArrowLeft');
    expect(document.activeElement).toBe(rows()[2]);
    press('Enter');
    expect(rows()[2]?.getAttribute('aria-selected')).toBe('true');
    expect(rows().filter((row) => row.tabIndex === 0)).toHaveLength(1);
  });

  it('that is not there, or not ours, says the same', async () => {
    await show('#/case/ctx-unknown');
    expect((await screen.findByRole('alert')).textContent).toContain('There is no such case here');
  });

  it('with ten thousand dialogs keeps few rows in the document', async () => {
    const made = new MadeCase();
    const desk = made.participant('Desk');
    for (let n = 0; n < 10_000; n++) made.dialog([desk]);
    hub.view = made.view();
    await show('#/case/ctx-1');
    const tree = await screen.findByRole('treegrid', { name: 'The case as a tree' });
    expect(tree.getAttribute('aria-rowcount')).toBe('10002');
    const rows = within(tree).getAllByRole('row').length;
    expect(rows).toBeGreaterThan(10);
    expect(rows).toBeLessThan(60);
  });
});
