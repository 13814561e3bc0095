import type { Swept } from '../model/terms.ts';

/** Passes in a row, before the next turn of the timer. */
const maxPasses = 20;
/** Part of the time between two turns that is left to chance, so that several hubs don't meet. */
const jitter = 0.2;

export interface SweepingOptions {
  readonly everyMs: number;
  /** Told of each turn that ended something. */
  readonly onSwept?: ((swept: Swept) => void) | undefined;
  readonly onFailure: (error: unknown) => void;
  /** From 0 to 1, without 1. */
  readonly random?: () => number;
}

/** Sweeps a hub from time to time until it is stopped. Stopping waits for the turn under way. */
export function startSweeping(
  hub: { sweep(): Promise<Swept> },
  options: SweepingOptions,
): { stop(): Promise<void> } {
  const { everyMs, onSwept, onFailure, random = Math.random } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  let turn: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const next = (): void => {
    const wait = everyMs * (1 + jitter * (2 * random() - 1));
    timer = setTimeout(() => {
      turn = sweepAll()
        .catch(onFailure)
        .finally(() => {
          if (!signal.aborted) next();
        });
    }, wait).unref();
  };
  const sweepAll = async (): Promise<void> => {
    const all = { contexts: 0, tasks: 0, replies: 0, cases: 0, contents: 0, more: true };
    for (let pass = 0; all.more && !signal.aborted && pass < maxPasses; pass++) {
      const swept = await hub.sweep();
      all.contexts += swept.contexts;
      all.tasks += swept.tasks;
      all.replies += swept.replies;
      all.cases += swept.cases;
      all.contents += swept.contents;
      all.more = swept.more;
    }
    const { more: _more, ...ended } = all;
    if (Object.values(ended).some((count) => count > 0)) onSwept?.(all);
  };
  next();
  return {
    stop: async () => {
      stopping.abort();
      clearTimeout(timer);
      await turn;
    },
  };
}
