import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  feedTypes,
  type Assertion,
  type FeedEvent,
  type FeedItem,
  type FeedQuery,
  type Principal,
} from '../model/index.ts';
import { openMemoryStore } from '../store/index.ts';
import {
  bob,
  boss,
  mallory,
  priya,
  refusal,
  rivalBoss,
  Scene,
  stores,
  twoOnOneFile,
} from './conformance.ts';
import type { Hub } from './hub.ts';

const options = { feed: { heartbeatMs: 200, gatherMs: 1, lookMs: 50 } };

type Query = FeedQuery & { case?: string };

/** Reads a stream as far as a test wants. */
class Reader {
  readonly seen: FeedItem[] = [];
  /** Signs of life. */
  beats = 0;
  isOver = false;
  readonly #over = new AbortController();
  #stillIn = true;

  static async open(hub: Hub, by: Principal, query: Query = {}): Promise<Reader> {
    const reader = new Reader();
    const life = {
      signal: reader.#over.signal,
      stillIn: () => Promise.resolve(reader.#stillIn),
    };
    const stream = await hub.feed.open(by, query, life);
    void reader.#read(stream);
    return reader;
  }

  async #read(stream: AsyncIterable<{ items: readonly FeedItem[] }>): Promise<void> {
    for await (const { items } of stream) {
      this.seen.push(...items);
      if (items.length === 0) this.beats += 1;
    }
    this.isOver = true;
  }

  get events(): FeedEvent[] {
    return this.seen.map(({ event }) => event);
  }

  get assertions(): Assertion[] {
    return this.events.flatMap((event) => (event.type === feedTypes.assertion ? [event.data] : []));
  }

  get cursor(): string {
    return this.seen.at(-1)?.cursor ?? '';
  }

  lockOut(): void {
    this.#stillIn = false;
  }

  /** Waits until it is so; a test's own time limit ends it otherwise. */
  async until(isSo: (reader: this) => boolean): Promise<this> {
    while (!isSo(this)) await sleep(2);
    return this;
  }

  async leave(): Promise<this> {
    this.#over.abort();
    return this.until(({ isOver }) => isOver);
  }
}

/** All that the query gives by now. */
async function everything(hub: Hub, by: Principal, query: Query = {}): Promise<Reader> {
  const reader = await Reader.open(hub, by, { after: '0', ...query, follow: false });
  return reader.until(({ isOver }) => isOver);
}

const timelineOf = async (hub: Hub, by: Principal, id: string): Promise<Assertion[]> =>
  (await hub.timeline(by, id)).assertions;

describe.each(stores)('the feed (%s)', (_name, openStore) => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.open(openStore, options);
  });

  it('gives a case as it is, then what comes after, with no hole and nothing twice', async () => {
    const task = await scene.task(priya);
    const before = await timelineOf(scene.hub, priya, task.contextId);
    const reader = await Reader.open(scene.hub, priya, { case: task.contextId });
    await scene.move(task, 'completed');
    await reader.until(({ assertions }) => assertions.length > 0);
    const [snapshot] = reader.events;
    expect(snapshot).toMatchObject({
      specversion: '1.0',
      type: feedTypes.snapshot,
      source: 'https://hub.example',
      datacontenttype: 'application/json',
      sequence: String(before.at(-1)?.seq).padStart(16, '0'),
      data: { case: { tasks: [{ state: 'in-progress' }] } },
    });
    const after = (await timelineOf(scene.hub, priya, task.contextId)).slice(before.length);
    expect(reader.assertions).toEqual(after);
    expect(reader.events[1]).toMatchObject({ id: after[0]?.id, subject: after[0]?.about });
    await reader.leave();
  });

  it('goes on right after any event, for the same reader and scope alone', async () => {
    const task = await scene.task(priya);
    const { seen } = await everything(scene.hub, priya, { case: task.contextId });
    expect(seen.length).toBeGreaterThan(3);
    for (const [at, { cursor }] of seen.entries()) {
      const rest = await everything(scene.hub, priya, { case: task.contextId, after: cursor });
      expect(rest.events).toEqual(seen.slice(at + 1).map(({ event }) => event));
      const open = (by: Principal, query: Query) => refusal(everything(scene.hub, by, query));
      expect(await open(priya, { after: cursor })).toBe('invalid');
      expect(await open(boss, { case: task.contextId, after: cursor })).toBe('invalid');
    }
    for (const after of ['', '1', 'x'.repeat(60), `${seen[0]?.cursor}A`]) {
      expect(await refusal(everything(scene.hub, priya, { after }))).toBe('invalid');
    }
  });

  it('gives each what they may see, and to a stranger of a case what is not there', async () => {
    const mine = await scene.task(priya);
    await scene.task(bob);
    const own = (await everything(scene.hub, priya)).assertions;
    expect(own).toEqual(await timelineOf(scene.hub, priya, mine.contextId));
    const all = (await everything(scene.hub, boss)).assertions;
    expect(all.map(({ seq }) => seq)).toEqual(all.map(({ seq }) => seq).toSorted((a, b) => a - b));
    expect(new Set(all.map(({ activity }) => activity)).size).toBe(2);
    for (const by of [mallory, rivalBoss]) {
      expect((await everything(scene.hub, by)).events).toEqual([]);
    }
    for (const by of [bob, mallory, rivalBoss]) {
      const call = everything(scene.hub, by, { case: mine.contextId });
      expect(await refusal(call)).toBe('not-found');
    }
  });

  it('tells a grantee from the granted number on, and nothing after the grant has ended', async () => {
    const task = await scene.task(priya);
    const { seq } = await scene.state();
    const grant = await scene.hub.grant(priya, task.contextId, {
      grantee: bob.id,
      operations: ['get'],
      fromSequence: seq + 1,
    });
    expect((await everything(scene.hub, bob)).events).toEqual([]);
    const [one, all] = [
      await Reader.open(scene.hub, bob, { case: task.contextId, after: '0' }),
      await Reader.open(scene.hub, bob, { after: '0' }),
    ];
    const asked = await scene.move(task, 'awaiting', { awaiting: 'input' });
    for (const reader of [one, all]) {
      await reader.until(({ assertions }) => assertions.length > 0);
      expect(reader.assertions.every((each) => each.seq > seq)).toBe(true);
    }
    const seen = one.assertions.length;
    await scene.hub.revokeGrant(priya, grant.id);
    await scene.move(asked, 'completed');
    await one.until(({ isOver }) => isOver);
    const owned = await Reader.open(scene.hub, bob);
    await scene.task(bob);
    await owned.until(({ assertions }) => assertions.length > 0);
    await all.until(({ assertions }) => assertions.length > seen);
    for (const reader of [one, all]) {
      const told = reader.assertions.filter(
        ({ activity }) => activity === one.assertions[0]?.activity,
      );
      expect(told).toHaveLength(seen);
    }
    const again = everything(scene.hub, bob, { case: task.contextId, after: one.cursor });
    expect(await refusal(again)).toBe('not-found');
    await Promise.all([all.leave(), owned.leave()]);
  });

  it('ends for a grantee whose time is over, without an event', async () => {
    const task = await scene.task(priya);
    await scene.hub.grant(priya, task.contextId, {
      grantee: bob.id,
      operations: ['get'],
      expiresAt: new Date(scene.now.getTime() + 1_000).toISOString(),
    });
    const reader = await Reader.open(scene.hub, bob, { case: task.contextId });
    await reader.until(({ beats }) => beats > 0);
    scene.pass(1_001);
    await reader.until(({ isOver }) => isOver);
    expect(reader.events.map(({ type }) => type)).toEqual([feedTypes.snapshot]);
  });

  it('says where what was written has been erased', async () => {
    const task = await scene.task(priya);
    const { seen } = await everything(scene.hub, priya, { case: task.contextId });
    await scene.hub.eraseCase(priya, task.contextId);
    const now = await everything(scene.hub, priya, { case: seen[0]?.event.subject ?? '' });
    const gaps = now.events.flatMap((event) => (event.type === feedTypes.gap ? [event.data] : []));
    expect(gaps[0]).toMatchObject({
      reason: 'erased',
      first: seen.map(({ event }) => event).at(0)?.type && expect.any(Number),
    });
    const told = new Set(now.assertions.map(({ seq }) => seq));
    for (const { event } of seen) {
      if (event.type !== feedTypes.assertion) continue;
      const { seq } = event.data;
      const isInGap = gaps.some(({ first = 0, last = 0 }) => first <= seq && seq <= last);
      expect({ seq, isInGap, isTold: told.has(seq) }).toEqual({ seq, isInGap, isTold: !isInGap });
    }
    expect(now.assertions.at(-1)?.statement).toEqual({ says: 'activity.erased' });
    expect(JSON.stringify(now.events)).not.toContain('cash back');
  });

  it('a reader of a quiet feed hears that it is alive, and keeps a place that moves', async () => {
    const reader = await Reader.open(scene.hub, priya);
    await scene.task(bob);
    await reader.until(({ beats }) => beats > 1);
    expect(reader.events.map(({ type }) => type)).toEqual([feedTypes.snapshot]);
    await reader.leave();
  });
});

describe('the feed', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.open(() => openMemoryStore(), options);
  });

  it('tells who no longer shows a good key nothing more', async () => {
    const task = await scene.task(priya);
    const reader = await Reader.open(scene.hub, priya);
    await reader.until(({ seen }) => seen.length > 0);
    reader.lockOut();
    await scene.move(task, 'completed');
    await reader.until(({ isOver }) => isOver);
    expect(reader.assertions).toEqual([]);
  });

  it('says so where the reader’s place is of another history', async () => {
    await scene.task(priya);
    await scene.task(priya);
    const { cursor } = await everything(scene.hub, priya);
    // As after a restore from an old backup: the same domain key, another log.
    const restored = await Scene.open(() => openMemoryStore(), options);
    await restored.task(priya);
    for (const more of [0, 3]) {
      for (let i = 0; i < more; i++) await restored.task(priya);
      const { events } = await everything(restored.hub, priya, { after: cursor });
      expect(events.map(({ type }) => type)).toEqual([feedTypes.gap, feedTypes.snapshot]);
      expect(events[0]).toMatchObject({ data: { reason: 'other-history' } });
    }
  });

  it('has a bounded number of streams for each principal and for all', async () => {
    const bounded = await Scene.open(() => openMemoryStore(), {
      feed: { ...options.feed, streamsOfPrincipal: 2, streams: 3 },
    });
    const readers = [await Reader.open(bounded.hub, priya), await Reader.open(bounded.hub, priya)];
    expect(await refusal(Reader.open(bounded.hub, priya))).toBe('quota');
    readers.push(await Reader.open(bounded.hub, bob));
    expect(await refusal(Reader.open(bounded.hub, boss))).toBe('quota');
    await readers[0]?.leave();
    readers.push(await Reader.open(bounded.hub, boss));
    // What was refused holds no place.
    expect(await refusal(Reader.open(bounded.hub, priya, { after: 'none' }))).toBe('quota');
    await readers[1]?.leave();
    expect(await refusal(Reader.open(bounded.hub, priya, { after: 'none' }))).toBe('invalid');
    readers.push(await Reader.open(bounded.hub, priya));
    await bounded.hub.close();
    await Promise.all(readers.map((each) => each.until(({ isOver }) => isOver)));
    expect(
      await refusal(
        bounded.hub.feed.open(
          priya,
          {},
          { signal: new AbortController().signal, stillIn: () => Promise.resolve(true) },
        ),
      ),
    ).toBe('unavailable');
  });

  it(
    'who reads late gets what is no longer at hand from the store',
    { timeout: 120_000 },
    async () => {
      const late = await Reader.open(scene.hub, priya, { after: '0' });
      const task = await scene.task(priya);
      for (let i = 0; i < 700; i++)
        await scene.hub.labelCase(priya, task.contextId, {
          label: { name: 'n', value: String(i) },
        });
      const whole = await everything(scene.hub, priya);
      await late.until(({ seen }) => seen.length >= whole.seen.length);
      expect(late.events).toEqual(whole.events);
      expect(late.assertions.at(-1)).toMatchObject({ statement: { label: { value: '699' } } });
      await late.leave();
    },
  );
});

it('of two hubs on one file each tells what the other commits', async () => {
  const [a, b] = await twoOnOneFile();
  const here = await Scene.open(() => Promise.resolve(a), options);
  const there = await Scene.open(() => Promise.resolve(b), options);
  const reader = await Reader.open(there.hub, priya);
  const task = await here.task(priya);
  await reader.until(({ assertions }) => assertions.length > 3);
  expect(reader.assertions).toEqual(await timelineOf(here.hub, priya, task.contextId));
  await reader.leave();
});
