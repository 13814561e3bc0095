import { createHmac } from 'node:crypto';
import {
  exportJWK,
  exportSPKI,
  generateKeyPair,
  SignJWT,
  UnsecuredJWT,
  type CryptoKey,
  type JWK,
  type JWTPayload,
} from 'jose';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openMemoryStore } from '../store/index.ts';
import { refusal } from './conformance.ts';
import { Hub } from './hub.ts';
import type { JwtOptions } from './jwt.ts';

const issuer = 'https://login.example';
const audience = 'https://hub.example';
const start = Date.parse('2031-05-04T10:00:00.000Z');
const seconds = start / 1_000;

interface Pair {
  readonly alg: string;
  readonly kid: string;
  readonly key: CryptoKey;
  readonly jwk: JWK;
  readonly pem: string;
}

async function pair(alg: string, kid = alg): Promise<Pair> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid, alg };
  return { alg, kid, key: privateKey, jwk, pem: await exportSPKI(publicKey) };
}

const good: JWTPayload = {
  iss: issuer,
  aud: audience,
  sub: 'priya',
  tenant: 'shop',
  iat: seconds,
  nbf: seconds,
  exp: seconds + 300,
};

const sign = async (
  { alg, kid, key }: Pick<Pair, 'alg' | 'kid' | 'key'>,
  changed: Readonly<Record<string, unknown>> = {},
  header: object = {},
): Promise<string> => {
  const claims = Object.fromEntries(
    Object.entries({ ...good, ...changed }).filter(([, value]) => value !== undefined),
  );
  const token = new SignJWT(claims).setProtectedHeader({ alg, kid, ...header });
  return `Bearer ${await token.sign(key)}`;
};

/** A hub that takes tokens, with a clock that can be moved. */
async function hubWith(keys: JwtOptions['keys'], more: Partial<JwtOptions> = {}) {
  const clock = { now: start };
  const hub = await Hub.open({
    store: await openMemoryStore(),
    domainKey: new Uint8Array(32).fill(7),
    origin: audience,
    clock: () => new Date(clock.now),
    jwt: { issuer, audience, keys, ...more },
  });
  return { hub, clock };
}

/** An issuer that publishes what it is told to, and counts how often it is asked. */
function publisher(keys: JWK[]) {
  const state = { keys, asked: 0, status: 200, body: undefined as string | undefined };
  const send = () => {
    state.asked += 1;
    const body = new TextEncoder().encode(state.body ?? JSON.stringify({ keys: state.keys }));
    return Promise.resolve({ status: state.status, body });
  };
  return { state, keys: { url: `${issuer}/jwks`, send } };
}

let pairs: Map<string, Pair>;
const of = (alg: string): Pair => {
  const found = pairs.get(alg);
  if (found === undefined) throw new Error(`no key for ${alg}`);
  return found;
};

const taken = ['EdDSA', 'ES256', 'ES384', 'ES512', 'PS256', 'RS256', 'RS512'];

beforeAll(async () => {
  const made = await Promise.all(taken.map(async (alg) => [alg, await pair(alg)] as const));
  pairs = new Map(made);
});

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('a bearer token', () => {
  let hub: Hub;
  let clock: { now: number };

  beforeEach(async () => {
    ({ hub, clock } = await hubWith({ keys: [...pairs.values()].map(({ jwk }) => jwk) }));
  });

  it.each(taken)('signed with %s is its subject, in its tenant', async (alg) => {
    expect(await hub.authenticate(await sign(of(alg)))).toEqual({
      tenant: 'shop',
      id: 'priya',
      role: 'caller',
    });
  });

  it('has the role that its claim names, one at most', async () => {
    const roleOf = async (role: unknown) =>
      (await hub.authenticate(await sign(of('ES256'), { role }))).role;
    expect(await roleOf('operator')).toBe('operator');
    expect(await roleOf(['agent'])).toBe('agent');
    expect(await roleOf('openid throughline:agent')).toBe('agent');
    expect(await roleOf('king')).toBe('caller');
    expect(await roleOf(7)).toBe('caller');
    const two = await sign(of('ES256'), { role: 'agent operator' });
    expect(await refusal(hub.authenticate(two))).toBe('unauthenticated');
  });

  it.each<readonly [string, Readonly<Record<string, unknown>>]>([
    ['is over', { exp: seconds - 6 }],
    ['never ends', { exp: undefined }],
    ['is not valid yet', { nbf: seconds + 6 }],
    ['is for somebody else', { aud: 'https://other.example' }],
    ['is for nobody', { aud: undefined }],
    ['is of another issuer', { iss: `${issuer}/` }],
    ['is of no issuer', { iss: undefined }],
    ['has no subject', { sub: undefined }],
    ['has an empty subject', { sub: '' }],
    ['has a subject that is a path', { sub: '../boss' }],
    ['has no tenant', { tenant: undefined }],
    ['has a tenant that is no text', { tenant: ['shop'] }],
  ])('that %s is nobody’s', async (_why, changed) => {
    const token = await sign(of('ES256'), changed);
    expect(await refusal(hub.authenticate(token))).toBe('unauthenticated');
  });

  it('ends at its time', async () => {
    const token = await sign(of('EdDSA'));
    clock.now += 299_000;
    expect(await hub.authenticate(token)).toMatchObject({ id: 'priya' });
    clock.now += 7_000;
    expect(await refusal(hub.authenticate(token))).toBe('unauthenticated');
  });

  it('signed with a public key as if that were a secret is nobody’s', async () => {
    for (const { pem, jwk, kid } of pairs.values()) {
      for (const secret of [pem, JSON.stringify(jwk), jwk.x ?? jwk.n ?? '']) {
        const head = `${encode({ alg: 'HS256', kid, typ: 'JWT' })}.${encode(good)}`;
        const mac = createHmac('sha256', secret).update(head).digest('base64url');
        expect(await refusal(hub.authenticate(`Bearer ${head}.${mac}`))).toBe('unauthenticated');
      }
    }
  });

  it('without a signature is nobody’s', async () => {
    const unsigned = new UnsecuredJWT(good).encode();
    expect(await refusal(hub.authenticate(`Bearer ${unsigned}`))).toBe('unauthenticated');
    const token = await sign(of('ES256'));
    const [head = '', claims = ''] = token.split('.');
    for (const broken of [`${head}.${claims}.`, `${head}.${claims}.AAAA`, `${head}..`]) {
      expect(await refusal(hub.authenticate(broken))).toBe('unauthenticated');
    }
  });

  it('that brings its own key, or names another’s, is nobody’s', async () => {
    const own = await pair('ES256', 'ES256');
    const embedded = await sign(own, {}, { jwk: own.jwk });
    const elsewhere = await sign(own, {}, { jku: 'https://evil.example/jwks' });
    const crossed = await sign(of('ES256'), {}, { kid: 'ES384' });
    for (const token of [embedded, elsewhere, crossed, await sign(own)]) {
      expect(await refusal(hub.authenticate(token))).toBe('unauthenticated');
    }
  });

  it('changed in one character is nobody’s', async () => {
    const token = await sign(of('EdDSA'));
    const at = token.indexOf('.') + 5;
    const changed = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);
    expect(await refusal(hub.authenticate(changed))).toBe('unauthenticated');
  });

  it('of a symmetric key in the set is nobody’s, too', async () => {
    const k = Buffer.alloc(32, 1).toString('base64url');
    const { hub: other } = await hubWith({ keys: [{ kty: 'oct', kid: 'oct', k }] });
    const token = await new SignJWT(good)
      .setProtectedHeader({ alg: 'HS256', kid: 'oct' })
      .sign(Buffer.alloc(32, 1));
    expect(await refusal(other.authenticate(`Bearer ${token}`))).toBe('unauthenticated');
  });

  it('stands beside API keys, which go on', async () => {
    const key = await hub.bootstrapKey({ tenant: 'shop', id: 'boss', role: 'operator' });
    expect(await hub.authenticate(`Bearer ${key}`)).toMatchObject({ id: 'boss' });
    expect(await refusal(hub.authenticate(undefined))).toBe('unauthenticated');
    expect(await refusal(hub.authenticate(`Bearer ${'a.'.repeat(20_000)}a`))).toBe(
      'unauthenticated',
    );
  });
});

describe('claims of another name', () => {
  it('give tenant and role where the hub is told so, or a tenant for all', async () => {
    const keys = { keys: [of('ES256').jwk] };
    const named = await hubWith(keys, { tenantClaim: 'org', roleClaim: 'scope' });
    const token = await sign(of('ES256'), { org: 'bank', scope: 'x throughline:operator' });
    expect(await named.hub.authenticate(token)).toEqual({
      tenant: 'bank',
      id: 'priya',
      role: 'operator',
    });
    const single = await hubWith(keys, { defaultTenant: 'only' });
    const plain = await sign(of('ES256'), { tenant: undefined });
    expect(await single.hub.authenticate(plain)).toMatchObject({ tenant: 'only' });
  });
});

describe('an issuer’s published keys', () => {
  it('are fetched once, and again when a new one is named', async () => {
    const { state, keys } = publisher([of('ES256').jwk]);
    const { hub, clock } = await hubWith(keys);
    await Promise.all([1, 2, 3].map(async () => hub.authenticate(await sign(of('ES256')))));
    expect(state.asked).toBe(1);
    state.keys = [of('EdDSA').jwk];
    clock.now += 60_000;
    expect(await hub.authenticate(await sign(of('EdDSA')))).toMatchObject({ id: 'priya' });
    expect(state.asked).toBe(2);
    expect(await refusal(hub.authenticate(await sign(of('ES256'))))).toBe('unauthenticated');
  });

  it('are fetched at most once a minute, whatever unknown keys are named', async () => {
    const { state, keys } = publisher([of('ES256').jwk]);
    const { hub, clock } = await hubWith(keys);
    await hub.authenticate(await sign(of('ES256')));
    const flood = async () => {
      const tokens = await Promise.all(
        Array.from({ length: 50 }, (_, i) => sign({ ...of('ES256'), kid: `unknown-${i}` })),
      );
      const codes = await Promise.all(tokens.map((token) => refusal(hub.authenticate(token))));
      expect(new Set(codes)).toEqual(new Set(['unauthenticated']));
    };
    await flood();
    expect(state.asked).toBe(1);
    clock.now += 60_000;
    await flood();
    expect(state.asked).toBe(2);
    expect(await hub.authenticate(await sign(of('ES256')))).toMatchObject({ id: 'priya' });
  });

  it('that can’t be had make tokens unavailable, not invalid, and are not asked for again at once', async () => {
    const { state, keys } = publisher([of('ES256').jwk]);
    state.status = 500;
    const { hub, clock } = await hubWith(keys);
    const token = await sign(of('ES256'));
    expect(await refusal(hub.authenticate(token))).toBe('unavailable');
    expect(await refusal(hub.authenticate(token))).toBe('unavailable');
    expect(state.asked).toBe(1);
    state.status = 200;
    state.body = '{"keys":"none"}';
    clock.now += 60_000;
    expect(await refusal(hub.authenticate(token))).toBe('unavailable');
    state.body = undefined;
    clock.now += 60_000;
    expect(await hub.authenticate(token)).toMatchObject({ id: 'priya' });
  });

  it('stay good while the issuer is down', async () => {
    const { state, keys } = publisher([of('ES256').jwk]);
    const { hub, clock } = await hubWith(keys);
    await hub.authenticate(await sign(of('ES256')));
    state.status = 503;
    clock.now += 61_000;
    const unknown = await sign({ ...of('ES256'), kid: 'other' });
    expect(await refusal(hub.authenticate(unknown))).toBe('unauthenticated');
    expect(await hub.authenticate(await sign(of('ES256')))).toMatchObject({ id: 'priya' });
  });
});
