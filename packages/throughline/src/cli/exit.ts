import { z } from 'zod';
import { ThroughlineError, type ErrorCode } from '../errors.ts';

/** Exit codes, as `--help` states them. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  unreachable: 3,
  unauthenticated: 4,
  waiting: 5,
} as const;

export const exitHelp = `
Exit codes:
  0  done
  1  a check failed, it does not exist, or the hub refused it
  2  the command was given wrongly, or names something that is not built yet
  3  the hub is out of reach
  4  the key is missing or not valid
  5  a run waits: for an answer, or to be resumed
  130, 143  a run was suspended by Ctrl-C, or by SIGTERM`;

const byCode: Partial<Record<ErrorCode, number>> = {
  invalid: exitCodes.usage,
  unsupported: exitCodes.usage,
  unavailable: exitCodes.unreachable,
  timeout: exitCodes.unreachable,
  unauthenticated: exitCodes.unauthenticated,
};

/** What to do, where the error itself can't know that a command was used. */
const advice: Partial<Record<ErrorCode, string>> = {
  unauthenticated: 'Name a file that holds a valid key with --key-file.',
};

/** Ends a command with a code of its own when it has said all there is to say, or says one line more. */
export class Stopped extends Error {
  readonly exitCode: number;
  constructor(exitCode: number, message = '') {
    super(message);
    this.exitCode = exitCode;
  }
}

export interface Ending {
  readonly exitCode: number;
  readonly code: ErrorCode;
  readonly message: string;
}

/** What the system refuses, and what to do; all else that it says is unexpected. */
const refusals: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full; make room and run it again',
  EDQUOT: 'the disk’s quota is used up; make room and run it again',
  EROFS: 'the disk takes no writes; name a place that does',
  EACCES: 'there is no right to it; run it as its owner, or change its rights',
  EPERM: 'there is no right to it; run it as its owner, or change its rights',
};

function systemEnding(error: Error): Ending | undefined {
  const { code, path } =
    z.object({ code: z.string(), path: z.string().optional() }).safeParse(error).data ?? {};
  const words = refusals[code ?? ''];
  if (words === undefined) return undefined;
  const message = path === undefined ? words : `${path}: ${words}`;
  return { exitCode: exitCodes.failed, code: 'unavailable', message };
}

/** How a command ends that threw; the message says what to do and holds no stack. */
export function endingOf(thrown: unknown): Ending {
  if (!(thrown instanceof ThroughlineError)) {
    const known = thrown instanceof Error ? systemEnding(thrown) : undefined;
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return (
      known ?? { exitCode: exitCodes.failed, code: 'internal', message: `unexpected: ${message}` }
    );
  }
  const { code } = thrown;
  const message = [thrown.message, advice[code]].filter(Boolean).join('\n');
  return { exitCode: byCode[code] ?? exitCodes.failed, code, message };
}
