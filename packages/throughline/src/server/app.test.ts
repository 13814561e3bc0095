import { request } from 'node:http';
import { connect } from 'node:net';
import { Hono } from 'hono';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import { limits } from '../model/limits.ts';
import type { Failure } from './app.ts';
import { agent, keys, named, samples, send, StubHub } from './conformance.ts';
import type { ServedHub } from './ports.ts';
import { serveHub, type ServedHubHandle } from './serve.ts';

const hub = new StubHub();
let served: ServedHubHandle<StubHub>;
const table = samples(agent.id);
const failures: Failure[] = [];

beforeAll(async () => {
  const desk = new Hono()
    .post('/', (c) => c.text('from the desk'))
    .get('/card', (c) => c.text('card'));
  served = await serveHub({
    hub,
    port: 0,
    mounts: () => ({ desk }),
    onFailure: (failure) => failures.push(failure),
  });
});
afterAll(() => served.close());
beforeEach(() => hub.reset());

describe('the table of routes', () => {
  it('has one sample for each route, and none besides', () => {
    expect(Object.keys(table).toSorted()).toEqual(named.map(({ name }) => name).toSorted());
  });

  it.each(named)('$name lets a request in order through to the hub', async ({ name, route }) => {
    const response = await send(served.url, route, table[name] ?? {}, { key: 'agent' });
    const asksKeysAlone = name === 'post /authenticate';
    expect(hub.reached).toHaveLength(asksKeysAlone ? 0 : 1);
    const isThere = ['post /authenticate', 'get /content/{id}', 'get /terms'].includes(name);
    expect(response.status).toBe(isThere ? 200 : 404);
  });

  it('is described as OpenAPI 3.1, one operation a route', async () => {
    const response = await fetch(`${served.url}/openapi.json`, {
      headers: { Authorization: 'Bearer agent' },
    });
    const description = z
      .object({
        openapi: z.literal('3.1.0'),
        paths: z.record(z.string(), z.record(z.string(), z.unknown())),
      })
      .parse(await response.json());
    const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    const all = [
      'get /health',
      'get /metrics',
      'post /sessions',
      'delete /sessions',
      ...named.map(({ name }) => name),
    ];
    expect(operations.toSorted()).toEqual(all.toSorted());
  });
});

describe('without a valid key', () => {
  const credentials = [undefined, '', 'Bearer', 'Bearer nobody', 'agent', 'Basic YTpi'];

  it.each(named)(
    '$name answers 401 with one body, and nothing reaches the hub',
    async ({ name, route }) => {
      const bodies = new Set<string>();
      for (const credential of credentials) {
        const headers: Record<string, string> =
          credential === undefined ? {} : { Authorization: credential };
        const response = await send(served.url, route, table[name] ?? {}, { headers });
        expect(response.status).toBe(401);
        expect(response.headers.get('WWW-Authenticate')).toBe('Bearer');
        bodies.add(await response.text());
      }
      expect(bodies.size).toBe(1);
      expect(hub.reached).toEqual([]);
    },
  );

  it.each(['/', '/openapi.json', '/nowhere', '/agents/nobody', '/cases/a/b/c'])(
    '%s tells nothing either',
    async (path) => {
      expect((await fetch(served.url + path)).status).toBe(401);
    },
  );

  it('/health answers that the hub is up, and no more', async () => {
    const response = await fetch(`${served.url}/health`);
    expect(await response.json()).toEqual({ ok: true });
  });
});

describe('for whom an agent calls', () => {
  const route = { method: 'post', path: '/authenticate' } as const;
  const whoIs = async (key: string, caller?: string) => {
    const headers: Record<string, string> =
      caller === undefined ? {} : { 'Throughline-Caller': caller };
    const response = await send(served.url, route, {}, { key, headers });
    return response.status === 200 ? response.json() : response.status;
  };

  it('is its own principal, or the one whose credential it hands on', async () => {
    expect(await whoIs('agent')).toEqual(agent);
    expect(await whoIs('agent', 'Bearer priya')).toEqual(keys['Bearer priya']);
  });

  it('is nobody with a bad credential, one of another tenant, or a key that is no agent’s', async () => {
    expect(await whoIs('agent', 'Bearer nobody')).toBe(401);
    expect(await whoIs('agent', 'Bearer other')).toBe(401);
    expect(await whoIs('priya', 'Bearer agent')).toBe(401);
  });

  it.each(['post /admissions', 'post /replies', 'put /tasks/{id}', 'get /tasks'])(
    '%s lets the hub know through whom the call came',
    async (name) => {
      const found = named.find((each) => each.name === name);
      if (found === undefined) throw new Error('no such route');
      const headers = { 'Throughline-Caller': 'Bearer priya' };
      await send(served.url, found.route, table[name] ?? {}, { key: 'agent', headers });
      const principal = keys['Bearer priya'];
      expect(hub.asking).toEqual({ principal, credential: 'Bearer priya', via: agent });
      await send(served.url, found.route, table[name] ?? {}, { key: 'priya' });
      expect(hub.asking).toEqual({ principal, credential: 'Bearer priya', via: principal });
    },
  );
});

describe('every answer', () => {
  it('has a request id of its own and the headers of safety', async () => {
    const [a, b] = await Promise.all([fetch(`${served.url}/health`), fetch(`${served.url}/cases`)]);
    for (const { headers } of [a, b]) {
      expect(headers.get('Cache-Control')).toBe('no-store');
      expect(headers.get('X-Content-Type-Options')).toBe('nosniff');
      expect(headers.get('X-Request-Id')).toMatch(/^[0-9a-f-]{36}$/);
    }
    expect(a.headers.get('X-Request-Id')).not.toBe(b.headers.get('X-Request-Id'));
  });

  it('to what goes wrong inside holds none of it; the log gets all, under the same id', async () => {
    hub.answer = () => Promise.reject(new TypeError('secret at /home/somebody'));
    const response = await fetch(`${served.url}/cases`, {
      headers: { Authorization: 'Bearer agent' },
    });
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('secret');
    expect(failures.at(-1)).toMatchObject({
      requestId: response.headers.get('X-Request-Id'),
      method: 'GET',
      path: '/cases',
      error: { message: 'secret at /home/somebody' },
    });
  });

  it('with content is a file, not a page', async () => {
    const { method, path } = { method: 'get', path: '/content/{id}' } as const;
    const response = await send(served.url, { method, path }, table['get /content/{id}'] ?? {}, {
      key: 'agent',
    });
    expect(response.headers.get('Content-Disposition')).toBe('attachment');
    expect(response.headers.get('Content-Type')).toBe('text/html');
    expect(await response.text()).toBe('<script>');
  });
});

/** Status of a request whose Host and Origin the client may choose. */
const raw = (headers: Record<string, string>): Promise<number | undefined> => {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  const sent = request(`${served.url}/health`, { headers }, (response) => {
    response.resume();
    resolve(response.statusCode);
  });
  sent.on('error', reject).end();
  return promise;
};

describe('a request from somebody else’s page', () => {
  it('is refused by its Host or its Origin', async () => {
    expect(await raw({ Host: 'evil.test' })).toBe(421);
    expect(await raw({ Origin: 'https://evil.test' })).toBe(403);
    expect(await raw({ Host: 'localhost', Origin: served.url })).toBe(200);
  });
});

describe('agents in the hub’s process', () => {
  it('answer under their name, with or without a slash, and see no key check of the hub', async () => {
    for (const path of ['/agents/desk', '/agents/desk/']) {
      const response = await fetch(served.url + path, { method: 'POST' });
      expect(await response.text()).toBe('from the desk');
      expect(response.headers.get('Cache-Control')).toBe('no-store');
    }
    expect(await (await fetch(`${served.url}/agents/desk/card`)).text()).toBe('card');
  });

  it('take up their work at the start, and come to rest before the hub is closed', async () => {
    const told: string[] = [];
    const failed: Failure[] = [];
    const rest = Promise.withResolvers<undefined>();
    const own = await serveHub({
      hub,
      port: 0,
      onFailure: (failure) => failed.push(failure),
      mounts: () => ({
        desk: {
          app: new Hono().get('/', (c) => c.text('desk')),
          resume: () => Promise.reject(new Error('nothing to take up')),
          drain: () => rest.promise.finally(() => told.push('at rest')),
        },
      }),
    });
    expect(await (await fetch(`${own.url}/agents/desk`)).text()).toBe('desk');
    expect(failed).toMatchObject([
      { path: '/agents/desk', error: { message: 'nothing to take up' } },
    ]);
    const closed = own.close().then(() => told.push('closed'));
    rest.resolve(undefined);
    await closed;
    expect(told).toEqual(['at rest', 'closed']);
  });

  it('get no body beyond the limit', async () => {
    const body = 'x'.repeat(limits.contentBytes + 1);
    const response = await fetch(`${served.url}/agents/desk`, { method: 'POST', body });
    expect(response.status).toBe(413);
  });
});

describe('serving', () => {
  it('is refused in plain HTTP where other machines reach it, unless that is allowed', async () => {
    await expect(serveHub({ hub, port: 0, host: '0.0.0.0' })).rejects.toMatchObject({
      code: 'invalid',
    });
    const allowed = { hub, port: 0, host: '0.0.0.0', allowPlainHttp: true };
    await expect(serveHub(allowed)).rejects.toThrow('name with origin');
    const open = await serveHub({ ...allowed, origin: 'https://hub.example.com' });
    await open.close();
  });

  it('survives what is no HTTP', async () => {
    const { port } = new URL(served.url);
    const garbage = [
      '\0\0\0\0',
      'GET\r\n\r\n',
      'POST /cases HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n',
      `GET /health HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`,
      'GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
      'GET http://[::bad/ HTTP/1.1\r\nHost: localhost\r\n\r\n',
      'GET /%zz HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer agent\r\n\r\n',
      'GET /health HTTP/1.1\r\n\r\n',
    ];
    for (const bytes of garbage) {
      const { promise: answered, resolve } = Promise.withResolvers<string>();
      const socket = connect(Number(port), '127.0.0.1', () => socket.end(bytes));
      let text = '';
      socket.on('data', (chunk) => (text += chunk.toString()));
      socket.on('error', () => undefined).on('close', () => resolve(text));
      expect(await answered).toMatch(/^(HTTP\/1\.1 4\d\d |$)/);
    }
    expect((await fetch(`${served.url}/health`)).status).toBe(200);
    expect(hub.reached).toEqual([]);
  });

  it('says when the port is taken', async () => {
    const port = Number(new URL(served.url).port);
    await expect(serveHub({ hub, port })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('choose another port'),
    });
  });

  it('answers 503 until the hub is open, and frees the port when it does not open', async () => {
    const opening = Promise.withResolvers<ServedHub>();
    const origin = Promise.withResolvers<string>();
    const starting = serveHub({
      port: 0,
      hub: (at) => {
        origin.resolve(at);
        return opening.promise;
      },
    });
    const early = await fetch(`${await origin.promise}/health`);
    expect(early.status).toBe(503);
    opening.reject(new ThroughlineError('damaged', 'the store is damaged'));
    await expect(starting).rejects.toMatchObject({ code: 'damaged' });
    await expect(fetch(await origin.promise)).rejects.toThrow('fetch failed');
  });

  it('lets a request under way end before it closes', async () => {
    const going = Promise.withResolvers<never>();
    const started = Promise.withResolvers<undefined>();
    hub.answer = () => {
      started.resolve(undefined);
      return going.promise;
    };
    const own = await serveHub({ hub, port: 0 });
    const response = fetch(`${own.url}/cases`, { headers: { Authorization: 'Bearer agent' } });
    await started.promise;
    const closed = own.close();
    going.reject(new ThroughlineError('not-found', 'none'));
    expect((await response).status).toBe(404);
    await closed;
    await expect(fetch(own.url)).rejects.toThrow('fetch failed');
  });
});
