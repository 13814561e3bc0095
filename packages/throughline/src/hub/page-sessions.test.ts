import { beforeEach, describe, expect, it } from 'vitest';
import { boss, priya, refusal, refused, Scene, stores, twoOnOneFile } from './conformance.ts';

const hour = 3_600_000;
const alter = (text: string): string => (text.startsWith('A') ? 'B' : 'A') + text.slice(1);

describe.each(stores)('a session of the page (%s)', (_name, open) => {
  let scene: Scene;
  let id: string;
  let credential: string;

  beforeEach(async () => {
    scene = await Scene.open(open);
    const made = await scene.hub.createKey(boss, { principal: priya });
    [id, credential] = [made.id, `Bearer ${made.key}`];
  });
  const code = async (): Promise<string> => (await scene.hub.pageCode(credential)).code;
  const session = async (): Promise<string> => scene.hub.openPageSession(await code());

  it('comes of a code of 128 bits that counts once', async () => {
    const once = await code();
    expect(once).toMatch(/^[\w-]{22}$/);
    const secret = await scene.hub.openPageSession(once);
    expect(await scene.hub.pageSession(secret)).toEqual(priya);
    const again = await refused(scene.hub.openPageSession(once));
    const altered = await refused(scene.hub.openPageSession(alter(once)));
    expect(again.code).toBe('unauthenticated');
    expect([altered.code, altered.message]).toEqual([again.code, again.message]);
  });

  it('comes of one code only once, however many ask at a time', async () => {
    const once = await code();
    const asked = Array.from({ length: 8 }, () => scene.hub.openPageSession(once));
    const settled = await Promise.allSettled(asked);
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('does not come of a code that is older than a minute', async () => {
    const [young, old] = [await code(), await code()];
    scene.pass(59_999);
    expect(await scene.hub.pageSession(await scene.hub.openPageSession(young))).toEqual(priya);
    scene.pass(1);
    expect(await refusal(scene.hub.openPageSession(old))).toBe('unauthenticated');
  });

  it('is over after twelve hours, and gone from the store', async () => {
    const secret = await session();
    await code();
    scene.pass(12 * hour - 1);
    expect(await scene.hub.pageSession(secret)).toEqual(priya);
    scene.pass(1);
    expect(await scene.hub.pageSession(secret)).toBeUndefined();
    await scene.hub.sweep();
    const index = { of: id };
    for (const kind of ['page-code', 'page-session']) {
      expect(await scene.store.read((reader) => reader.count({ kind, index }))).toBe(0);
    }
  });

  it('ends when it is ended, and with the key it was made with, as its codes do', async () => {
    const [first, second, unused] = [await session(), await session(), await code()];
    await scene.hub.endPageSession(first);
    expect(await scene.hub.pageSession(first)).toBeUndefined();
    expect(await scene.hub.pageSession(second)).toEqual(priya);
    await scene.hub.revokeKey(boss, id);
    expect(await scene.hub.pageSession(second)).toBeUndefined();
    expect(await refusal(scene.hub.openPageSession(unused))).toBe('unauthenticated');
    expect(await refusal(code())).toBe('unauthenticated');
  });

  it('is nobody’s when its secret is altered, and is no API key', async () => {
    const secret = await session();
    expect(await scene.hub.pageSession(alter(secret))).toBeUndefined();
    expect(await refusal(scene.hub.authenticate(`Bearer ${secret}`))).toBe('unauthenticated');
    for (const wrong of [undefined, '', 'Bearer x', secret, `Bearer ${secret}`]) {
      expect(await refusal(scene.hub.pageCode(wrong))).toBe('unauthenticated');
    }
  });

  it('is kept without its secret, and the oldest makes room for one too many', async () => {
    const first = await session();
    const all = [first];
    for (let n = 0; n < 50; n++) {
      scene.pass(1);
      all.push(await session());
    }
    const query = { kind: 'page-session', index: { of: id }, limit: 100 };
    const kept = await scene.store.read((reader) => reader.records(query));
    expect(kept).toHaveLength(50);
    for (const secret of all) expect(JSON.stringify(kept)).not.toContain(secret);
    expect(await scene.hub.pageSession(first)).toBeUndefined();
    expect(await scene.hub.pageSession(all.at(-1) ?? '')).toEqual(priya);
  });
});

describe('two hubs on one store', () => {
  it('take each other’s codes and sessions', async () => {
    const [a, b] = await twoOnOneFile();
    const domainKey = new Uint8Array(32).fill(7);
    const one = await Scene.open(() => Promise.resolve(a), { domainKey });
    const other = await Scene.open(() => Promise.resolve(b), { domainKey });
    const { key } = await one.hub.createKey(boss, { principal: priya });
    const { code } = await one.hub.pageCode(`Bearer ${key}`);
    const secret = await other.hub.openPageSession(code);
    expect(await one.hub.pageSession(secret)).toEqual(priya);
    expect(await refusal(one.hub.openPageSession(code))).toBe('unauthenticated');
  });
});
