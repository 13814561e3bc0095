import type { FollowOptions } from 'throughline/client';
import { feedTypes, type FeedItem } from 'throughline/model';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { liveFeed, type Live, type Watched } from './live.ts';

/** A page that can be hidden by a test. */
class FakePage implements Watched {
  hidden = false;
  readonly #listeners = new Set<() => void>();
  addEventListener(_type: 'visibilitychange', listener: () => void): void {
    this.#listeners.add(listener);
  }
  removeEventListener(_type: 'visibilitychange', listener: () => void): void {
    this.#listeners.delete(listener);
  }
  hide(hidden: boolean): void {
    this.hidden = hidden;
    for (const listener of this.#listeners) listener();
  }
  get watchers(): number {
    return this.#listeners.size;
  }
}

const nothing = (): void => undefined;
const read = () => Promise.resolve();

/** A feed that a test speaks on. */
class FakeFeed {
  readonly asked: FollowOptions[] = [];
  #say: (item: FeedItem | undefined) => void = () => undefined;

  async *follow(options: FollowOptions): AsyncGenerator<FeedItem> {
    this.asked.push(options);
    const waiting: (FeedItem | undefined)[] = [];
    let wake = nothing;
    const say = (item: FeedItem | undefined): void => {
      waiting.push(item);
      wake();
    };
    this.#say = say;
    options.signal?.addEventListener('abort', () => say(undefined));
    for (;;) {
      while (waiting.length > 0) {
        const item = waiting.shift();
        if (item === undefined) return;
        yield item;
      }
      const { promise, resolve } = Promise.withResolvers<undefined>();
      wake = () => resolve(undefined);
      await promise;
    }
  }

  say(cursor: string): void {
    this.#say({ cursor, event: event(cursor) });
  }

  become(state: 'live' | 'reconnecting'): void {
    this.asked.at(-1)?.onState?.(state);
  }

  get open(): number {
    return this.asked.filter(({ signal }) => signal?.aborted !== true).length;
  }
}

const event = (id: string): FeedItem['event'] => ({
  specversion: '1.0',
  id,
  source: 'https://hub.test',
  time: '2031-01-01T00:00:00Z',
  datacontenttype: 'application/json',
  type: feedTypes.gap,
  data: { reason: 'unreadable' },
});

/** A hub that has no feed. */
const none = {
  follow: (): AsyncIterable<FeedItem> => ({
    [Symbol.asyncIterator]: () => ({
      next: () => Promise.reject(new Error('there is no such route')),
    }),
  }),
};

let page: FakePage;
beforeEach(() => {
  vi.useFakeTimers();
  page = new FakePage();
});
afterEach(() => void vi.useRealTimers());

const cases = { of: 'cases' } as const;
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe('without a feed', () => {
  let live: Live;
  beforeEach(() => {
    live = liveFeed({ page, feed: none });
  });

  it('reads again every two seconds until it is told to stop', async () => {
    const refresh = vi.fn(() => Promise.resolve());
    const stop = live.follow(cases, { refresh });
    await pass(6_100);
    expect(refresh).toHaveBeenCalledTimes(3);
    expect(live.state).toBe('asking');
    stop();
    await pass(10_000);
    expect(refresh).toHaveBeenCalledTimes(3);
    expect(page.watchers).toBe(0);
  });

  it('rests while the page is hidden, and reads at once when it is shown', async () => {
    const refresh = vi.fn(() => Promise.resolve());
    live.follow(cases, { refresh });
    page.hide(true);
    await pass(60_000);
    expect(refresh).not.toHaveBeenCalled();
    page.hide(false);
    await pass(51);
    expect(refresh).toHaveBeenCalledTimes(1);
  });

  it('never reads twice at once, and waits longer after a slow answer', async () => {
    const pending: (() => void)[] = [];
    const refresh = vi.fn(() => {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      pending.push(() => resolve(undefined));
      return promise.then(() => undefined);
    });
    live.follow(cases, { refresh });
    await pass(2_000);
    page.hide(true);
    page.hide(false);
    await pass(2_000);
    expect(refresh).toHaveBeenCalledTimes(1);
    pending[0]?.();
    await pass(7_000);
    expect(refresh).toHaveBeenCalledTimes(1);
    await pass(1_100);
    expect(refresh).toHaveBeenCalledTimes(2);
  });

  it('goes on after failures, less and less often, and at full pace once one succeeds', async () => {
    let isUp = false;
    const refresh = vi.fn(() => (isUp ? Promise.resolve() : Promise.reject(new Error('down'))));
    live.follow(cases, { refresh });
    await pass(2_000 + 4_000 + 8_000);
    expect(refresh).toHaveBeenCalledTimes(3);
    isUp = true;
    await pass(15_000);
    expect(refresh).toHaveBeenCalledTimes(4);
    await pass(2_000);
    expect(refresh).toHaveBeenCalledTimes(5);
  });
});

describe('with a feed', () => {
  let feed: FakeFeed;
  let live: Live;
  beforeEach(() => {
    feed = new FakeFeed();
    live = liveFeed({ page, feed });
  });

  it('reads when something came, what came together once, and else seldom', async () => {
    const refresh = vi.fn(() => Promise.resolve());
    live.follow(cases, { refresh });
    feed.become('live');
    await pass(100);
    expect(refresh).toHaveBeenCalledTimes(1);
    for (let n = 0; n < 20; n++) feed.say(`c${n}`);
    await pass(100);
    expect(refresh).toHaveBeenCalledTimes(2);
    await pass(60_000);
    refresh.mockClear();
    await pass(29_000);
    expect(refresh.mock.calls.length).toBeLessThan(2);
    await pass(31_000);
    expect(refresh).toHaveBeenCalledTimes(2);
  });

  it('reads once more soon after a change, since not all that goes with it has an event', async () => {
    const refresh = vi.fn(() => Promise.resolve());
    live.follow(cases, { refresh });
    feed.become('live');
    await pass(60_000);
    refresh.mockClear();
    feed.say('c1');
    await pass(100);
    expect(refresh).toHaveBeenCalledTimes(1);
    await pass(1_000);
    expect(refresh).toHaveBeenCalledTimes(2);
    await pass(4_000);
    expect(refresh).toHaveBeenCalledTimes(3);
  });

  it('reads nothing again for what a follower took by itself', async () => {
    const refresh = vi.fn(() => Promise.resolve());
    const taken: string[] = [];
    live.follow(cases, {
      refresh,
      apply: ({ id }) => {
        taken.push(id);
        return id !== 'c3';
      },
    });
    await pass(1);
    feed.say('c1');
    feed.say('c2');
    await pass(200);
    expect(refresh).not.toHaveBeenCalled();
    feed.say('c3');
    await pass(200);
    expect([taken, refresh.mock.calls.length]).toEqual([['c1', 'c2', 'c3'], 1]);
  });

  it('has one stream for all who follow the same, and none while nobody looks', async () => {
    const scope = { of: 'case', id: 'ctx_1' } as const;
    const stops = [
      live.follow(scope, { refresh: read }),
      live.follow({ ...scope }, { refresh: read }),
    ];
    expect(feed.asked).toMatchObject([{ case: 'ctx_1' }]);
    await pass(1);
    feed.say('c7');
    await pass(1);
    page.hide(true);
    expect(feed.open).toBe(0);
    page.hide(false);
    expect(feed.open).toBe(1);
    expect(feed.asked.at(-1)).toMatchObject({ case: 'ctx_1', after: 'c7' });
    for (const stop of stops) stop();
    expect([feed.open, page.watchers]).toEqual([0, 0]);
  });

  it('says when the hub is away, asks meanwhile, and reads once it is back', async () => {
    const states: string[] = [];
    live.watch(() => states.push(live.state));
    const refresh = vi.fn(() => Promise.resolve());
    live.follow(cases, { refresh });
    feed.become('live');
    await pass(100);
    feed.become('reconnecting');
    await pass(4_100);
    expect(refresh).toHaveBeenCalledTimes(3);
    feed.become('live');
    await pass(100);
    expect(refresh).toHaveBeenCalledTimes(4);
    expect(states).toEqual(['live', 'cut', 'live']);
  });

  it('asks for a stream again some time after it was refused', async () => {
    let isRefused = true;
    const refusing = {
      follow: (options: FollowOptions) => (isRefused ? none.follow() : feed.follow(options)),
    };
    const refresh = vi.fn(() => Promise.resolve());
    const again = liveFeed({ page, feed: refusing });
    again.follow(cases, { refresh });
    await pass(19_000);
    expect([again.state, feed.open]).toEqual(['asking', 0]);
    isRefused = false;
    await pass(2_000);
    feed.become('live');
    expect([again.state, feed.open]).toEqual(['live', 1]);
  });
});
