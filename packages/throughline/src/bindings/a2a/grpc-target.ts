import type { AgentCard } from '@a2a-js/sdk';
import type { Guard } from './guard.ts';
import type { A2aPorts } from './ports.ts';

/** One agent as a gRPC service reaches it; names no type of packages that may not be installed. */
export interface GrpcTarget {
  readonly guard: Guard;
  readonly ports: Pick<A2aPorts, 'authenticate'>;
  readonly card: AgentCard;
}
