import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Hub } from '../hub/index.ts';
import type { Principal } from '../model/principal.ts';
import { pageCodeSchema } from '../model/session.ts';
import { openMemoryStore } from '../store/index.ts';
import { hubApp } from './app.ts';
import { named, samples, type Sample } from './conformance.ts';
import type { Route } from './route.ts';

const operator: Principal = { tenant: 'shop', id: 'boss', role: 'operator' };
const origin = 'http://127.0.0.1:4680';
const own = { Host: '127.0.0.1:4680', Origin: origin, 'Sec-Fetch-Site': 'same-origin' };
const { Origin: _none, ...reading } = own;
let hub: Hub;
let key: string;
let app: ReturnType<typeof hubApp>;

beforeAll(async () => {
  hub = await Hub.open({ store: await openMemoryStore(), domainKey: new Uint8Array(32), origin });
  key = await hub.bootstrapKey(operator);
  app = hubApp(hub, { origin });
});
afterAll(() => hub.close());

const ask = async (
  method: string,
  path: string,
  headers: Record<string, string>,
  json?: unknown,
  to = app,
): Promise<Response> =>
  to.request(origin + path, {
    method,
    headers: { ...headers, ...(json === undefined ? {} : { 'Content-Type': 'application/json' }) },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  });

async function newCode(): Promise<string> {
  return (await hub.pageCode(`Bearer ${key}`)).code;
}

const cookieOf = (response: Response): string =>
  (response.headers.get('Set-Cookie') ?? '').split(';')[0] ?? '';

const signIn = async (headers: Record<string, string> = own): Promise<Response> =>
  ask('POST', '/sessions', headers, { code: await newCode() });

describe('signing in to the page', () => {
  it('takes a code, made with a key, for a cookie that no script and no other site gets', async () => {
    const made = await ask('POST', '/sessions/codes', {
      Host: own.Host,
      Authorization: `Bearer ${key}`,
    });
    const { code } = pageCodeSchema.parse(await made.json());
    const response = await ask('POST', '/sessions', own, { code });
    expect(response.status).toBe(204);
    const [pair, ...rest] = (response.headers.get('Set-Cookie') ?? '').split('; ');
    expect(pair).toMatch(/^throughline-4680=[\w-]{43}$/);
    expect(rest.toSorted()).toEqual(['HttpOnly', 'Max-Age=43200', 'Path=/', 'SameSite=Strict']);
    const who = await ask('POST', '/authenticate', { ...own, Cookie: pair ?? '' });
    expect(await who.json()).toEqual(operator);
    expect((await ask('POST', '/sessions', own, { code })).status).toBe(401);
  });

  it('over https gives a cookie that is bound to the host and to https', async () => {
    const https = 'https://hub.example.com';
    const headers = { Host: 'hub.example.com', Origin: https, 'Sec-Fetch-Site': 'same-origin' };
    const behind = hubApp(hub, { origin: https });
    const response = await ask('POST', '/sessions', headers, { code: await newCode() }, behind);
    expect(response.headers.get('Set-Cookie')).toMatch(/^__Host-throughline=[\w-]{43}; .*Secure/);
  });

  it.each([
    ['another site’s page', { ...own, 'Sec-Fetch-Site': 'cross-site' }],
    [
      'a page on another port',
      { ...own, Origin: 'http://127.0.0.1:9', 'Sec-Fetch-Site': 'same-site' },
    ],
    ['an Origin on another port', { ...own, Origin: 'http://127.0.0.1:9' }],
    ['what is no page', { Host: own.Host }],
  ])('is refused to %s, and the code stays good', async (_who, headers) => {
    const code = await newCode();
    expect((await ask('POST', '/sessions', headers, { code })).status).toBe(401);
    expect((await ask('POST', '/sessions', own, { code })).status).toBe(204);
  });

  it.each([{}, { code: 1 }, { code: 'x'.repeat(23) }, { code: 'x'.repeat(22), more: 1 }])(
    'refuses what is no code: %j',
    async (json) => {
      const response = await ask('POST', '/sessions', own, json);
      expect(response.status).toBe(400);
      expect(response.headers.has('Set-Cookie')).toBe(false);
    },
  );

  it('refuses a code that nobody made, and a body that is too long', async () => {
    expect((await ask('POST', '/sessions', own, { code: 'A'.repeat(22) })).status).toBe(401);
    expect((await ask('POST', '/sessions', own, { code: 'A'.repeat(2_000) })).status).toBe(413);
  });

  it('makes no code for a session or for nobody', async () => {
    const Cookie = cookieOf(await signIn());
    expect((await ask('POST', '/sessions/codes', { ...own, Cookie })).status).toBe(401);
    expect((await ask('POST', '/sessions/codes', own)).status).toBe(401);
  });
});

const table = samples('reader');
const fill = ({ path }: Route, { params = {}, query = {} }: Sample): string => {
  const text = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? '');
  return `${text}?${new URLSearchParams(query).toString()}`;
};
const readable = [
  'get /tasks/{id}',
  'get /cases',
  'get /cases/{id}',
  'get /cases/{id}/handovers/{taskId}/texts',
  'get /cases/{id}/timeline',
  'get /cases/{id}/feed',
  'get /feed',
  'get /explain',
  'post /authenticate',
];

describe('the page’s cookie', () => {
  it.each(named)('$name takes it only where the page reads', async ({ name, route }) => {
    const sample = table[name] ?? {};
    const Cookie = cookieOf(await signIn());
    const headers = { ...own, Cookie };
    const { status } = await ask(
      route.method.toUpperCase(),
      fill(route, sample),
      headers,
      sample.json,
    );
    if (readable.includes(name)) expect([200, 404]).toContain(status);
    else expect(status).toBe(401);
  });

  it('does not count for what the API says of itself, nor with a credential handed on', async () => {
    const headers = { ...own, Cookie: cookieOf(await signIn()) };
    expect((await ask('GET', '/openapi.json', headers)).status).toBe(401);
    const handedOn = { ...headers, 'Throughline-Caller': `Bearer ${key}` };
    expect((await ask('POST', '/authenticate', handedOn)).status).toBe(401);
  });

  it.each([
    ['by the hub’s own page', 200, reading],
    ['under another name of this machine', 200, { ...reading, Host: 'localhost:4680' }],
    ['by another site', 401, { ...reading, 'Sec-Fetch-Site': 'cross-site' }],
    ['by another port', 401, { ...reading, 'Sec-Fetch-Site': 'same-site' }],
    ['by the address bar', 401, { ...reading, 'Sec-Fetch-Site': 'none' }],
    ['by what does not say where from', 401, { Host: own.Host }],
    ['with the Origin of another port', 401, { ...own, Origin: 'http://127.0.0.1:9' }],
    ['with a foreign Origin', 403, { ...own, Origin: 'https://evil.test' }],
  ] as const)('shown %s is answered with %i %o', async (_by, status, headers) => {
    const Cookie = cookieOf(await signIn());
    expect((await ask('GET', '/cases', { ...headers, Cookie })).status).toBe(status);
  });

  it('is nobody’s when altered, and does not help a bad key', async () => {
    const Cookie = cookieOf(await signIn());
    const altered = Cookie.replace(/=(.)/, (_, first: string) => (first === 'A' ? '=B' : '=A'));
    expect((await ask('GET', '/cases', { ...reading, Cookie: altered })).status).toBe(401);
    const headers = { ...reading, Cookie, Authorization: 'Bearer tlk_bad' };
    expect((await ask('GET', '/cases', headers)).status).toBe(401);
  });

  it('is taken back from the page alone, and then opens nothing', async () => {
    const Cookie = cookieOf(await signIn());
    const foreign = { ...own, Cookie, 'Sec-Fetch-Site': 'cross-site' };
    expect((await ask('DELETE', '/sessions', foreign)).status).toBe(401);
    expect((await ask('GET', '/cases', { ...reading, Cookie })).status).toBe(200);
    const ended = await ask('DELETE', '/sessions', { ...own, Cookie });
    expect(ended.status).toBe(204);
    expect(ended.headers.get('Set-Cookie')).toMatch(/^throughline-4680=; Max-Age=0/);
    expect((await ask('GET', '/cases', { ...reading, Cookie })).status).toBe(401);
  });

  it('opens nothing once the key is revoked that its code was made with', async () => {
    const made = await hub.createKey(operator, { principal: operator });
    const { code } = await hub.pageCode(`Bearer ${made.key}`);
    const Cookie = cookieOf(await ask('POST', '/sessions', own, { code }));
    expect((await ask('GET', '/cases', { ...reading, Cookie })).status).toBe(200);
    await hub.revokeKey(operator, made.id);
    expect((await ask('GET', '/cases', { ...reading, Cookie })).status).toBe(401);
  });
});
