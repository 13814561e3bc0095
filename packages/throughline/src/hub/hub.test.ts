import { describe, expect, it } from 'vitest';
import type { A2aPorts } from '../bindings/a2a/ports.ts';
import { openMemoryStore } from '../store/index.ts';
import { Hub } from './hub.ts';

describe('a hub', () => {
  it('opens a store under the key that it was written with, and leaves it alone under another', async () => {
    const store = await openMemoryStore();
    const origin = 'http://h';
    const first = await Hub.open({ store, domainKey: new Uint8Array(32), origin });
    const key = await first.bootstrapKey({ tenant: 't', id: 'p', role: 'operator' });
    const other = Hub.open({ store, domainKey: new Uint8Array(32).fill(1), origin });
    await expect(other).rejects.toMatchObject({ code: 'damaged' });
    const again = await Hub.open({ store, domainKey: new Uint8Array(32), origin });
    expect(await again.authenticate(`Bearer ${key}`)).toMatchObject({ id: 'p' });
  });

  it('fills the ports of the binding, by itself and for one agent', async () => {
    const store = await openMemoryStore();
    const hub = await Hub.open({ store, domainKey: new Uint8Array(32), origin: 'http://h' });
    const agent = { tenant: 't', id: 'p', role: 'agent' } as const;
    const ports: A2aPorts[] = [hub, hub.via(agent)];
    for (const each of ports) {
      await expect(each.authenticate(undefined)).rejects.toMatchObject({ code: 'unauthenticated' });
    }
    await hub.close();
    await expect(hub.health()).rejects.toMatchObject({ code: 'unavailable' });
  });
});
