import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import { feedQuerySchema, type FeedItem, type FeedQuery, type Principal } from '../model/index.ts';
import type { StoredLogEntry, StoreReader } from '../store/store.ts';
import type { CaseAccess, OpenCase } from './case-access.ts';
import { CaseBoxes } from './case-boxes.ts';
import type { CaseLists } from './case-lists.ts';
import type { CaseViews } from './case-views.ts';
import { Cursors } from './cursor.ts';
import type { Deps } from './deps.ts';
import { FeedEvents, tell, type GapReason } from './feed-events.ts';
import { FeedScope } from './feed-scope.ts';
import { FeedTail } from './feed-tail.ts';
import { maskAssertion } from './mask.ts';
import { parse } from './refusals.ts';

/** Entries that one step of one reader looks at; what is in memory for each is no more than that. */
const stepLimit = 100;
const hashShown = 16;

export interface FeedOptions {
  /** Streams that one principal may have open here at a time. Default 128. */
  readonly streamsOfPrincipal?: number;
  /** Streams of all together. Default 2,048. */
  readonly streams?: number;
  /** Milliseconds without an event after which a sign of life comes. Default 15,000. */
  readonly heartbeatMs?: number;
  /** Commits that fall into so many milliseconds are told together. Default 10. */
  readonly gatherMs?: number;
  /** Milliseconds between two looks for commits of other processes. Default 1,000. */
  readonly lookMs?: number;
}

/** What a stream needs beside who it is for. */
interface FeedLife {
  /** Ends it. Must be aborted once nobody reads any more. */
  readonly signal: AbortSignal;
  /** Whether what the reader showed at the beginning still counts. */
  readonly stillIn: () => Promise<boolean>;
}

/** What came since the step before. Without items: a sign of life. */
interface FeedStep {
  readonly items: readonly FeedItem[];
  /** The place after all that was looked at. */
  readonly cursor: string;
}

/** `s`: number of the last entry that was looked at; `h`: of its hash, which other histories do not have. */
const placeSchema = z.object({ s: z.int().nonnegative(), h: z.string() });
type Place = z.infer<typeof placeSchema>;
const beginning: Place = { s: 0, h: '' };
const placeOf = ({ seq, hash }: { seq: number; hash: string }): Place =>
  seq === 0 ? beginning : { s: seq, h: hash.slice(0, hashShown) };

/** Who reads what: readers of the same are served together. */
interface Audience {
  readonly principal: Principal;
  /** One case, or everything that the principal may see. */
  readonly activity: string | undefined;
  readonly bound: readonly unknown[];
}

interface Step {
  readonly items: readonly FeedItem[];
  readonly place: Place;
  /** The case may not be seen any more. */
  readonly isLost: boolean;
}

/**
 * What is asserted, as it is committed, in the order of its numbers: of one case, or of everything that
 * a principal may see. Rights are looked at for each event when it is given out, replayed ones too. A
 * reader pulls: one that is slow holds up itself alone, and keeps no more than one step in memory.
 */
export class Feed {
  readonly #deps: Deps;
  readonly #access: CaseAccess;
  readonly #views: CaseViews;
  readonly #lists: CaseLists;
  readonly #options: Required<FeedOptions>;
  readonly #tail: FeedTail;
  readonly #cursors: Cursors<Place>;
  readonly #events: FeedEvents;
  readonly #scope: FeedScope;
  readonly #open = new Map<string, number>();
  readonly #steps = new Map<string, Promise<Step>>();
  readonly #closing = new AbortController();

  constructor(
    deps: Deps,
    parts: { access: CaseAccess; views: CaseViews; lists: CaseLists },
    options: FeedOptions = {},
  ) {
    this.#deps = deps;
    this.#access = parts.access;
    this.#views = parts.views;
    this.#lists = parts.lists;
    this.#options = {
      streamsOfPrincipal: 128,
      streams: 2_048,
      heartbeatMs: 15_000,
      gatherMs: 10,
      lookMs: 1_000,
      ...options,
    };
    this.#tail = new FeedTail(deps.store, this.#options);
    this.#cursors = new Cursors(deps.vault.box('feed-cursor'), placeSchema);
    this.#events = new FeedEvents(deps.origin, deps.now);
    this.#scope = new FeedScope(deps);
  }

  /**
   * Opens a stream on one case (any id of it) or, without one, on all. Throws `not-found` for a case
   * that one may not see, `invalid` for a place that is not of this caller and scope, `quota` when the
   * principal has too many open.
   */
  async open(
    principal: Principal,
    { case: id, ...given }: FeedQuery & { readonly case?: string },
    life: FeedLife,
  ): Promise<AsyncIterable<FeedStep>> {
    const query = parse(feedQuerySchema, given, 'query');
    const signal = AbortSignal.any([life.signal, this.#closing.signal]);
    const release = this.#take(principal);
    try {
      const { audience, first } = await this.#deps.store.read(async (reader) => {
        const open = id === undefined ? undefined : await this.#access.open(reader, principal, id);
        const activity = open?.activity;
        const { tenant, id: who, role } = principal;
        const found = { principal, activity, bound: [tenant, who, role, activity ?? 'all'] };
        return { audience: found, first: await this.#begin(reader, found, query.after) };
      });
      if (signal.aborted) {
        throw new ThroughlineError('unavailable', 'the feed is closed; ask again');
      }
      signal.addEventListener('abort', release, { once: true });
      return this.#run(audience, first, { ...life, signal, follow: query.follow });
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Ends all streams, and opens no more. */
  close(): void {
    this.#closing.abort();
  }

  /** Counts a stream, and keeps the tail at work, until the function that it gives is called. */
  #take({ tenant, id }: Principal): () => void {
    const key = JSON.stringify([tenant, id]);
    const { streams, streamsOfPrincipal } = this.#options;
    const own = this.#open.get(key) ?? 0;
    const all = [...this.#open.values()].reduce((sum, each) => sum + each, 0);
    if (own >= streamsOfPrincipal || all >= streams) {
      const isOwn = own >= streamsOfPrincipal;
      const limit = isOwn ? streamsOfPrincipal : streams;
      throw new ThroughlineError(
        'quota',
        `streams: the ${isOwn ? 'principal' : 'hub'} has its ${limit} open already; end one, or ask again later`,
        { details: { quota: 'streams', limit }, retryable: true },
      );
    }
    this.#open.set(key, own + 1);
    const leave = this.#tail.follow();
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      leave();
      const left = (this.#open.get(key) ?? 1) - 1;
      if (left === 0) this.#open.delete(key);
      else this.#open.set(key, left);
    };
  }

  async *#run(
    audience: Audience,
    first: Step,
    life: FeedLife & { readonly follow: boolean },
  ): AsyncGenerator<FeedStep> {
    const { signal, stillIn, follow } = life;
    const { heartbeatMs } = this.#options;
    let { place } = first;
    if (first.items.length > 0) {
      yield { items: first.items, cursor: this.#cursorOf(audience, place) };
    }
    let spokeAt = performance.now();
    while (!signal.aborted) {
      const untilDue = Math.max(0, spokeAt + heartbeatMs - performance.now());
      if (follow) await this.#tail.wait(place.s, untilDue, signal);
      if (signal.aborted) return;
      const { items, place: next, isLost } = await this.#next(audience, place, follow);
      if (isLost) return;
      const isEnd = !follow && next.s === place.s;
      place = next;
      if (items.length > 0 || performance.now() - spokeAt >= heartbeatMs) {
        const isOpen = items.length > 0 || (await this.#isOpen(audience));
        if (!isOpen || !(await stillIn()) || signal.aborted) return;
        yield { items, cursor: items.at(-1)?.cursor ?? this.#cursorOf(audience, place) };
        spokeAt = performance.now();
      }
      if (isEnd) return;
    }
  }

  /** Whether the case of a quiet stream may still be seen. */
  async #isOpen({ principal, activity }: Audience): Promise<boolean> {
    if (activity === undefined) return true;
    const find = (reader: StoreReader) => this.#access.find(reader, principal, activity);
    return (await this.#deps.store.read(find)) !== undefined;
  }

  /** The place to begin at, with what is to be said first. */
  async #begin(reader: StoreReader, audience: Audience, after: string | undefined): Promise<Step> {
    if (after === '0') return { items: [], place: beginning, isLost: false };
    if (after === undefined) return this.#snapshot(reader, audience);
    const place = this.#cursors.open(audience.bound, after);
    if (place.s === 0) return { items: [], place, isLost: false };
    const [entry] = await reader.log({ after: place.s - 1, limit: 1 });
    if (entry !== undefined && placeOf(entry).h === place.h) {
      return { items: [], place, isLost: false };
    }
    const step = await this.#snapshot(reader, audience);
    // With the same place again: who is cut off here is told again.
    const gap = this.#events.gap(this.#cursorOf(audience, place), 'other-history');
    return { ...step, items: [gap, ...step.items] };
  }

  async #snapshot(reader: StoreReader, audience: Audience): Promise<Step> {
    const place = placeOf(await reader.head());
    const cursor = this.#cursorOf(audience, place);
    const { principal, activity } = audience;
    if (activity !== undefined) {
      const data = { case: await this.#views.viewIn(reader, principal, activity) };
      const shown = await this.#access.find(reader, principal, activity);
      const item = this.#events.snapshot(cursor, data, shown?.record.sort);
      return { items: [item], place, isLost: false };
    }
    const cases = await this.#lists.listIn(reader, principal, { pageSize: stepLimit });
    const latest = cases.cases[0]?.activity;
    const shown = latest && (await this.#access.find(reader, principal, latest));
    const item = this.#events.snapshot(cursor, { cases }, shown ? shown.record.sort : 0);
    return { items: [item], place, isLost: false };
  }

  /**
   * One step; those who stand at the same place and may see the same take it together. `isTail`: what the
   * tail has at hand will do.
   */
  #next(audience: Audience, place: Place, isTail: boolean): Promise<Step> {
    const key = JSON.stringify([audience.bound, place.s, isTail]);
    const known = this.#steps.get(key);
    if (known !== undefined) return known;
    const step = this.#step(audience, place, isTail).finally(() => this.#steps.delete(key));
    this.#steps.set(key, step);
    return step;
  }

  async #step(audience: Audience, place: Place, isTail: boolean): Promise<Step> {
    const { activity } = audience;
    const known = isTail ? this.#tail.after(place.s, stepLimit) : undefined;
    const concerns = (entry: StoredLogEntry): boolean =>
      activity === undefined ? entry.activity !== undefined : entry.activity === activity;
    const last = known?.at(-1);
    if (known !== undefined && last !== undefined && !known.some(concerns)) {
      return { items: [], place: placeOf(last), isLost: false };
    }
    return this.#deps.store.read(async (reader) => {
      const { entries, end } =
        known === undefined
          ? await replay(reader, place, activity)
          : { entries: known, end: last === undefined ? place : placeOf(last) };
      const open = await this.#rights(reader, audience, entries.filter(concerns));
      const isLost = activity !== undefined && open.get(activity) === undefined;
      const items = isLost ? [] : await this.#items(reader, audience, entries, open);
      return { items, place: end, isLost };
    });
  }

  /** What the reader may see, by Activity, at this moment. */
  async #rights(
    reader: StoreReader,
    { principal, activity }: Audience,
    entries: readonly StoredLogEntry[],
  ): Promise<ReadonlyMap<string, OpenCase>> {
    const all = new Set(entries.flatMap((entry) => entry.activity ?? []));
    const named =
      activity === undefined ? await this.#scope.of(reader, principal, all) : [activity];
    const open = new Map<string, OpenCase>();
    for (const each of named) {
      const found = await this.#access.find(reader, principal, each);
      if (found !== undefined) open.set(each, found);
    }
    return open;
  }

  async #items(
    reader: StoreReader,
    audience: Audience,
    entries: readonly StoredLogEntry[],
    open: ReadonlyMap<string, OpenCase>,
  ): Promise<FeedItem[]> {
    const boxes = new CaseBoxes(this.#deps.vault, reader);
    const items: FeedItem[] = [];
    let gap: { reason: GapReason; first: number; last: number } | undefined;
    for (const entry of entries) {
      const of = open.get(entry.activity ?? '');
      if (of === undefined || entry.seq < of.from) continue;
      const told = await tell(entry, boxes);
      const cursor = this.#cursorOf(audience, placeOf(entry));
      if (typeof told !== 'string') {
        items.push(this.#events.assertion(cursor, maskAssertion(of.mask, told)));
        gap = undefined;
        continue;
      }
      if (gap?.reason === told) items.pop();
      gap = { reason: told, first: gap?.reason === told ? gap.first : entry.seq, last: entry.seq };
      items.push(this.#events.gap(cursor, told, { first: gap.first, last: gap.last }));
    }
    return items;
  }

  #cursorOf({ bound }: Audience, place: Place): string {
    return this.#cursors.seal(bound, place);
  }
}

/** The next entries from the store, and the place behind them; of one case without those between. */
async function replay(
  reader: StoreReader,
  place: Place,
  activity: string | undefined,
): Promise<{ entries: readonly StoredLogEntry[]; end: Place }> {
  const only = activity === undefined ? {} : { activity };
  const entries = await reader.log({ after: place.s, limit: stepLimit, ...only });
  const last = entries.length < stepLimit ? await reader.head() : entries.at(-1);
  return { entries, end: last === undefined || last.seq < place.s ? place : placeOf(last) };
}
