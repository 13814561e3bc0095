import { ThroughlineError, type ErrorCode } from '../errors.ts';

/** Media type of RFC 9457. */
export const problemMediaType = 'application/problem+json';

/** Each code's status and title; the one table. What one may not see answers like what is missing. */
export const problems: Readonly<Record<ErrorCode, readonly [status: number, title: string]>> = {
  invalid: [400, 'The request is not valid'],
  unauthenticated: [401, 'A valid key is needed'],
  'not-found': [404, 'There is no such thing'],
  'context-refused': [404, 'The context can’t be used'],
  gone: [410, 'Its time is over'],
  conflict: [409, 'Something else was written in between'],
  terminal: [409, 'It is over and does not change any more'],
  'too-large': [413, 'The request is too large'],
  quota: [429, 'A quota is used up'],
  damaged: [500, 'Stored data is damaged'],
  'newer-version': [500, 'Stored data is from a newer version'],
  internal: [500, 'Something went wrong inside the hub'],
  unsupported: [501, 'This is not supported'],
  unavailable: [503, 'The hub is not available at the moment'],
  timeout: [504, 'It took too long'],
};

/** What goes wrong inside is for the log: its words may hold paths or people’s text. */
const kept: ReadonlySet<ErrorCode> = new Set(['internal', 'damaged', 'newer-version']);
const keptDetail = 'The hub’s log says more, under the id in the X-Request-Id header.';

/** An error whose status is not its code's, such as 415. */
export class Refusal extends Error {
  readonly status: number;
  readonly error: ThroughlineError;

  constructor(status: number, error: ThroughlineError) {
    super(error.message, { cause: error });
    this.name = 'Refusal';
    this.status = status;
    this.error = error;
  }
}

const asError = (cause: unknown): ThroughlineError =>
  cause instanceof ThroughlineError
    ? cause
    : new ThroughlineError('internal', 'unexpected error', { cause });

/**
 * RFC 9457 answer to anything thrown: `type`, `title`, `status`, `detail`, `code`, `requestId` where the
 * request has one, and `retryable` and `details` where the error has them. Never a stack, a cause or a
 * secret.
 */
export function problemResponse(thrown: unknown, requestId?: string): Response {
  const refusal = thrown instanceof Refusal ? thrown : undefined;
  const error = refusal?.error ?? asError(thrown);
  const [status, title] = problems[error.code];
  const isKept = kept.has(error.code);
  const body = {
    type: `https://throughline.dev/problems/${error.code}`,
    title,
    status: refusal?.status ?? status,
    detail: isKept ? keptDetail : error.message,
    code: error.code,
    ...(requestId === undefined ? {} : { requestId }),
    ...(error.retryable ? { retryable: true } : {}),
    ...(isKept || Object.keys(error.details).length === 0 ? {} : { details: error.details }),
  };
  const headers = new Headers({ 'Content-Type': problemMediaType });
  if (error.code === 'unauthenticated') headers.set('WWW-Authenticate', 'Bearer');
  const { retryAfterSeconds } = error.details;
  if (typeof retryAfterSeconds === 'number') headers.set('Retry-After', String(retryAfterSeconds));
  else if (error.code === 'unavailable') headers.set('Retry-After', '1');
  return new Response(JSON.stringify(body), { status: body.status, headers });
}
