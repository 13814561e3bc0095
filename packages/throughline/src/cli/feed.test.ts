import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, expect, it } from 'vitest';
import { HubClient } from '../client/index.ts';
import { Hub } from '../hub/index.ts';
import { feedTypes, type FeedEvent, type FeedItem } from '../model/feed.ts';
import { makeId } from '../model/ids.ts';
import type { Principal } from '../model/principal.ts';
import { serveHub } from '../server/index.ts';
import { openMemoryStore, openSqliteStore, type Store } from '../store/index.ts';
import { startPostgres } from '../store/postgres/conformance.ts';
import { openPostgresStore } from '../store/postgres.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const operator: Principal = { tenant: 'local', id: 'boss', role: 'operator' };
const folder = () => mkdtempSync(join(tmpdir(), 'feed-'));

async function serve(store: Store, port = 0) {
  const served = await serveHub({
    port,
    hub: (origin) =>
      Hub.open({
        store,
        domainKey: new Uint8Array(32).fill(7),
        origin,
        feed: { heartbeatMs: 100, lookMs: 50 },
      }),
  });
  const { hub, url } = served;
  return { hub, url, close: () => served.close() };
}

/** Opens cases and says something of them; what is refused or thrown leaves nothing. */
async function openCase(hub: Hub, by: Principal, n: number): Promise<string> {
  const master = hub.master(by);
  const self = await master.participant({ kind: 'agent', principal: by.id });
  const activity = makeId('activity', randomBytes(16));
  await master.assert([
    {
      about: activity,
      statement: { says: 'activity.opened', initiator: self, objective: `case ${n}` },
    },
  ]);
  return activity;
}

const label = (hub: Hub, by: Principal, activity: string, value: string) =>
  hub.labelCase(by, activity, { label: { name: 'n', value } });

/** The global fetch, whose streams break off after some pieces. */
const cutting =
  (random: () => number, pieces: number): typeof fetch =>
  async (input, init) => {
    const response = await fetch(input, init);
    if (response.headers.get('Content-Type')?.startsWith('text/event-stream') !== true) {
      return response;
    }
    let left = 1 + Math.floor(random() * pieces);
    const cut = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        left -= 1;
        // In the middle of a piece, as networks do.
        const part = chunk.subarray(
          0,
          left === 0 ? Math.floor(chunk.length * random()) : undefined,
        );
        controller.enqueue(part);
        if (left === 0) controller.error(new TypeError('terminated'));
      },
    });
    return new Response(response.body?.pipeThrough(cut), response);
  };

/** Numbers without a pattern, the same ones for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const seqsOf = (items: readonly FeedItem[]): number[] =>
  items.flatMap(({ event }) => (event.type === feedTypes.assertion ? [event.data.seq] : []));

/** Follows until it has seen an event that a test waits for. */
async function follow(
  client: HubClient,
  isLast: (event: FeedEvent) => boolean,
  options: Parameters<HubClient['feed']['follow']>[0] = {},
): Promise<FeedItem[]> {
  const items: FeedItem[] = [];
  for await (const item of client.feed.follow(options)) {
    items.push(item);
    if (isLast(item.event)) break;
  }
  return items;
}

const refusedWith = (code: string, reading: Promise<unknown>) =>
  expect(reading).rejects.toMatchObject({ code });

const isLabel =
  (value: string) =>
  (event: FeedEvent): boolean =>
    event.type === feedTypes.assertion &&
    event.data.statement.says === 'activity.labelled' &&
    event.data.statement.label.value === value;

/**
 * Writers at every hub, some of whose works end late, some not at all, while 100 readers, spread over
 * the hubs and cut off again and again, follow.
 */
async function hundredReaders(
  stores: readonly [Store, ...Store[]],
  { pieces, rounds }: { pieces: number; rounds: number },
): Promise<void> {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const hubs = await Promise.all(stores.map((store) => serve(store)));
  for (const each of hubs) closing.push(each.close);
  const [first] = hubs;
  if (first === undefined) throw new Error('one at least');
  const key = await first.hub.bootstrapKey(operator);
  const cases = await Promise.all([1, 2, 3].map((n) => openCase(first.hub, operator, n)));
  const reading = Array.from({ length: 100 }, (_, i) => {
    const { url } = hubs[i % hubs.length] ?? first;
    const client = new HubClient({ url, key, fetch: cutting(randomOf(seed + i), pieces) });
    return follow(client, isLabel('last'), { after: '0' });
  });
  const random = randomOf(seed);
  const writing = hubs.flatMap(({ hub }, at) =>
    Array.from({ length: 4 }, async (_, writer) => {
      for (let i = 0; i < rounds; i++) {
        const activity = cases[Math.floor(random() * cases.length)] ?? '';
        await label(hub, operator, activity, `${at}.${writer}.${i}`);
        const undone = stores[at]?.write(async (w) => {
          await w.append([
            { id: `asr_undone_${at}_${writer}_${i}`, about: activity, activity, shape: {} },
          ]);
          for (let turn = 0; turn < (4 - writer) * 3; turn++)
            await w.edges([activity], { direction: 'out' });
          throw new Error('changed my mind');
        });
        await undone?.catch(() => undefined);
        if (random() < 0.3) await setImmediate();
      }
    }),
  );
  await Promise.all(writing);
  await label(first.hub, operator, cases[0] ?? '', 'last');
  const log = await stores[0].read((reader) => reader.log({ after: 0, limit: 100_000 }));
  const all = log.filter(({ activity }) => activity !== undefined).map(({ seq }) => seq);
  expect(all.length).toBeGreaterThan(4 * rounds);
  for (const items of await Promise.all(reading)) {
    expect({ seed, seqs: seqsOf(items) }).toEqual({ seed, seqs: all });
  }
}

it(
  '100 readers over HTTP, cut off at random, get each event once and in order (SQLite)',
  { timeout: 120_000 },
  async () => {
    const store = await openSqliteStore({ path: join(folder(), 'hub.sqlite') });
    closing.push(() => store.close());
    await hundredReaders([store], { pieces: 12, rounds: 20 });
  },
);

it('a stream that breaks off before its first event is opened again', async () => {
  const store = await openMemoryStore();
  const { hub, url, close } = await serve(store);
  closing.push(() => store.close(), close);
  const key = await hub.bootstrapKey(operator);
  const activity = await openCase(hub, operator, 1);
  await label(hub, operator, activity, 'last');
  let streams = 0;
  const once: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (response.headers.get('Content-Type')?.startsWith('text/event-stream') !== true) {
      return response;
    }
    streams += 1;
    if (streams > 1) return response;
    await response.body?.cancel();
    const broken = new ReadableStream({ pull: (to) => to.error(new TypeError('terminated')) });
    return new Response(broken, response);
  };
  const client = new HubClient({ url, key, fetch: once });
  expect((await follow(client, isLabel('last'), { after: '0' })).length).toBeGreaterThan(1);
  expect(streams).toBe(2);
});

it(
  '100 readers over HTTP of two hubs on one PostgreSQL get them too, whichever they ask',
  { timeout: 180_000 },
  async () => {
    const server = await startPostgres();
    closing.push(() => server.stop());
    const url = await server.fresh();
    const stores = [await openPostgresStore({ url }), await openPostgresStore({ url })] as const;
    for (const store of stores) closing.push(() => store.close());
    await hundredReaders(stores, { pieces: 40, rounds: 10 });
  },
);

it(
  'a reader goes on over a restart of the hub, and says meanwhile that it is cut off',
  { timeout: 120_000 },
  async () => {
    const path = join(folder(), 'hub.sqlite');
    const before = await openSqliteStore({ path });
    const first = await serve(before);
    const key = await first.hub.bootstrapKey(operator);
    const activity = await openCase(first.hub, operator, 1);
    const states: string[] = [];
    const client = new HubClient({ url: first.url, key });
    const onState = (state: string) => states.push(state);
    const reading = follow(client, isLabel('after'), { case: activity, onState });
    while (states.length === 0) await sleep(5);
    await label(first.hub, operator, activity, 'before');
    await first.close();
    await label(first.hub, operator, activity, 'while nobody listens');
    await first.hub.close();
    const store = await openSqliteStore({ path });
    closing.push(() => store.close());
    const second = await serve(store, Number(new URL(first.url).port));
    closing.push(second.close);
    await label(second.hub, operator, activity, 'after');
    const items = await reading;
    const { assertions } = await second.hub.timeline(operator, activity);
    expect(items[0]?.event.type).toBe(feedTypes.snapshot);
    expect(seqsOf(items)).toEqual(assertions.slice(1).map(({ seq }) => seq));
    expect(states).toEqual(['live', 'reconnecting', 'live']);
  },
);

it(
  'ends with what the hub says once a key counts no more, a case is gone, or a place is none',
  { timeout: 120_000 },
  async () => {
    const { hub, url, close } = await serve(await openMemoryStore());
    closing.push(close);
    const guest: Principal = { tenant: 'local', id: 'guest', role: 'operator' };
    const { id, key } = await hub.createKey(operator, { principal: guest });
    const activity = await openCase(hub, operator, 1);
    const client = new HubClient({ url, key });
    await refusedWith(
      'invalid',
      follow(client, () => true, { after: 'x'.repeat(80) }),
    );
    await refusedWith(
      'not-found',
      follow(client, () => true, { case: `act_${'0'.repeat(26)}` }),
    );
    const states: string[] = [];
    const seen: FeedItem[] = [];
    const reading = follow(
      client,
      (event) => {
        seen.push({ cursor: '', event });
        return false;
      },
      { case: activity, onState: (state) => states.push(state) },
    );
    const ended = refusedWith('unauthenticated', reading);
    while (seen.length === 0) await sleep(5);
    await hub.revokeKey(operator, id);
    await label(hub, operator, activity, 'secret');
    await ended;
    expect(seqsOf(seen)).toEqual([]);
    await refusedWith(
      'unauthenticated',
      follow(client, () => true),
    );
  },
);

it('no proxy is to keep what it sends, and Last-Event-ID goes before the address', async () => {
  const { hub, url, close } = await serve(await openMemoryStore());
  closing.push(close);
  const key = await hub.bootstrapKey(operator);
  const activity = await openCase(hub, operator, 1);
  await label(hub, operator, activity, 'one');
  await label(hub, operator, activity, 'two');
  const client = new HubClient({ url, key });
  const items = await follow(client, isLabel('two'), { after: '0' });
  const ask = async (query: string, headers: Record<string, string> = {}) => {
    const all = { Authorization: `Bearer ${key}`, ...headers };
    const response = await fetch(`${url}/cases/${activity}/feed?follow=false${query}`, {
      headers: all,
    });
    return { response, text: await response.text() };
  };
  const { response } = await ask('');
  expect(response.headers.get('Cache-Control')).toBe('no-store, no-transform');
  expect(response.headers.get('X-Accel-Buffering')).toBe('no');
  const own = await follow(client, isLabel('two'), { after: '0', case: activity });
  expect(own.map(({ event }) => event)).toEqual(items.map(({ event }) => event));
  const [first, second] = own.map(({ cursor }) => cursor);
  const byAddress = await ask(`&after=${first}`);
  expect(byAddress.text.match(/^data: /gm)).toHaveLength(own.length - 1);
  const byHeader = await ask(`&after=${first}`, { 'Last-Event-ID': second ?? '' });
  expect(byHeader.text.match(/^data: /gm)).toHaveLength(own.length - 2);
});

it('200 readers that take nothing cost the hub next to nothing', { timeout: 60_000 }, async () => {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect !== 'function') throw new Error('no garbage collection to be had');
  const heap = (): number => {
    Reflect.apply(collect, undefined, []);
    return process.memoryUsage().heapUsed;
  };
  const store = await openMemoryStore();
  const domainKey = new Uint8Array(32).fill(7);
  const hub = await Hub.open({
    store,
    domainKey,
    origin: 'https://hub.example',
    feed: { streamsOfPrincipal: 200 },
  });
  closing.push(() => hub.close());
  const over = new AbortController();
  const life = { signal: over.signal, stillIn: () => Promise.resolve(true) };
  const activity = await openCase(hub, operator, 1);
  let said = 0;
  const say = async (times: number): Promise<void> => {
    for (let i = 0; i < times; i++)
      await label(hub, operator, activity, `${said++} ${'x'.repeat(240)}`);
  };
  // What the entries themselves take in the store, without readers.
  const empty = heap();
  await say(300);
  const alone = heap() - empty;
  const streams = await Promise.all(
    Array.from({ length: 200 }, async () => {
      const stream = await hub.feed.open(operator, {}, life);
      const steps = stream[Symbol.asyncIterator]();
      await steps.next();
      return { steps, next: steps.next() };
    }),
  );
  const before = heap();
  await say(300);
  for (const { next } of streams) await next;
  const withReaders = heap() - before;
  expect((await hub.health()).seq).toBeGreaterThan(600);
  expect(withReaders).toBeLessThan(alone + 200 * 100_000);
  over.abort();
});
