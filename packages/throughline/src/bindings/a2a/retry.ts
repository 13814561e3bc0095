import { ThroughlineError } from '../../errors.ts';

export interface Backoff {
  /** How often it is tried in all. */
  readonly attempts: number;
  /** Milliseconds before the second try; doubled each time. */
  readonly firstMs: number;
  /** Milliseconds between two tries, at most. */
  readonly capMs: number;
}

/** Milliseconds before try `attempt` (1 is the second one), with full jitter on the upper half. */
export const delayMs = ({ firstMs, capMs }: Backoff, attempt: number): number => {
  const ceiling = Math.min(capMs, firstMs * 2 ** (attempt - 1));
  return ceiling / 2 + (Math.random() * ceiling) / 2;
};

/** Resolves after so long, or at once when the signal aborts; never keeps the process alive. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    timer.unref();
    signal?.addEventListener('abort', end, { once: true });
  });
}

const isRetryable = (error: unknown): boolean =>
  error instanceof ThroughlineError && error.retryable;

/** Tries again while the error says that the same call may succeed later; the last error is thrown. */
export async function retrying<T>(
  backoff: Backoff,
  work: (attempt: number) => Promise<T>,
  options: { signal?: AbortSignal; mayRetry?: (error: unknown) => boolean } = {},
): Promise<T> {
  const { signal, mayRetry = isRetryable } = options;
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(attempt);
    } catch (error) {
      if (attempt >= backoff.attempts || signal?.aborted === true || !mayRetry(error)) throw error;
      await sleep(delayMs(backoff, attempt), signal);
    }
  }
}
