import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { makeProofKey, type ProofKey } from '../agent/proof-key.ts';
import { Hub } from '../hub/index.ts';
import type { ContentRef } from '../model/content.ts';
import type { Principal } from '../model/principal.ts';
import { openMemoryStore } from '../store/index.ts';
import { serveHub, type Answered, type Failure, type ServedHubHandle } from './index.ts';

const desk: Principal = { tenant: 't', id: 'desk', role: 'agent' };
const reader: Principal = { tenant: 't', id: 'reader', role: 'agent' };
const operator: Principal = { tenant: 't', id: 'op', role: 'operator' };

let served: ServedHubHandle<Hub>;
let keys: { desk: string; reader: string };
let activity: string;
let terms: ContentRef;
let key: ProofKey;
const told: (Answered | Failure)[] = [];

beforeAll(async () => {
  served = await serveHub({
    port: 0,
    stalledMs: 200,
    onAnswer: (answered) => void told.push(answered),
    onFailure: (failure) => void told.push(failure),
    hub: async (origin) =>
      Hub.open({
        store: await openMemoryStore(),
        domainKey: new Uint8Array(32).fill(7),
        origin,
        content: { inUrls: true },
      }),
  });
  const { hub } = served;
  const made = async (principal: Principal) => (await hub.createKey(operator, { principal })).key;
  keys = { desk: await made(desk), reader: await made(reader) };
  key = await makeProofKey();
  const master = hub.master(desk);
  const [self, peer] = [
    await master.participant({ kind: 'agent', principal: desk.id }),
    await master.participant({ kind: 'tool', url: 'https://tool.example/' }),
  ];
  const [dialog, resource] = [master.newId('dialog'), master.newId('resource')];
  activity = resource.replace('res_', 'act_');
  await master.assert([
    { about: activity, statement: { says: 'activity.opened', initiator: self } },
    {
      about: dialog,
      statement: { says: 'dialog.opened', activity, participants: [self, peer], managed: 'none' },
    },
  ]);
  const bytes = Buffer.from('0123456789');
  terms = await master.putContent({ activity, resource, mediaType: 'text/plain', bytes });
});
afterAll(async () => {
  await served.close();
  await served.hub.close();
});

const make = (more: { thumbprint?: string; inUrl?: boolean } = {}): Promise<string> =>
  served.hub
    .master(desk)
    .readToken({ uris: [terms.uri], audience: reader.id, seconds: 60, ...more });
const get = (headers: Record<string, string>, query = '', method = 'GET') =>
  fetch(`${terms.uri}${query}`, { method, headers });
const asReader = (token: string, more: Record<string, string> = {}): Record<string, string> => ({
  Authorization: `Bearer ${keys.reader}`,
  'Throughline-Content-Token': token,
  ...more,
});

describe('content over HTTP', () => {
  it('comes with its digest, for a reader with a key and a token', async () => {
    const response = await get(asReader(await make()));
    expect(await response.text()).toBe('0123456789');
    const digest = createHash('sha256').update('0123456789').digest('base64');
    expect(response.headers.get('Content-Digest')).toBe(`sha-256=:${digest}:`);
  });

  it('does not wait in memory for a reader that takes nothing', async () => {
    const master = served.hub.master(desk);
    const bytes = new Uint8Array(8_000_000);
    const large = await master.putContent({
      activity,
      resource: master.newId('resource'),
      mediaType: 'application/octet-stream',
      bytes,
    });
    const { hostname, port, pathname } = new URL(large.uri);
    const socket = connect({ host: hostname, port: Number(port) });
    socket.write(
      `GET ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${keys.desk}\r\n\r\n`,
    );
    await once(socket, 'readable');
    await setTimeout(2_000);
    let taken = 0;
    socket.on('data', (chunk) => (taken += chunk.length)).on('error', () => {});
    await once(socket, 'close');
    expect(taken).toBeLessThan(bytes.length);
  });

  it('comes in parts, each with the digest of the part', async () => {
    const query = new URLSearchParams({
      conformsTo: 'http://tools.ietf.org/rfc/rfc9110',
      value: 'bytes=2-4',
    });
    const own = { Authorization: `Bearer ${keys.desk}` };
    const response = await get(own, `?${query.toString()}`);
    expect(await response.text()).toBe('234');
    const digest = createHash('sha256').update('234').digest('base64');
    expect(response.headers.get('Content-Digest')).toBe(`sha-256=:${digest}:`);
    expect((await get(own, '?value=bytes%3D2-4')).status).toBe(400);
  });

  it('is opened by a bound token with a fresh proof alone', async () => {
    const token = await make({ thumbprint: key.thumbprint });
    const proof = () => key.prove('GET', terms.uri, token);
    expect((await get(asReader(token))).status).toBe(404);
    const used = await proof();
    expect((await get(asReader(token, { DPoP: used }))).status).toBe(200);
    expect((await get(asReader(token, { DPoP: used }))).status).toBe(404);
    expect((await get(asReader(token, { DPoP: await proof() }))).status).toBe(200);
  });

  it('is opened for longer by a token that its reader renews', async () => {
    const token = await served.hub.master(desk).readToken({
      uris: [terms.uri],
      audience: reader.id,
      seconds: 1,
      renewableSeconds: 60,
    });
    let over = await get(asReader(token));
    while (over.status === 200) {
      await setTimeout(100);
      over = await get(asReader(token));
    }
    expect(over.status).toBe(410);
    const { details } = z
      .object({ details: z.object({ renew: z.url() }) })
      .parse(await over.json());
    const renew = (by: string) =>
      fetch(details.renew, {
        method: 'POST',
        headers: { Authorization: `Bearer ${by}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ token }),
      });
    expect((await renew(keys.desk)).status).toBe(404);
    const renewed = z.object({ token: z.string() }).parse(await (await renew(keys.reader)).json());
    expect(await (await get(asReader(renewed.token))).text()).toBe('0123456789');
  });

  it('is opened without a key of the hub by a delegate that proves its own', async () => {
    const delegate = await makeProofKey();
    const response = await fetch(new URL('/content-tokens/narrow', terms.uri), {
      method: 'POST',
      headers: { Authorization: `Bearer ${keys.reader}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({
        token: await make(),
        uris: [terms.uri],
        seconds: 30,
        thumbprint: delegate.thumbprint,
      }),
    });
    const { token }: { token: string } = JSON.parse(await response.text());
    const headers = async () => ({
      'Throughline-Content-Token': token,
      DPoP: await delegate.prove('GET', terms.uri, token),
    });
    expect(await (await get(await headers())).text()).toBe('0123456789');
    // It hands on less of it in the same way.
    const next = await makeProofKey();
    const narrow = new URL('/content-tokens/narrow', terms.uri).href;
    const body = { token, uris: [terms.uri], seconds: 9, thumbprint: next.thumbprint };
    const ask = async (by: ProofKey, given: unknown = body) =>
      fetch(narrow, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          DPoP: await by.prove('POST', narrow, token),
        },
        body: JSON.stringify(given),
      });
    expect((await ask(key)).status).toBe(401);
    expect((await ask(delegate, { token })).status).toBe(400);
    const further: { token: string } = JSON.parse(await (await ask(delegate)).text());
    const last = await get({
      'Throughline-Content-Token': further.token,
      DPoP: await next.prove('GET', terms.uri, further.token),
    });
    expect(last.status).toBe(200);
    const stolen = { ...(await headers()), DPoP: await key.prove('GET', terms.uri, token) };
    expect((await get(stolen)).status).toBe(401);
    expect((await get({ 'Throughline-Content-Token': token })).status).toBe(401);
  });
});

describe('a link to content', () => {
  it('opens once, leaves nothing behind, and is told to nobody', async () => {
    const token = await make({ inUrl: true });
    const response = await get({}, `?ctx=${token}`);
    expect(await response.text()).toBe('0123456789');
    expect(response.headers.get('Cache-Control')).toBe('no-store');
    expect(response.headers.get('Referrer-Policy')).toBe('no-referrer');
    expect((await get({}, `?ctx=${token}`)).status).toBe(401);
    expect(JSON.stringify(told)).not.toContain(token.slice(-40));
  });

  it('is for reading alone', async () => {
    const token = await make({ inUrl: true });
    for (const method of ['POST', 'PUT', 'DELETE']) {
      expect((await get({}, `?ctx=${token}`, method)).status).toBe(401);
    }
    // A look at its head is no reading.
    expect((await get({}, `?ctx=${token}`, 'HEAD')).status).toBe(401);
    expect((await get({}, `?ctx=${token}&value=x`)).status).toBe(400);
    expect((await get({}, `?ctx=${token}&other=x`)).status).toBe(400);
    expect((await get({}, `?ctx=${token}`)).status).toBe(200);
  });

  it('answers the same without a right, whether the content is there or not', async () => {
    const missing = terms.uri.replace(/.{6}$/, '000000');
    const texts = [];
    for (const uri of [terms.uri, missing]) {
      const response = await fetch(`${uri}?ctx=${await make()}`);
      const { requestId: _id, ...rest } = Object(await response.json());
      texts.push(JSON.stringify({ status: response.status, ...rest }));
    }
    expect(texts[0]).toBe(texts[1]);
    expect(texts[0]).toContain('401');
  });
});
