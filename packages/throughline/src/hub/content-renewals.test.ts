import { beforeEach, describe, expect, it } from 'vitest';
import type { ContentRef, ReadTokenRequest, Selector } from '../model/index.ts';
import { openMemoryStore } from '../store/index.ts';
import { bob, boss, checker, desk, mallory, priya, Prover, refusal, Scene } from './conformance.ts';

const origin = 'https://hub.example';

let scene: Scene;
let activity: string;
let prover: Prover;
let terms: ContentRef;
let rules: ContentRef;

const open = async (inUrls = false): Promise<void> => {
  scene = await Scene.open(openMemoryStore, { content: { inUrls } });
  const task = await scene.task(priya);
  ({ activity } = await scene.hub.master(desk).locate(task.id));
  prover = await Prover.make(scene);
  terms = await put('0123456789');
  rules = await put('line one');
};
beforeEach(() => open());

const put = (text: string): Promise<ContentRef> => {
  const master = scene.hub.master(desk);
  const resource = master.newId('resource');
  const bytes = Buffer.from(text);
  return master.putContent({ activity, resource, mediaType: 'text/plain', bytes });
};
const make = (more: Partial<ReadTokenRequest> = {}): Promise<string> =>
  scene.hub
    .master(desk)
    .readToken({ uris: [terms.uri], audience: checker.id, seconds: 300, ...more });
const read = async (uri: string, token: string): Promise<string> =>
  Buffer.from((await scene.hub.content.get(checker, { uri, token })).bytes).toString();
const now = (): number => Math.floor(scene.now.getTime() / 1_000);
const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
const lastHalf: Selector = {
  conformsTo: 'http://tools.ietf.org/rfc/rfc9110',
  value: 'bytes=5-9',
};
const renew = (token: string, more: { by?: typeof desk; proof?: string } = {}) =>
  scene.hub.content.renewToken(more.by ?? checker, { token }, more.proof);
const long = () => make({ seconds: 60, renewableSeconds: 3_600 });

describe('a token that is renewed', () => {
  it('opens the same for longer, as often as it takes and no longer than it was allowed', async () => {
    let token = await long();
    const end = now() + 3_600;
    for (let minute = 0; minute < 59; minute++) {
      scene.pass(60_000);
      expect(await refusal(read(terms.uri, token))).toBe('gone');
      token = await renew(token);
      expect(await read(terms.uri, token)).toBe('0123456789');
    }
    scene.pass(30_000);
    token = await renew(token);
    expect(claimsOf(token).exp).toBe(end);
    scene.pass(30_000);
    expect(await refusal(read(terms.uri, token))).toBe('gone');
    expect(await refusal(renew(token))).toBe('gone');
  });

  it('tells its holder how, once it is over, and nobody else', async () => {
    const [lasting, plain] = [await long(), await make({ seconds: 60 })];
    scene.pass(60_000);
    const told = (token: string, by = checker): Promise<unknown> =>
      scene.hub.content.get(by, { uri: terms.uri, token }).catch((error: unknown) => error);
    expect(await told(lasting)).toMatchObject({
      code: 'gone',
      details: { renew: `${origin}/content-tokens/renew` },
    });
    expect(await told(plain)).toMatchObject({ code: 'gone', details: {} });
    expect(await told(lasting, bob)).toMatchObject({ code: 'not-found', details: {} });
  });

  it('is renewed for its reader alone, with a proof where it is bound', async () => {
    const token = await long();
    for (const by of [desk, bob, mallory]) {
      expect(await refusal(renew(token, { by }))).toBe('not-found');
    }
    const more = { seconds: 60, renewableSeconds: 3_600, thumbprint: prover.thumbprint };
    const bound = await make(more);
    const at = `${origin}/content-tokens/renew`;
    const proof = (claims = {}) => prover.proof(bound, at, { claims: { htm: 'POST', ...claims } });
    expect(await refusal(renew(bound))).toBe('not-found');
    expect(await refusal(renew(bound, { proof: await proof({ htm: 'GET' }) }))).toBe('not-found');
    expect(await refusal(renew(bound, { proof: await proof({ htu: terms.uri }) }))).toBe(
      'not-found',
    );
    const once = await proof();
    const renewed = await renew(bound, { proof: once });
    expect(claimsOf(renewed).cnf).toEqual({ jkt: prover.thumbprint });
    expect(await refusal(renew(bound, { proof: once }))).toBe('not-found');
  });

  it('is not one that was not made so, that was narrowed, or that stands in a URL', async () => {
    expect(await refusal(renew(await make()))).toBe('gone');
    const narrowed = await scene.hub.content.narrowToken(checker, {
      token: await long(),
      uris: [terms.uri],
      seconds: 30,
      thumbprint: prover.thumbprint,
    });
    const proof = await prover.proof(narrowed, `${origin}/content-tokens/renew`, {
      claims: { htm: 'POST' },
    });
    expect(await refusal(renew(narrowed, { proof }))).toBe('not-found');
    await open(true);
    expect(await refusal(make({ inUrl: true, renewableSeconds: 60 }))).toBe('invalid');
    expect(await refusal(make({ renewableSeconds: 90_001 }))).toBe('invalid');
    expect(await refusal(renew(await make({ inUrl: true })))).toBe('not-found');
  });

  it('opens no more than before: the same pieces, the same part', async () => {
    const token = await make({
      uris: [{ uri: terms.uri, selector: lastHalf }],
      seconds: 60,
      renewableSeconds: 3_600,
    });
    const renewed = await renew(token);
    expect(claimsOf(renewed)).toEqual({ ...claimsOf(token), exp: claimsOf(renewed).exp });
    expect(await read(terms.uri, renewed)).toBe('56789');
    expect(await refusal(read(rules.uri, renewed))).toBe('not-found');
  });

  it('is taken back with all that it was renewed to, whichever of them is shown', async () => {
    for (const which of [0, 1]) {
      const first = await long();
      const tokens = [first, await renew(first)];
      await scene.hub.content.revokeTokens(desk, { token: tokens[which] ?? '' });
      for (const token of tokens) {
        expect(await refusal(read(terms.uri, token))).toBe('not-found');
        expect(await refusal(renew(token))).toBe('not-found');
      }
      // Also when the mark of the one that was shown would have gone with it.
      scene.pass(1_800_000);
      await scene.hub.sweep();
      expect(await refusal(renew(first))).toBe('not-found');
    }
  });

  it('is not renewed once its case was revoked or erased', async () => {
    const [one, other] = [await long(), await long()];
    await scene.hub.content.revokeTokens(desk, { case: activity });
    expect(await refusal(renew(one))).toBe('not-found');
    await scene.hub.eraseCase(boss, activity);
    expect(await refusal(renew(other))).toBe('not-found');
  });

  it('leaves nothing behind when its time is over', async () => {
    const key: unknown = claimsOf(await long()).jti;
    const kept = () =>
      scene.store.read((reader) => reader.record({ kind: 'token-renewal', key: String(key) }));
    expect(await kept()).toBeDefined();
    scene.pass(3_600_000);
    await scene.hub.sweep();
    expect(await kept()).toBeUndefined();
  });
});
