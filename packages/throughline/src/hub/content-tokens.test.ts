import { createHash } from 'node:crypto';
import { SignJWT } from 'jose';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ContentRef, NarrowRequest, ReadTokenRequest, Selector } from '../model/index.ts';
import { openMemoryStore } from '../store/index.ts';
import { bob, boss, checker, desk, mallory, priya, Prover, refusal, Scene } from './conformance.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const origin = 'https://hub.example';

let scene: Scene;
let activity: string;
let prover: Prover;
let terms: ContentRef;
let rules: ContentRef;

const now = (): number => Math.floor(scene.now.getTime() / 1_000);

const open = async (inUrls = false): Promise<void> => {
  scene = await Scene.open(openMemoryStore, { content: { inUrls } });
  const task = await scene.task(priya);
  ({ activity } = await scene.hub.master(desk).locate(task.id));
  prover = await Prover.make(scene);
  terms = await put('0123456789');
  rules = await put('line one\nline two\nline three\n');
};
beforeEach(() => open());

const put = (text: string): Promise<ContentRef> => {
  const master = scene.hub.master(desk);
  const resource = master.newId('resource');
  return master.putContent({ activity, resource, mediaType: 'text/plain', bytes: bytes(text) });
};
const make = (more: Partial<ReadTokenRequest> = {}): Promise<string> =>
  scene.hub
    .master(desk)
    .readToken({ uris: [terms.uri, rules.uri], audience: checker.id, seconds: 300, ...more });

interface Showing {
  readonly by?: typeof desk | undefined;
  readonly proof?: string;
  readonly inUrl?: boolean;
  readonly selector?: Selector;
}
const read = async (uri: string, token: string, showing: Showing = {}): Promise<string> => {
  const { by = 'by' in showing ? undefined : checker, ...rest } = showing;
  const content = await scene.hub.content.get(by, { uri, token, ...rest });
  expect(content.digest).toBe(
    `sha-256:${createHash('sha256').update(content.bytes).digest('hex')}`,
  );
  return Buffer.from(content.bytes).toString();
};
const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
const byteRange = (value: string): Selector => ({
  conformsTo: 'http://tools.ietf.org/rfc/rfc9110',
  value: `bytes=${value}`,
});
const part = (uri: string, range: string) => ({ uri, selector: byteRange(range) });

describe('one token for a hand-over', () => {
  it('opens all its pieces and no other, and costs an id for each', async () => {
    const other = await put('other');
    const token = await make();
    expect(await read(terms.uri, token)).toBe('0123456789');
    expect(await read(rules.uri, token)).toContain('line two');
    expect(await refusal(read(other.uri, token))).toBe('not-found');
    const one = await make({ uris: [terms.uri] });
    expect(token.length - one.length).toBeLessThan(60);
  });

  it('holds no secret and nothing of who made it or of the case', async () => {
    const token = await make();
    expect(Object.keys(claimsOf(token)).toSorted()).toEqual(
      ['aud', 'authorization_details', 'exp', 'jti'].toSorted(),
    );
    expect(claimsOf(token).authorization_details).toEqual([
      { type: 'content', actions: ['read'], locations: [terms.resource, rules.resource] },
    ]);
    expect(JSON.stringify(claimsOf(token))).not.toContain(activity);
  });

  it('is made only of what its maker may read', async () => {
    const elsewhere = await scene.task(bob);
    const there = await scene.hub.master(desk).locate(elsewhere.id);
    const foreign = await scene.hub.master(desk).putContent({
      activity: there.activity,
      resource: scene.hub.master(desk).newId('resource'),
      mediaType: 'text/plain',
      bytes: bytes('x'),
    });
    const mixed = { uris: [terms.uri, foreign.uri], audience: 'x', seconds: 60 };
    expect(await refusal(scene.hub.master(bob).readToken(mixed))).toBe('not-found');
    await expect(scene.hub.master(desk).readToken(mixed)).resolves.toBeDefined();
  });

  it('gives a part of a piece where it names one, and never more of it', async () => {
    const token = await make({ uris: [part(terms.uri, '5-9'), rules.uri] });
    expect(await read(terms.uri, token)).toBe('56789');
    expect(await read(terms.uri, token, { selector: byteRange('0-6') })).toBe('56');
    expect(await refusal(read(terms.uri, token, { selector: byteRange('0-4') }))).toBe('invalid');
    const line: Selector = { conformsTo: 'http://tools.ietf.org/rfc/rfc5147', value: 'line=0,1' };
    expect(await refusal(read(terms.uri, token, { selector: line }))).toBe('unsupported');
    expect(await read(rules.uri, token, { selector: line })).toBe('line one\n');
    expect(await refusal(make({ uris: [part(terms.uri, 'x')] }))).toBe('invalid');
  });

  it('is for one part of each piece, so that none is passed over', async () => {
    const [one, two] = [part(terms.uri, '0-1'), part(terms.uri, '5-6')];
    expect(await refusal(make({ uris: [one, two] }))).toBe('invalid');
    expect(await refusal(make({ uris: [terms.uri, one] }))).toBe('invalid');
    expect(await read(terms.uri, await make({ uris: [one, one] }))).toBe('01');
  });
});

describe('a token bound to a key', () => {
  let token: string;
  beforeEach(async () => {
    token = await make({ thumbprint: prover.thumbprint });
  });
  const proven = async (...args: Parameters<Prover['proof']>) =>
    read(terms.uri, token, { proof: await prover.proof(...args) });

  it('opens with a proof by that key, and not without', async () => {
    expect(await proven(token, terms.uri)).toBe('0123456789');
    expect(await refusal(read(terms.uri, token))).toBe('not-found');
    expect(await refusal(read(terms.uri, token, { proof: 'no.proof.x' }))).toBe('not-found');
    const stranger = await Prover.make(scene);
    const proof = await stranger.proof(token, terms.uri);
    expect(await refusal(read(terms.uri, token, { proof }))).toBe('not-found');
  });

  it('opens for nobody else, whatever they prove', async () => {
    const proof = await prover.proof(token, terms.uri);
    expect(await refusal(read(terms.uri, token, { by: bob, proof }))).toBe('not-found');
    expect(await refusal(read(terms.uri, token, { by: undefined, proof }))).toBe('not-found');
  });

  it('takes each proof once, as long as it could be used', async () => {
    const proof = await prover.proof(token, terms.uri);
    expect(await read(terms.uri, token, { proof })).toBe('0123456789');
    expect(await refusal(read(terms.uri, token, { proof }))).toBe('not-found');
    scene.pass(60_000);
    await scene.hub.sweep();
    expect(await refusal(read(terms.uri, token, { proof }))).toBe('not-found');
    scene.pass(60_000);
    await scene.hub.sweep();
    expect(await refusal(read(terms.uri, token, { proof }))).toBe('not-found');
  });

  it('keeps no mark of a proof that nobody can use any more', async () => {
    await proven(token, terms.uri);
    const marks = () => scene.store.read((reader) => reader.expired({ until: 1e15, limit: 100 }));
    const kinds = async () => (await marks()).map(({ kind }) => kind);
    expect(await kinds()).toContain('used-proof');
    scene.pass(71_000);
    await scene.hub.sweep();
    expect(await kinds()).not.toContain('used-proof');
  });

  it.each<[string, () => Parameters<Prover['proof']>[2]]>([
    ['another method', () => ({ claims: { htm: 'POST' } })],
    ['another URI', () => ({ claims: { htu: `${origin}/content/other` } })],
    ['another host', () => ({ claims: { htu: terms.uri.replace('hub.', 'evil.') } })],
    ['no URI at all', () => ({ claims: { htu: 'not a url' } })],
    ['another token', () => ({ claims: { ath: 'x'.repeat(43) } })],
    ['no token', () => ({ claims: { ath: undefined } })],
    ['no id', () => ({ claims: { jti: undefined } })],
    ['an endless id', () => ({ claims: { jti: 'x'.repeat(300) } })],
    ['no time', () => ({ claims: { iat: undefined } })],
    ['a time long past', () => ({ claims: { iat: now() - 66 } })],
    ['a time to come', () => ({ claims: { iat: now() + 6 } })],
    ['another type', () => ({ head: { typ: 'JWT' } })],
    ['no type', () => ({ head: { typ: undefined } })],
    ['no key', () => ({ head: { jwk: undefined } })],
  ])('refuses a proof for %s', async (_what, wrong) => {
    expect(await refusal(proven(token, terms.uri, wrong()))).toBe('not-found');
  });

  it('refuses a proof that shows its private key, or that is signed by a secret', async () => {
    const shown = await prover.proof(token, terms.uri, {
      head: { jwk: await prover.privateJwk() },
    });
    expect(await refusal(read(terms.uri, token, { proof: shown }))).toBe('not-found');
    const [, claims = ''] = (await prover.proof(token, terms.uri)).split('.');
    const secret = bytes('x'.repeat(32));
    const jwk = { kty: 'oct', k: Buffer.from(secret).toString('base64url') };
    const forged = await new SignJWT(JSON.parse(Buffer.from(claims, 'base64url').toString()))
      .setProtectedHeader({ alg: 'HS256', typ: 'dpop+jwt', jwk })
      .sign(secret);
    expect(await refusal(read(terms.uri, token, { proof: forged }))).toBe('not-found');
    const two = `${await prover.proof(token, terms.uri)}, ${await prover.proof(token, terms.uri)}`;
    expect(await refusal(read(terms.uri, token, { proof: two }))).toBe('not-found');
  });

  it('takes a URI with a query or written otherwise, and a clock that is a little off', async () => {
    const htu = `${terms.uri.replace('https://hub', 'HTTPS://HUB')}?a=b#c`;
    expect(await proven(token, terms.uri, { claims: { htu } })).toBe('0123456789');
    expect(await proven(token, terms.uri, { claims: { iat: now() + 4 } })).toBe('0123456789');
    expect(await proven(token, terms.uri, { claims: { iat: now() - 55 } })).toBe('0123456789');
  });
});

describe('a narrower token', () => {
  const narrowUri = `${origin}/content-tokens/narrow`;
  let delegate: Prover;
  beforeEach(async () => {
    delegate = await Prover.make(scene);
  });
  const narrow = (token: string, more: Partial<NarrowRequest> = {}, proof?: string) =>
    scene.hub.content.narrowToken(
      checker,
      { token, uris: [terms.uri], seconds: 60, thumbprint: delegate.thumbprint, ...more },
      proof,
    );
  const asDelegate = async (uri: string, token: string, selector?: Selector) =>
    read(uri, token, {
      by: undefined,
      proof: await delegate.proof(token, uri),
      ...(selector && { selector }),
    });

  it('opens less of it for a delegate that is known by its key alone', async () => {
    const wide = await make();
    const narrowed = await narrow(wide, { uris: [part(terms.uri, '2-4')] });
    expect(await asDelegate(terms.uri, narrowed)).toBe('234');
    expect(await refusal(asDelegate(rules.uri, narrowed))).toBe('not-found');
    expect(await refusal(read(terms.uri, narrowed, { by: undefined }))).toBe('not-found');
    expect(await refusal(read(terms.uri, narrowed))).toBe('not-found');
    expect(JSON.stringify(claimsOf(narrowed))).not.toContain(checker.id);
  });

  it('gives never more: no other piece, no larger part, no longer time', async () => {
    const wide = await make({ uris: [part(terms.uri, '2-6')], seconds: 30 });
    expect(await refusal(narrow(wide, { uris: [rules.uri] }))).toBe('not-found');
    const larger = await narrow(wide, { uris: [part(terms.uri, '0-4')], seconds: 600 });
    expect(await asDelegate(terms.uri, larger)).toBe('234');
    const whole = await narrow(wide, { uris: [terms.uri], seconds: 600 });
    expect(await asDelegate(terms.uri, whole)).toBe('23456');
    expect(claimsOf(whole).exp).toBe(claimsOf(wide).exp);
    expect(await refusal(narrow(wide, { uris: [part(terms.uri, '7-9')] }))).toBe('invalid');
  });

  it('is made by whoever holds the wider one, proved where that is bound', async () => {
    const wide = await make({ thumbprint: prover.thumbprint });
    expect(await refusal(narrow(wide))).toBe('not-found');
    const forReading = await prover.proof(wide, narrowUri);
    expect(await refusal(narrow(wide, {}, forReading))).toBe('not-found');
    const proof = await prover.proof(wide, narrowUri, { claims: { htm: 'POST' } });
    const narrowed = await narrow(wide, {}, proof);
    expect(await asDelegate(terms.uri, narrowed)).toBe('0123456789');
    expect(await refusal(narrow(wide, {}, proof))).toBe('not-found');
    const stolen = await make();
    const theft = scene.hub.content.narrowToken(bob, {
      token: stolen,
      uris: [terms.uri],
      seconds: 60,
      thumbprint: delegate.thumbprint,
    });
    expect(await refusal(theft)).toBe('not-found');
  });

  it('is narrowed again by its delegate, a bounded number of times', async () => {
    let token = await make();
    let holder: { by: typeof checker | undefined; prover?: Prover } = { by: checker };
    for (let depth = 0; depth < 4; depth++) {
      const next = await Prover.make(scene);
      const proof = await holder.prover?.proof(token, narrowUri, { claims: { htm: 'POST' } });
      const request = { token, uris: [terms.uri], seconds: 60, thumbprint: next.thumbprint };
      token = await scene.hub.content.narrowToken(holder.by, request, proof);
      holder = { by: undefined, prover: next };
    }
    const proof = await holder.prover?.proof(token, narrowUri, { claims: { htm: 'POST' } });
    const once = { token, uris: [terms.uri], seconds: 60, thumbprint: delegate.thumbprint };
    expect(await refusal(scene.hub.content.narrowToken(undefined, once, proof))).toBe('invalid');
  });

  it('is over with the one it was narrowed from', async () => {
    const wide = await make();
    const narrowed = await narrow(wide);
    await scene.hub.content.revokeTokens(desk, { token: wide });
    expect(await refusal(read(terms.uri, wide))).toBe('not-found');
    expect(await refusal(asDelegate(terms.uri, narrowed))).toBe('not-found');
    expect(await refusal(narrow(wide))).toBe('not-found');
  });
});

describe('a token that is taken back', () => {
  it('opens nothing any more, and others of the same piece do', async () => {
    const [one, other] = [await make(), await make()];
    await scene.hub.content.revokeTokens(desk, { token: one });
    await scene.hub.content.revokeTokens(desk, { token: one });
    expect(await refusal(read(terms.uri, one))).toBe('not-found');
    expect(await read(terms.uri, other)).toBe('0123456789');
  });

  it('is taken back by its maker or its holder, and by nobody else', async () => {
    const token = await make();
    for (const by of [bob, mallory, priya, boss]) {
      expect(await refusal(scene.hub.content.revokeTokens(by, { token }))).toBe('not-found');
    }
    expect(await read(terms.uri, token)).toBe('0123456789');
    expect(await refusal(scene.hub.content.revokeTokens(desk, { token: 'a.b.c' }))).toBe(
      'not-found',
    );
    await scene.hub.content.revokeTokens(checker, { token });
    expect(await refusal(read(terms.uri, token))).toBe('not-found');
  });

  it('is one of all that were made for its case until then', async () => {
    const before = await make();
    for (const by of [bob, mallory, checker]) {
      expect(await refusal(scene.hub.content.revokeTokens(by, { case: activity }))).toBe(
        'not-found',
      );
    }
    await scene.hub.content.revokeTokens(desk, { case: activity });
    expect(await refusal(read(terms.uri, before))).toBe('not-found');
    const after = await make();
    expect(await read(terms.uri, after)).toBe('0123456789');
    await scene.hub.content.revokeTokens(boss, { case: activity });
    expect(await refusal(read(terms.uri, after))).toBe('not-found');
  });

  it('leaves nothing of it once its case is erased', async () => {
    await scene.hub.content.revokeTokens(desk, { case: activity });
    const epoch = () =>
      scene.store.read((reader) => reader.record({ kind: 'content-epoch', key: activity }));
    expect(await epoch()).toBeDefined();
    await scene.hub.eraseCase(boss, activity);
    expect(await epoch()).toBeUndefined();
  });

  it('leaves its mark until it would have been over anyhow', async () => {
    const token = await make({ seconds: 60 });
    await scene.hub.content.revokeTokens(desk, { token });
    const kinds = async () =>
      (await scene.store.read((reader) => reader.expired({ until: 1e15, limit: 100 }))).map(
        ({ kind }) => kind,
      );
    expect(await kinds()).toContain('revoked-token');
    scene.pass(61_000);
    await scene.hub.sweep();
    expect(await kinds()).not.toContain('revoked-token');
    expect(await refusal(read(terms.uri, token))).not.toBe('done');
  });
});

describe('a token in a URL', () => {
  it('is not given out, and opens nothing, unless the hub allows it', async () => {
    expect(await refusal(make({ inUrl: true }))).toBe('unsupported');
    await open(true);
    const token = await make({ inUrl: true });
    const there = scene;
    scene = await Scene.open(openMemoryStore, { store: there.store });
    expect(await refusal(read(terms.uri, token, { by: undefined, inUrl: true }))).toBe('not-found');
  });

  it('opens once, for whoever has the link, and in no other place', async () => {
    await open(true);
    const token = await make({ inUrl: true });
    expect(await refusal(read(terms.uri, token, { by: undefined }))).toBe('not-found');
    expect(await read(terms.uri, token, { by: undefined, inUrl: true })).toBe('0123456789');
    expect(await refusal(read(terms.uri, token, { by: undefined, inUrl: true }))).toBe('not-found');
    expect(await refusal(read(rules.uri, token, { by: undefined, inUrl: true }))).toBe('not-found');
    const bound = make({ inUrl: true, thumbprint: prover.thumbprint });
    expect(await refusal(bound)).toBe('invalid');
    const usual = await make();
    expect(await refusal(read(terms.uri, usual, { inUrl: true }))).toBe('not-found');
  });
});

const cut = async (uri: string, selector: Selector, by = desk): Promise<ContentRef> =>
  scene.hub.content.cut(by, { uri, selector, resource: scene.hub.master(by).newId('resource') });

describe('a part as a Resource of its own', () => {
  it('has its own digest and size, and is part of the whole by its selector', async () => {
    const selector = byteRange('5-9');
    const ref = await cut(terms.uri, selector);
    expect(ref).toMatchObject({ size: 5, mediaType: 'text/plain' });
    expect(ref.digest).toBe(`sha-256:${createHash('sha256').update('56789').digest('hex')}`);
    expect(await cut(terms.uri, selector)).toEqual(ref);
    const { resources, relationships, conflicts } = await scene.hub.caseView(priya, activity);
    expect(conflicts).toEqual([]);
    expect(relationships).toContainEqual(
      expect.objectContaining({
        type: 'part-of',
        from: ref.resource,
        to: terms.resource,
        selector,
      }),
    );
    expect(resources.find(({ id }) => id === ref.resource)).toMatchObject({ size: 5 });
  });

  it('is all that is read by whoever is given the last half', async () => {
    const half = await cut(terms.uri, byteRange('5-9'));
    const token = await make({ uris: [half.uri] });
    expect(await read(half.uri, token)).toBe('56789');
    expect(await refusal(read(terms.uri, token))).toBe('not-found');
    const first = { selector: byteRange('0-4') };
    expect(await read(half.uri, token, first)).toBe('56789');
    expect(await refusal(read(half.uri, token, { selector: byteRange('5-9') }))).toBe('invalid');
  });

  it('is cut by those who may read the whole without a token, and by nobody else', async () => {
    for (const by of [checker, bob, mallory, boss, priya]) {
      expect(await refusal(cut(terms.uri, byteRange('0-4'), by))).toBe('not-found');
    }
    expect(await refusal(cut(terms.uri, byteRange('90-99')))).toBe('invalid');
    const time: Selector = { conformsTo: 'http://www.w3.org/TR/media-frags/', value: 't=0,1' };
    expect(await refusal(cut(terms.uri, time))).toBe('unsupported');
  });

  it('goes with its case', async () => {
    const ref = await cut(terms.uri, byteRange('5-9'));
    await scene.hub.eraseCase(boss, activity);
    expect(await refusal(scene.hub.master(desk).getContent(ref.uri))).toBe('not-found');
  });
});
