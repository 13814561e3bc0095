import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { serve } from '@hono/node-server';
import { expect, it } from 'vitest';
import type { FeedItem } from '../model/feed.ts';
import { hubApp } from './app.ts';
import { StubHub } from './conformance.ts';
import { eventStream } from './event-stream.ts';
import type { FeedStep } from './ports.ts';

const item = (n: number): FeedItem => ({
  cursor: `c${n}`,
  event: {
    specversion: '1.0',
    id: `c${n}`,
    source: 'https://hub.example',
    time: '2031-01-01T00:00:00Z',
    datacontenttype: 'application/json',
    type: 'dev.throughline.feed.gap',
    data: { reason: 'unreadable', first: n, last: n },
  },
});

/** Steps without end, and how many were asked for. */
function endless(filling = '') {
  const made = { steps: 0, isOver: false };
  async function* steps(signal: AbortSignal): AsyncGenerator<FeedStep> {
    while (!signal.aborted) {
      made.steps += 1;
      await sleep(0);
      yield { items: [{ ...item(made.steps), cursor: filling }], cursor: `c${made.steps}` };
    }
    made.isOver = true;
  }
  const open = (signal: AbortSignal) => {
    signal.addEventListener('abort', () => {
      made.isOver = true;
    });
    return Promise.resolve(steps(signal));
  };
  return { made, open };
}

async function* of(...steps: readonly FeedStep[]): AsyncGenerator<FeedStep> {
  yield* steps;
}

async function* failing(): AsyncGenerator<FeedStep> {
  yield { items: [item(1)], cursor: 'c1' };
  throw new Error('the store is away');
}

const live = {
  signal: new AbortController().signal,
  stalledMs: 30_000,
  drop: () => undefined,
  onFailure: (error: unknown) => {
    throw error;
  },
};

it('writes the events of a step at once, each with its id, and a sign of life as a comment', async () => {
  const steps = of({ items: [item(1), item(2)], cursor: 'c2' }, { items: [], cursor: 'c9' });
  const response = await eventStream(() => Promise.resolve(steps), live);
  expect(response.headers.get('Content-Type')).toBe('text/event-stream; charset=utf-8');
  const chunks: string[] = [];
  for await (const chunk of response.body ?? []) chunks.push(new TextDecoder().decode(chunk));
  const [head = '', two, sign, ...rest] = chunks;
  expect(head.length).toBeGreaterThan(2_048);
  expect(head.trimEnd()).toMatch(/^: +\n\nretry: \d+$/);
  expect(two?.split('\n\n').map((each) => each.split('\n')[0])).toEqual(['id: c1', 'id: c2', '']);
  expect(two).toContain(`data: ${JSON.stringify(item(2).event)}\n`);
  expect(sign).toBe(': still here\nid: c9\n\n');
  expect(rest).toEqual([]);
});

it('reads nothing for a reader that does not take, and drops it after a while', async () => {
  const { made, open } = endless();
  let isDropped = false;
  const drop = () => {
    isDropped = true;
  };
  const response = await eventStream(open, { ...live, drop, stalledMs: 30 });
  const reader = response.body?.getReader();
  await reader?.read();
  while (!made.isOver) await sleep(5);
  expect(made.steps).toBeLessThan(4);
  expect(isDropped).toBe(true);
});

it('stops when its reader goes', async () => {
  const { made, open } = endless();
  const response = await eventStream(open, live);
  await response.body?.cancel();
  expect(made.isOver).toBe(true);
});

it('ends when it can’t go on, and tells why to the hub alone', async () => {
  const failures: unknown[] = [];
  const onFailure = (error: unknown) => failures.push(error);
  const response = await eventStream(() => Promise.resolve(failing()), { ...live, onFailure });
  const text = await response.text();
  expect(text).toContain('id: c1');
  expect(text).not.toContain('the store is away');
  expect(failures).toEqual([new Error('the store is away')]);
});

it('cuts off a reader that holds its connection open and takes nothing', async () => {
  const { made, open } = endless('x'.repeat(200_000));
  const feed = {
    open: (_by: unknown, _query: unknown, { signal }: { signal: AbortSignal }) => open(signal),
  };
  const hub = Object.assign(new StubHub(), { feed });
  const app = hubApp(hub, { origin: 'http://127.0.0.1', stalledMs: 100 });
  const { promise: listening, resolve } = Promise.withResolvers<number>();
  const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) =>
    resolve(port),
  );
  const socket = connect(await listening, '127.0.0.1').pause();
  socket.on('error', () => undefined);
  socket.write('GET /feed HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer agent\r\n\r\n');
  while (!made.isOver) await sleep(5);
  // Nobody is connected any more, or this would never end.
  const { promise: closed, resolve: close } = Promise.withResolvers<undefined>();
  server.close(() => close(undefined));
  await closed;
  socket.destroy();
});
