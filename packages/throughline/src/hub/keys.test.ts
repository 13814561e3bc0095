import { beforeEach, describe, expect, it } from 'vitest';
import {
  boss,
  desk,
  priya,
  refusal,
  refused,
  rivalBoss,
  Scene,
  stores,
  through,
} from './conformance.ts';

describe.each(stores)('an API key (%s)', (_name, open) => {
  let scene: Scene;

  beforeEach(async () => {
    scene = await Scene.open(open);
  });

  it('says who calls, from the Authorization header and nothing else', async () => {
    const { key } = await scene.hub.createKey(boss, { principal: priya, label: 'laptop' });
    expect(key).toMatch(/^tlk_[\w-]{43}$/);
    expect(await scene.hub.authenticate(`Bearer ${key}`)).toEqual(priya);
    const wrong = [
      undefined,
      '',
      key,
      `bearer ${key}`,
      `Bearer ${key} `,
      `Bearer ${key}x`,
      'Bearer tlk_x',
      `Basic ${key}`,
    ];
    for (const credential of wrong) {
      expect(await refusal(scene.hub.authenticate(credential))).toBe('unauthenticated');
    }
    const other = `Bearer tlk_${'A'.repeat(43)}`;
    const error = await refused(scene.hub.authenticate(other));
    expect(error.code).toBe('unauthenticated');
    expect(JSON.stringify([error.message, error.details])).not.toContain('tlk_');
  });

  it('is made, listed and revoked by operators of its own tenant alone', async () => {
    const { id, key } = await scene.hub.createKey(boss, { principal: priya });
    for (const principal of [priya, desk, rivalBoss]) {
      expect(await refusal(scene.hub.createKey(principal, { principal: priya }))).toBe('not-found');
      expect(await refusal(scene.hub.revokeKey(principal, id))).toBe('not-found');
    }
    expect(await refusal(scene.hub.keys(priya))).toBe('not-found');
    expect(await scene.hub.keys(rivalBoss)).toEqual([]);
    expect(await scene.hub.keys(boss)).toEqual([
      { id, principal: priya, createdAt: scene.now.toISOString(), revoked: false },
    ]);
    await scene.hub.revokeKey(boss, id);
    expect(await refusal(scene.hub.authenticate(`Bearer ${key}`))).toBe('unauthenticated');
    expect((await scene.hub.keys(boss))[0]?.revoked).toBe(true);
    await scene.hub.revokeKey(boss, id);
  });

  it('is never stored, nor is whose it is in the clear', async () => {
    const written: string[] = [];
    const store = through(scene.store, (_write, given) => {
      written.push(textOf(given));
    });
    const { hub } = await Scene.open(open, { store });
    const key = await hub.bootstrapKey({ tenant: 'home', id: 'canary-owner', role: 'operator' });
    expect(written.length).toBeGreaterThan(0);
    for (const secret of [key, key.slice(4), 'canary-owner']) {
      expect(written.join('\n')).not.toContain(secret);
    }
    expect(await hub.authenticate(`Bearer ${key}`)).toMatchObject({ id: 'canary-owner' });
  });
});

const textOf = (given: unknown): string =>
  JSON.stringify(given, (_, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
  );
