import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { polling, type Watched } from './live.ts';

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

describe('polling', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('reads again every two seconds until it is told to stop', async () => {
    const page = new FakePage();
    const refresh = vi.fn(() => Promise.resolve());
    const stop = polling({ page }).follow({ of: 'cases' }, refresh);
    await vi.advanceTimersByTimeAsync(6_100);
    expect(refresh).toHaveBeenCalledTimes(3);
    stop();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(refresh).toHaveBeenCalledTimes(3);
    expect(page.watchers).toBe(0);
  });

  it('rests while the page is hidden, and reads at once when it is shown', async () => {
    const page = new FakePage();
    const refresh = vi.fn(() => Promise.resolve());
    polling({ page }).follow({ of: 'cases' }, refresh);
    page.hide(true);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(refresh).not.toHaveBeenCalled();
    page.hide(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(refresh).toHaveBeenCalledTimes(1);
  });

  it('never reads twice at once, and waits longer after a slow answer', async () => {
    const page = new FakePage();
    const pending: (() => void)[] = [];
    const refresh = vi.fn(() => {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      pending.push(() => resolve(undefined));
      return promise.then(() => undefined);
    });
    polling({ page }).follow({ of: 'cases' }, refresh);
    await vi.advanceTimersByTimeAsync(2_000);
    page.hide(true);
    page.hide(false);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(refresh).toHaveBeenCalledTimes(1);
    pending[0]?.();
    await vi.advanceTimersByTimeAsync(7_000);
    expect(refresh).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(1_100);
    expect(refresh).toHaveBeenCalledTimes(2);
  });

  it('goes on after failures, less and less often, and at full pace once one succeeds', async () => {
    const page = new FakePage();
    let isUp = false;
    const refresh = vi.fn(() => (isUp ? Promise.resolve() : Promise.reject(new Error('down'))));
    polling({ page }).follow({ of: 'cases' }, refresh);
    await vi.advanceTimersByTimeAsync(2_000 + 4_000 + 8_000);
    expect(refresh).toHaveBeenCalledTimes(3);
    isUp = true;
    await vi.advanceTimersByTimeAsync(15_000);
    expect(refresh).toHaveBeenCalledTimes(4);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(refresh).toHaveBeenCalledTimes(5);
  });
});
