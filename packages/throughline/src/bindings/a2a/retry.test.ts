import { describe, expect, it } from 'vitest';
import { ThroughlineError } from '../../errors.ts';
import { delayMs, pause, retrying, retryingWrite, sleep } from './retry.ts';

const quick = { attempts: 5, firstMs: 1, capMs: 2 };
const down = (): ThroughlineError => new ThroughlineError('unavailable', 'down');

/** Fails with these in turn, then succeeds. */
function failing(...errors: ThroughlineError[]): { work: () => Promise<string>; calls: number } {
  const state = {
    calls: 0,
    work: () => {
      const error = errors[state.calls];
      state.calls += 1;
      return error === undefined ? Promise.resolve('done') : Promise.reject(error);
    },
  };
  return state;
}

describe('a call that is tried again', () => {
  it('succeeds when the other side is there again', async () => {
    const some = failing(down(), down());
    expect(await retrying(quick, some.work)).toBe('done');
    expect(some.calls).toBe(3);
  });

  it('is given up after so many attempts, or after so long', async () => {
    const many = failing(...Array.from({ length: 9 }, down));
    await expect(retrying(quick, many.work)).rejects.toThrow('down');
    expect(many.calls).toBe(5);
    const late = failing(...Array.from({ length: 9 }, down));
    await expect(retrying({ ...quick, forMs: 0 }, late.work)).rejects.toThrow('down');
    expect(late.calls).toBe(1);
  });

  it('is not tried again after a refusal, nor once it was given up', async () => {
    const refused = failing(new ThroughlineError('invalid', 'no'));
    await expect(retrying(quick, refused.work)).rejects.toThrow('no');
    expect(refused.calls).toBe(1);
    const given = failing(down(), down());
    const signal = AbortSignal.abort();
    await expect(retrying(quick, given.work, { signal })).rejects.toThrow('down');
    expect(given.calls).toBe(1);
  });

  it('waits longer each time up to the cap, never less than half of that', () => {
    for (let attempt = 1; attempt < 2_000; attempt += 7) {
      const ceiling = Math.min(2_000, 100 * 2 ** (attempt - 1));
      const delay = delayMs({ attempts: 1, firstMs: 100, capMs: 2_000 }, attempt);
      expect(delay).toBeGreaterThanOrEqual(ceiling / 2);
      expect(delay).toBeLessThanOrEqual(ceiling);
    }
  });
});

describe('a write that may happen once only', () => {
  const stale = new ThroughlineError('conflict', 'stale');

  it('was carried out when what is there is ours', async () => {
    const { work } = failing(down(), stale);
    expect(await retryingWrite(quick, work, () => Promise.resolve('ours'))).toBe('ours');
  });

  it('was refused when what is there is not ours', async () => {
    const { work } = failing(down(), stale);
    await expect(retryingWrite(quick, work, () => Promise.resolve(undefined))).rejects.toBe(stale);
  });

  it('was refused when no answer was lost before, without looking', async () => {
    const { work } = failing(stale);
    const looked = failing();
    await expect(retryingWrite(quick, work, looked.work)).rejects.toBe(stale);
    expect(looked.calls).toBe(0);
  });

  it('is looked for until that can be seen', async () => {
    const { work } = failing(down(), new ThroughlineError('terminal', 'over'));
    expect(await retryingWrite(quick, work, failing(down(), down()).work)).toBe('done');
  });
});

/** Timers that keep the process alive. */
const held = (): number =>
  process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length;

describe('a wait', () => {
  it('keeps the process alive only where somebody awaits it', async () => {
    const stop = new AbortController();
    const before = held();
    const waits = [sleep(60_000, stop.signal)];
    expect(held()).toBe(before);
    waits.push(pause(60_000, stop.signal));
    expect(held()).toBe(before + 1);
    stop.abort();
    await Promise.all(waits);
    expect(held()).toBe(before);
  });
});
