import type { FollowOptions } from 'throughline/client';
import { feedTypes, type FeedEvent, type FeedItem } from 'throughline/model';
import { Runner } from './runner.ts';

/** What is followed: the list of cases, or one case by its id. */
type Scope = { readonly of: 'cases' } | { readonly of: 'case'; readonly id: string };

/**
 * `opening`: nothing is known yet. `live`: changes show as they are committed. `asking`: the hub’s feed is not to be had, so it is asked
 * again and again. `cut`: it was to be had, and the hub is away.
 */
type LiveState = 'opening' | 'live' | 'asking' | 'cut';

export interface Follower {
  /** Reads it again. One that fails is tried again later. */
  refresh(): Promise<void>;
  /** Takes an event of the feed; false: read it again instead. */
  apply?(event: FeedEvent): boolean;
}

/** Tells when something changed, by the hub’s feed, or, without one, by asking. */
export interface Live {
  /** Calls the follower until it is told to stop; never twice at once. */
  follow(scope: Scope, follower: Follower): () => void;
  readonly state: LiveState;
  /** Calls back whenever the state changed, until it is told to stop. */
  readonly watch: (listener: () => void) => () => void;
}

/** The part of a document that says whether anybody looks. */
export interface Watched {
  readonly hidden: boolean;
  addEventListener(type: 'visibilitychange', listener: () => void): void;
  removeEventListener(type: 'visibilitychange', listener: () => void): void;
}

export interface LiveOptions {
  readonly page: Watched;
  readonly feed: { follow(options: FollowOptions): AsyncIterable<FeedItem> };
  /** Milliseconds between two readings without a feed. Default 2,000. */
  readonly everyMs?: number;
  readonly now?: () => number;
}

/** With a feed, what no event tells of and none came before (cases beside this one) is read so often. */
const besidesMs = 30_000;
/** After the hub refused a stream, it is asked for another one so much later. */
const againMs = 20_000;

/** Follows while somebody looks, at once when they look again; one stream for each scope. */
export function liveFeed(options: LiveOptions): Live {
  const channels = new Map<string, Channel>();
  const listeners = new Set<() => void>();
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  return {
    follow: (scope, follower) => {
      const key = JSON.stringify(scope);
      const channel = channels.get(key) ?? new Channel(scope, options, tell);
      channels.set(key, channel);
      const leave = channel.join(follower);
      return () => {
        leave();
        if (channel.isEmpty) channels.delete(key);
      };
    },
    get state() {
      const states = [...channels.values()].map(({ state }) => state);
      return states.find((state) => state === 'cut') ?? states.find((s) => s !== 'live') ?? 'live';
    },
    watch: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** One stream, and all on the page who follow it. */
class Channel {
  state: LiveState = 'opening';
  readonly #scope: Scope;
  readonly #options: LiveOptions;
  readonly #tell: () => void;
  readonly #runners = new Map<Follower, Runner>();
  /** Ends the stream; there is one while somebody follows and looks. */
  #stream: AbortController | undefined;
  #cursor: string | undefined;

  constructor(scope: Scope, options: LiveOptions, tell: () => void) {
    this.#scope = scope;
    this.#options = options;
    this.#tell = tell;
  }

  get isEmpty(): boolean {
    return this.#runners.size === 0;
  }

  join(follower: Follower): () => void {
    const { page, now = Date.now } = this.#options;
    const runner = new Runner(() => follower.refresh(), { everyMs: () => this.#everyMs(), now });
    if (this.isEmpty) page.addEventListener('visibilitychange', this.#onVisibility);
    this.#runners.set(follower, runner);
    if (!page.hidden) {
      runner.start();
      this.#begin();
    }
    return () => {
      runner.rest();
      this.#runners.delete(follower);
      if (!this.isEmpty) return;
      page.removeEventListener('visibilitychange', this.#onVisibility);
      this.#end();
    };
  }

  readonly #onVisibility = (): void => {
    if (this.#options.page.hidden) {
      for (const runner of this.#runners.values()) runner.rest();
      this.#end();
      return;
    }
    for (const runner of this.#runners.values()) {
      runner.start();
      runner.wake();
    }
    this.#begin();
  };

  #everyMs(): number {
    return this.state === 'live' ? besidesMs : (this.#options.everyMs ?? 2_000);
  }

  #begin(): void {
    if (this.#stream !== undefined) return;
    this.#stream = new AbortController();
    void this.#follow(this.#stream.signal);
  }

  #end(): void {
    this.#stream?.abort();
    this.#stream = undefined;
  }

  async #follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#read(signal);
      } catch {
        // Why it is not to be had is told by what is read instead.
        this.#cursor = undefined;
      }
      this.#become('asking', signal);
      await pause(againMs, signal);
    }
  }

  async #read(signal: AbortSignal): Promise<void> {
    const scope = this.#scope;
    const stream = this.#options.feed.follow({
      signal,
      ...(scope.of === 'case' ? { case: scope.id } : {}),
      ...(this.#cursor === undefined ? {} : { after: this.#cursor }),
      onState: (state) => this.#become(state === 'live' ? 'live' : 'cut', signal),
    });
    for await (const { cursor, event } of stream) {
      if (signal.aborted) return;
      this.#cursor = cursor;
      for (const [follower, runner] of this.#runners) {
        // A snapshot is what there is, and no change.
        if (follower.apply?.(event) !== true) runner.wake(event.type !== feedTypes.snapshot);
      }
    }
  }

  #become(state: LiveState, signal: AbortSignal): void {
    if (signal.aborted || state === this.state) return;
    this.state = state;
    for (const runner of this.#runners.values()) {
      // What came while nobody told of it.
      if (state === 'live') runner.wake();
      else runner.pace();
    }
    this.#tell();
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), ms);
  const stop = () => {
    clearTimeout(timer);
    resolve(undefined);
  };
  signal.addEventListener('abort', stop, { once: true });
  return promise;
}
