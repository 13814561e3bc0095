import type { Caller, Principal } from '../model/index.ts';

/**
 * Who asks, and through which agent. `via` is the agent process that presents its caller's
 * credential beside its own; rights are always the caller's, writing a task's record is the agent's.
 */
export interface Acting extends Caller {
  readonly via?: Principal | undefined;
}

/** The agent that does the work of this call: the presenter, or a caller that comes as itself. */
export const executing = (acting: Acting): Principal => acting.via ?? acting.principal;
