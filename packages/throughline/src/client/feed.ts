import { ThroughlineError } from '../errors.ts';
import { feedEventSchema, type FeedItem } from '../model/feed.ts';
import { segment, type Caller } from './call.ts';
import { readEvents } from './event-stream.ts';

/** `live`: events come as they are committed. `reconnecting`: the hub is not reached at the moment. */
export type FeedState = 'live' | 'reconnecting';

export interface FollowOptions {
  /** Any id of one case. Absent: everything that one may see. */
  readonly case?: string;
  /** The `cursor` of an item: goes on right after it. `0`: from the first event on. Absent: a snapshot first. */
  readonly after?: string;
  /** Ends the iteration. */
  readonly signal?: AbortSignal;
  /** Told whenever it changes. */
  readonly onState?: (state: FeedState) => void;
}

/** A stream without so much as a sign of life for so long is as good as cut. */
const silentMs = 45_000;
const firstDelayMs = 250;
const longestDelayMs = 10_000;

/** The hub’s live feed. */
export class FeedCalls {
  readonly #call: Caller;
  readonly #silentMs: number;

  constructor(call: Caller, options: { readonly silentMs?: number } = {}) {
    this.#call = call;
    this.#silentMs = options.silentMs ?? silentMs;
  }

  /**
   * Events in order, each once. A cut is not an end: it goes on where it was, as soon as the hub is there
   * again. It ends when the signal says so, and throws what the hub refuses: `not-found` once a case may
   * not be seen any more, `unauthenticated` once the key does not count. It reads as fast as it is
   * iterated over, and gathers nothing in between.
   */
  async *follow(options: FollowOptions = {}): AsyncGenerator<FeedItem, void, undefined> {
    const { signal = new AbortController().signal, onState } = options;
    let { after } = options;
    let state: FeedState | undefined;
    let isReached = false;
    const reached = (): void => void (isReached = true);
    const tell = (next: FeedState): void => {
      if (next !== state) onState?.(next);
      state = next;
    };
    for (let failures = 0; !signal.aborted; failures++) {
      if (failures > 0) await pause(delayOf(failures), signal);
      if (signal.aborted) return;
      try {
        const stream = this.#open(options.case, after, signal, reached);
        for await (const event of stream) {
          tell('live');
          failures = 0;
          if (event.id !== '') after = event.id;
          if (event.data !== undefined) yield { cursor: event.id, event: parsed(event.data) };
        }
      } catch (error) {
        if (signal.aborted) return;
        // What was never reached may be named wrongly; what was reached comes back.
        if (!isReached || !mayPass(error)) throw error;
      }
      if (!signal.aborted && state !== undefined) tell('reconnecting');
    }
  }

  async *#open(
    id: string | undefined,
    after: string | undefined,
    signal: AbortSignal,
    reached: () => void,
  ) {
    const path = id === undefined ? '/feed' : `/cases/${segment(id)}/feed`;
    const silent = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const wait = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => silent.abort(), this.#silentMs);
    };
    const headers = after === undefined || after === '0' ? {} : { 'Last-Event-ID': after };
    const query = after === '0' ? { after } : {};
    try {
      const over = AbortSignal.any([signal, silent.signal]);
      const body = await this.#call.stream({ method: 'GET', path, query, headers }, over);
      reached();
      wait();
      for await (const event of readEvents(body)) {
        clearTimeout(timer);
        yield event;
        wait();
      }
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Whether it may be otherwise in a while. A stream that broke off throws what the runtime likes. */
const mayPass = (error: unknown): boolean =>
  !(error instanceof ThroughlineError) || error.retryable || error.code === 'timeout';

const delayOf = (failures: number): number =>
  Math.min(firstDelayMs * 2 ** (failures - 1), longestDelayMs) * (0.5 + Math.random());

function parsed(data: string): FeedItem['event'] {
  const result = feedEventSchema.safeParse(jsonOf(data));
  if (result.success) return result.data;
  throw new ThroughlineError(
    'internal',
    'the hub does not speak like one of this version: an event of its feed has another shape',
  );
}

function jsonOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const wake = () => resolve(undefined);
  const timer = setTimeout(wake, ms);
  signal.addEventListener('abort', wake, { once: true });
  await promise;
  clearTimeout(timer);
  signal.removeEventListener('abort', wake);
}
