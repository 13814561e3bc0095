import type { Principal } from '../model/index.ts';
import type { Deps } from './deps.ts';

/** Under which a process of an agent is known; the empty name: nobody. */
export const workerKey = (
  { vault }: Pick<Deps, 'vault'>,
  { tenant, id }: Pick<Principal, 'tenant' | 'id'>,
  worker: string,
): string => vault.blind('worker', tenant, id, worker);
