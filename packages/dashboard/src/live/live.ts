/** What is followed: the list of cases, or one case by its id. */
type Scope = { readonly of: 'cases' } | { readonly of: 'case'; readonly id: string };

/**
 * Tells when something may have changed, so that it is read again. The page knows no more than this
 * of how it hears: a feed of the hub's events can take the place of polling.
 */
export interface Live {
  /**
   * Calls `refresh` whenever the scope may have changed, never twice at once, until it is told to stop.
   * A refresh that fails is tried again later.
   */
  follow(scope: Scope, refresh: () => Promise<void>): () => void;
}

/** The part of a document that says whether anybody looks. */
export interface Watched {
  readonly hidden: boolean;
  addEventListener(type: 'visibilitychange', listener: () => void): void;
  removeEventListener(type: 'visibilitychange', listener: () => void): void;
}

export interface PollingOptions {
  readonly page: Watched;
  /** Milliseconds between two readings. Default 2,000. */
  readonly everyMs?: number;
  readonly now?: () => number;
}

const idleShare = 4;
const slowestMs = 15_000;

/**
 * Polls while somebody looks, at once when they look again. A slow answer makes the next one come
 * later, so that a large case does not keep the hub busy; failures double the wait.
 */
export function polling({ page, everyMs = 2_000, now = Date.now }: PollingOptions): Live {
  return {
    follow: (_scope, refresh) => {
      let timer: ReturnType<typeof setTimeout> | undefined;
      let isRunning = false;
      let stopped = false;
      let failures = 0;
      const schedule = (ms: number): void => {
        clearTimeout(timer);
        if (!stopped && !page.hidden) timer = setTimeout(() => void run(), ms);
      };
      const run = async (): Promise<void> => {
        if (isRunning || stopped) return;
        isRunning = true;
        const started = now();
        try {
          await refresh();
          failures = 0;
        } catch {
          failures += 1;
        }
        isRunning = false;
        const wait = Math.max(everyMs * 2 ** failures, (now() - started) * idleShare);
        schedule(Math.min(wait, Math.max(slowestMs, everyMs)));
      };
      const onVisibility = (): void => {
        if (page.hidden) clearTimeout(timer);
        else if (!isRunning) schedule(0);
      };
      page.addEventListener('visibilitychange', onVisibility);
      schedule(everyMs);
      return () => {
        stopped = true;
        clearTimeout(timer);
        page.removeEventListener('visibilitychange', onVisibility);
      };
    },
  };
}
