import { addAbortListener } from 'node:events';
import { ThroughlineError } from '../errors.ts';

/** Ends one call: when its caller gives it up, or when a part of it takes too long. */
export interface Stop {
  readonly signal: AbortSignal;
  /** Counts from now; `clear` when that part is over. */
  within(ms: number, what: string): { clear(): void };
  /** What goes on after its caller was answered, and still counts as part of the call. */
  hold(work: Promise<unknown>): void;
  /** All that was held has ended, well or not. */
  settled(): Promise<unknown>;
}

/** A time-out of it is a ThroughlineError that says which part took too long. */
export function createStop(origin: string, signal: AbortSignal | undefined): Stop {
  const own = new AbortController();
  const held: Promise<unknown>[] = [];
  return {
    hold: (work) => void held.push(work),
    settled: () => Promise.allSettled(held),
    signal: signal === undefined ? own.signal : AbortSignal.any([own.signal, signal]),
    within(ms, what) {
      const late = (): void =>
        own.abort(new ThroughlineError('timeout', `${origin}: ${what} took more than ${ms} ms`));
      const timer = setTimeout(late, ms);
      return { clear: () => clearTimeout(timer) };
    },
  };
}

/** Why a stopped call ended. What the caller's own signal says may be anything, so it becomes the cause. */
export function stopReason(origin: string, signal: AbortSignal): ThroughlineError {
  const cause: unknown = signal.reason;
  if (cause instanceof ThroughlineError) return cause;
  const message = `${origin}: the call was given up by its caller`;
  return new ThroughlineError('unavailable', message, { retryable: false, cause });
}

/** The outcome of work, or the signal's reason as soon as it aborts; the work itself goes on. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const listener = addAbortListener(signal, () => reject(signal.reason));
  try {
    return await Promise.race([work, promise]);
  } finally {
    listener[Symbol.dispose]();
  }
}
