import { ThroughlineError } from '../../errors.ts';

export interface Backoff {
  /** How often it is tried in all. */
  readonly attempts: number;
  /** Milliseconds before the second try; doubled each time. */
  readonly firstMs: number;
  /** Milliseconds between two tries, at most. */
  readonly capMs: number;
  /** Milliseconds from the first try on after which no other one is begun. Default: no limit. */
  readonly forMs?: number;
}

/** A hub that is away, for a restart perhaps, is waited for: long enough for that, and no longer. */
export const hubAway: Backoff = { attempts: 1_000, firstMs: 100, capMs: 2_000, forMs: 120_000 };

/** Milliseconds before try `attempt` (1 is the second one), with full jitter on the upper half. */
export const delayMs = ({ firstMs, capMs }: Backoff, attempt: number): number => {
  const ceiling = Math.min(capMs, firstMs * 2 ** (attempt - 1));
  return ceiling / 2 + (Math.random() * ceiling) / 2;
};

/** Resolves after so long, or at once when the signal aborts; never keeps the process alive. */
export const sleep = (ms: number, signal?: AbortSignal): Promise<void> => wait(ms, signal, false);

/** The same for what somebody awaits: a process with nothing else to do stays for it. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> => wait(ms, signal, true);

function wait(ms: number, signal: AbortSignal | undefined, keepsAlive: boolean): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    if (!keepsAlive) timer.unref();
    signal?.addEventListener('abort', end, { once: true });
  });
}

const isRetryable = (error: unknown): boolean =>
  error instanceof ThroughlineError && error.retryable;

export interface Retrying {
  readonly signal?: AbortSignal;
  /** A process with nothing else to do stays for the next try. Default: it does not. */
  readonly keepsAlive?: boolean;
}

/** Tries again while the error says that the same call may succeed later; the last error is thrown. */
export async function retrying<T>(
  backoff: Backoff,
  work: (attempt: number) => Promise<T>,
  options: Retrying & { mayRetry?: (error: unknown) => boolean } = {},
): Promise<T> {
  const { signal, keepsAlive = false, mayRetry = isRetryable } = options;
  const end = performance.now() + (backoff.forMs ?? Infinity);
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(attempt);
    } catch (error) {
      if (attempt >= backoff.attempts || signal?.aborted === true || !mayRetry(error)) throw error;
      const delay = delayMs(backoff, attempt);
      if (performance.now() + delay > end) throw error;
      await wait(delay, signal, keepsAlive);
    }
  }
}

/**
 * `retrying` for a write that may happen once only. A try whose answer was lost may have been carried
 * out, and makes the next one be refused as stale: `stands` then looks whether what is there is ours,
 * and gives what the lost answer would have been; undefined leaves the refusal standing.
 */
export async function retryingWrite<T>(
  backoff: Backoff,
  write: () => Promise<T>,
  stands: () => Promise<T | undefined>,
  options: Retrying = {},
): Promise<T> {
  let tries = 0;
  try {
    return await retrying(
      backoff,
      (attempt) => {
        tries = attempt;
        return write();
      },
      options,
    );
  } catch (error) {
    const isStale =
      error instanceof ThroughlineError && (error.code === 'conflict' || error.code === 'terminal');
    const stood = tries > 1 && isStale ? await retrying(backoff, stands, options) : undefined;
    if (stood === undefined) throw error;
    return stood;
  }
}
