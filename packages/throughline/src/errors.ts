/**
 * What can go wrong, one code each. A binding maps codes to its wire in one table.
 *
 * `not-found` is also the answer for what the caller may not see, so that an id can't be probed. `gone`
 * is for those who could see it: its time is over, and the message says how to get it again.
 */
export const errorCodes = [
  'invalid',
  'too-large',
  'unauthenticated',
  'not-found',
  'gone',
  'context-refused',
  'conflict',
  'terminal',
  'unsupported',
  'quota',
  'timeout',
  'unavailable',
  'damaged',
  'newer-version',
  'internal',
] as const;

export type ErrorCode = (typeof errorCodes)[number];

export interface ErrorOptions {
  /** What is at fault, in words a program can use: field paths, limits. Never a secret. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** The same call may succeed later, unchanged. Default: only for `unavailable` and `timeout`. */
  readonly retryable?: boolean;
  readonly cause?: unknown;
}

/** The one error class. Its message says what was wrong, where, and what to do. */
export class ThroughlineError extends Error {
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ThroughlineError';
    this.code = code;
    this.retryable = options.retryable ?? (code === 'unavailable' || code === 'timeout');
    this.details = options.details ?? {};
  }
}
