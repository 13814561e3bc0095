import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Swept } from '../model/terms.ts';
import { duration } from './duration.ts';
import { startSweeping } from './sweeping.ts';

const nothing: Swept = { contexts: 0, tasks: 0, replies: 0, cases: 0, contents: 0, more: false };

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Sweeps that give these, one after the other, then nothing. */
function sweeps(...results: readonly (Swept | Error)[]) {
  const told = { swept: [] as Swept[], failed: [] as unknown[], calls: 0 };
  const hub = {
    sweep: () => {
      const next = results[told.calls] ?? nothing;
      told.calls += 1;
      return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
    },
  };
  const options = {
    everyMs: 1_000,
    onSwept: (swept: Swept) => told.swept.push(swept),
    onFailure: (error: unknown) => told.failed.push(error),
    random: () => 0.5,
  };
  return { told, sweeping: startSweeping(hub, options) };
}

describe('a sweeper on a timer', () => {
  it('looks from time to time, and tells only what it ended', async () => {
    const { told, sweeping } = sweeps(nothing, { ...nothing, tasks: 3 });
    await vi.advanceTimersByTimeAsync(999);
    expect(told.calls).toBe(0);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(told.calls).toBe(2);
    expect(told.swept).toEqual([{ ...nothing, tasks: 3 }]);
    await sweeping.stop();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(told.calls).toBe(2);
  });

  it('goes on at once while there is more, in a bounded number of passes', async () => {
    const more = { ...nothing, contexts: 1, more: true };
    const { told, sweeping } = sweeps(...Array.from({ length: 50 }, () => more));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(told.calls).toBe(20);
    expect(told.swept).toEqual([{ ...nothing, contexts: 20, more: true }]);
    await sweeping.stop();
  });

  it('tells a failure and tries again at its next turn', async () => {
    const { told, sweeping } = sweeps(new Error('no'), { ...nothing, cases: 1 });
    await vi.advanceTimersByTimeAsync(2_000);
    expect(told.failed).toHaveLength(1);
    expect(told.swept).toHaveLength(1);
    await sweeping.stop();
  });
});

describe('a time on the command line', () => {
  it('is a number with a unit', () => {
    const ms = ['45s', '90m', '12h', '30d'].map((text) => duration.parse(text));
    expect(ms).toEqual([45_000, 5_400_000, 43_200_000, 2_592_000_000]);
  });

  it.each(['', '5', 'd', '-1d', '0d', '1.5h', '5w', '1d2h', '9999999d'])('is not %j', (text) => {
    expect(duration.safeParse(text).success).toBe(false);
  });
});
