import { DatabaseError } from 'pg';
import { ThroughlineError, type ErrorCode } from '../../errors.ts';

type Line = readonly [prefix: string, code: ErrorCode, advice: string, retryable?: false];

const held = 'another hub holds the store; try again in a moment';
const gone =
  'the database is out of reach: it went away, is starting, or is elsewhere; try again in a moment';

/** SQLSTATEs by how they begin, the first that fits; what to tell the caller. */
const table: readonly Line[] = [
  ['08', 'unavailable', gone],
  ['57P04', 'unavailable', 'the database was dropped', false],
  ['57P', 'unavailable', gone],
  ['25P03', 'unavailable', 'the server gave up a transaction that stood still; try again'],
  ['25P04', 'unavailable', 'the server gave up a transaction that took too long; try again'],
  ['25P02', 'unavailable', 'another work in the same commit failed; try again'],
  ['57014', 'timeout', 'the database took too long for one statement; ask for less'],
  ['55P03', 'unavailable', held],
  ['40', 'unavailable', held],
  ['53100', 'unavailable', 'the disk of the database is full; make room and try again'],
  ['53300', 'unavailable', 'the database has no connection left; raise max_connections'],
  ['53', 'unavailable', 'the database is out of resources; try again in a moment'],
  ['58', 'unavailable', 'the disk of the database failed; check it and try again'],
  ['28', 'unavailable', 'the database refuses the user or the password; check them', false],
  ['3D000', 'unavailable', 'there is no such database; create it or name another one', false],
  ['42501', 'unavailable', 'the user has no right to do this in the database; grant it', false],
  ['25006', 'unavailable', 'the database takes no writes; name the primary'],
  ['XX', 'damaged', 'the database is damaged; restore it from a backup'],
  ['54', 'too-large', 'the row is larger than PostgreSQL takes; offload its content'],
];

/** The error of ours for one of the server's; anything else as it is. */
export function explain(error: unknown): unknown {
  if (!(error instanceof DatabaseError)) return error;
  const state = error.code ?? '';
  const found = table.find(([prefix]) => state.startsWith(prefix));
  const [, code, advice, retryable] = found ?? ['', 'internal', 'the store failed; see the cause'];
  return new ThroughlineError(code, advice, {
    cause: error,
    details: { sqlstate: state },
    ...(retryable === undefined ? {} : { retryable }),
  });
}

/** SQLSTATEs with which the server ends the connection. */
const ending = ['08', '57P', '25P03', '25P04'];

/** After this error, the connection it came from is of no use any more. */
export function isEnd(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return !(error instanceof ThroughlineError);
  return ending.some((prefix) => error.code?.startsWith(prefix));
}

/** The connection could not be made, or broke. What the driver says of that has no codes. */
export function lost(cause: unknown): unknown {
  if (cause instanceof DatabaseError || cause instanceof ThroughlineError) return cause;
  return new ThroughlineError('unavailable', gone, { cause });
}
