import { EngineStore, type StoreLimits } from './engine-store.ts';
import { MemoryEngine } from './memory/engine.ts';
import type { Store } from './store.ts';

/** A store that lives as long as the process: for tests and trials, not for what must last. */
export async function openMemoryStore(limits: StoreLimits = {}): Promise<Store> {
  return new EngineStore({ readers: [], writer: new MemoryEngine(), close() {} }, limits);
}
