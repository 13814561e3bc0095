import type { HandOver } from './hand-over.ts';

/** Another framework's way to hand over, run on the same inputs. */
export interface Peer {
  /** Package and version. */
  readonly name: string;
  readonly handOver: HandOver;
}

/** Frameworks that stand beside; each adds its rows to the table. */
export const peers: readonly Peer[] = [];
