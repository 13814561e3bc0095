import { ThroughlineError } from '../errors.ts';
import type { Principal } from '../model/principal.ts';
import type { WorkIo } from './handler.ts';
import type { Outputs } from './io.ts';
import type { Publisher } from './publisher.ts';
import type { Rewriter } from './rewriter.ts';
import type { CodeReader } from './tree-sitter.ts';

/** One piece of work, as the two kinds of it share it. */
export interface Work {
  readonly principal: Principal;
  readonly publisher: Publisher;
  readonly outputs: Outputs;
  readonly io: WorkIo;
  readonly rewriters: readonly Rewriter[] | undefined;
  readonly code: CodeReader | undefined;
  /** Tells the operator of what the caller does not see. */
  readonly fault: (error: unknown) => void;
}

/** What a caller may read of an error: our sentences, never a stack or a stranger's message. */
export function reasonOf(error: unknown): string {
  return error instanceof ThroughlineError && error.code !== 'internal'
    ? error.message
    : 'The agent failed for a reason of its own; its operator can read it in its log.';
}
