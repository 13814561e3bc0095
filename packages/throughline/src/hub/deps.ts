import type { Store } from '../store/store.ts';
import type { Ids } from './ids.ts';
import type { Vault } from './vault.ts';

/** What every part of the hub is made with. */
export interface Deps {
  readonly store: Store;
  readonly vault: Vault;
  readonly ids: Ids;
  readonly now: () => Date;
  /** Origin of the hub's URL, without a slash at the end; ContextURIs begin with it. */
  readonly origin: string;
  readonly contextPolicy: 'refuse' | 'adopt';
  /** A context that no message used for so long is expired. */
  readonly contextTtlMs: number;
  /** How long a message that was let in may take until its task is stored. */
  readonly leaseMs: number;
}
