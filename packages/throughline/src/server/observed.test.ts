import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Hono } from 'hono';
import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import { keys, StubHub } from './conformance.ts';
import { requestIdOf, type Answered } from './observed.ts';
import { serveHub, type ServedHubHandle } from './serve.ts';

const hub = new StubHub();
const answers: Answered[] = [];
let served: ServedHubHandle<StubHub>;

beforeAll(async () => {
  const desk = new Hono().get('/slow', (c) =>
    c.body(
      new ReadableStream({
        start: (controller) => void setTimeout(() => controller.close(), 30),
      }),
    ),
  );
  served = await serveHub({
    hub,
    port: 0,
    mounts: () => ({ desk }),
    onAnswer: (answered) => answers.push(answered),
    metrics: ({ id }) => (id === 'reader' ? Promise.resolve('figures 1\n') : undefined),
  });
});
afterAll(() => served.close());
beforeEach(() => {
  hub.reset();
  answers.length = 0;
});

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(served.url + path, { headers: { Authorization: 'Bearer agent', ...headers } });
const told = () => vi.waitFor(() => z.tuple([z.custom<Answered>()]).parse(answers)[0]);

describe('an answered request', () => {
  it.each([
    ['/health', '/health'],
    ['/cases/act_secret?label=secret', '/cases/{id}'],
    ['/cases/act_secret/timeline', '/cases/{id}/timeline'],
    ['/agents/desk/slow', '/agents/{name}'],
    ['/nowhere/secret', undefined],
  ])('%s is told by its route alone', async (path, route) => {
    const response = await get(path);
    await response.text();
    const answered = await told();
    expect(answered).toMatchObject({ method: 'GET', status: response.status });
    expect(answered.route).toBe(route);
    expect(JSON.stringify(answered)).not.toContain('secret');
    expect(answered.bytes).toBeGreaterThan(100);
  });

  it('is told when its stream is over', async () => {
    const response = await get('/agents/desk/slow');
    expect(answers).toEqual([]);
    await response.text();
    expect((await told()).ms).toBeGreaterThan(25);
  });

  it('says who asked, once that is known', async () => {
    await (await get('/terms')).text();
    expect((await told()).principal).toEqual(keys['Bearer agent']);
    answers.length = 0;
    await (await get('/terms', { Authorization: 'Bearer nobody' })).text();
    expect((await told()).principal).toBeUndefined();
  });

  it('names the trace that it is part of', async () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    await get('/health', { traceparent: `00-${traceId}-00f067aa0ba902b7-01` });
    expect((await told()).traceId).toBe(traceId);
  });
});

describe('the id of a request', () => {
  const id = '0b9f8c5e-5d6a-4a53-9f0c-1f2e3d4c5b6a';

  it('is the caller’s own where it is well-formed, in the header, the problem and the log', async () => {
    const response = await get('/nowhere', { 'X-Request-Id': id });
    expect(response.headers.get('X-Request-Id')).toBe(id);
    expect(await response.json()).toMatchObject({ requestId: id });
    expect((await told()).requestId).toBe(id);
  });

  it.each(['tlk_key', 'Priya Sharma', '', `${id}0`, `${id}, ${id}`, 'g'.repeat(32)])(
    'is a new one in place of %j',
    (given) => {
      expect(requestIdOf(given)).not.toBe(given);
      expect(requestIdOf(given)).toMatch(/^[0-9a-f-]{36}$/);
    },
  );

  it('is in the problem of a failure inside, whose words are not', async () => {
    hub.answer = () => Promise.reject(new ThroughlineError('internal', 'row of Priya'));
    const response = await get('/cases', { 'X-Request-Id': id });
    const text = await response.text();
    expect([response.status, JSON.parse(text)]).toMatchObject([500, { requestId: id }]);
    expect(text).not.toContain('Priya');
  });
});

describe('the figures', () => {
  const id0 = '0'.repeat(32);

  it('are for whom they are meant, and like no route to anybody else', async () => {
    const mine = await get('/metrics');
    expect([mine.status, await mine.text()]).toEqual([200, 'figures 1\n']);
    expect(mine.headers.get('Content-Type')).toContain('version=0.0.4');
    const nowhere = await get('/nowhere', { Authorization: 'Bearer priya', 'X-Request-Id': id0 });
    const theirs = await get('/metrics', { Authorization: 'Bearer priya', 'X-Request-Id': id0 });
    expect([theirs.status, await theirs.text()]).toEqual([404, await nowhere.text()]);
    expect((await fetch(`${served.url}/metrics`)).status).toBe(401);
  });
});
