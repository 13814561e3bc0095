import {
  APICallError,
  EmptyResponseBodyError,
  InvalidResponseDataError,
  JSONParseError,
  NoObjectGeneratedError,
  RetryError,
} from 'ai';
import { ThroughlineError } from '../errors.ts';

/** HTTP statuses after which the same request may succeed later. */
const passing: readonly number[] = [408, 409, 425, 429];

/** What came back is no answer of a model. */
const noAnswer = [EmptyResponseBodyError, InvalidResponseDataError, JSONParseError];

/** How the AI SDK names that the AI Gateway got no key that it takes. */
const unkeyed: readonly string[] = ['GatewayAuthenticationError', 'GatewayError'];

/** The model answered, but in another form than asked for. */
export const missedForm = (error: unknown): NoObjectGeneratedError | undefined =>
  NoObjectGeneratedError.isInstance(error) ? error : undefined;

/**
 * The error of ours for one of the AI SDK's. What the provider said stays in `cause`, for its operator:
 * it may repeat the prompt or a part of the key.
 */
export function modelError(model: string, error: unknown): ThroughlineError {
  const last = RetryError.isInstance(error) ? error.lastError : error;
  const own = ownIn(last);
  if (own !== undefined) return own;
  const options = { cause: last };
  const call = callIn(last);
  if (call !== undefined) return callError(model, call.status, options);
  const missed = missedForm(last);
  if (missed?.finishReason === 'length') return cutShort(model, options);
  if (missed !== undefined) {
    const message = `${model} answered in another form than asked for; ask for less at once, or take a model with structured output.`;
    return new ThroughlineError('invalid', message, options);
  }
  if (noAnswer.some((kind) => kind.isInstance(last))) return callError(model, 200, options);
  return new ThroughlineError('internal', `The request to ${model} failed.`, options);
}

/** An answer that ran into its limit is none: nobody sees what is missing from it. */
export const cutShort = (model: string, options: { cause?: unknown } = {}): ThroughlineError =>
  new ThroughlineError(
    'too-large',
    `The answer of ${model} was cut off at its limit of tokens; allow more, or ask for less.`,
    options,
  );

/** A request that failed, with its HTTP status if one came back; the AI Gateway has errors of its own. */
function callIn(error: unknown): { readonly status: number | undefined } | undefined {
  if (APICallError.isInstance(error)) return { status: error.statusCode };
  if (!(error instanceof Error)) return undefined;
  if (unkeyed.includes(error.name)) return { status: 401 };
  return 'statusCode' in error && typeof error.statusCode === 'number'
    ? { status: error.statusCode }
    : undefined;
}

function callError(
  model: string,
  status: number | undefined,
  options: { cause: unknown },
): ThroughlineError {
  if (status === undefined || status >= 500 || passing.includes(status)) {
    const why = status === undefined ? 'can’t be reached' : `answers with status ${status}`;
    return new ThroughlineError('unavailable', `${model} ${why}; try again later.`, options);
  }
  if (status === 401 || status === 403) {
    const message = `${model} refuses the key (status ${status}); check it and what it may be used for.`;
    return new ThroughlineError('unauthenticated', message, options);
  }
  if (status === 404) {
    const message = `There is no ${model} at that address; check the name and the URL.`;
    return new ThroughlineError('not-found', message, options);
  }
  const message =
    status < 300
      ? `${model} answers with something that is no answer of a model; check the URL.`
      : `${model} refuses the request (status ${status}).`;
  return new ThroughlineError('invalid', message, options);
}

/** An error of ours somewhere among the causes: the SDK wraps what a `fetch` throws. */
function ownIn(error: unknown): ThroughlineError | undefined {
  let at = error;
  for (let depth = 0; depth < 8 && at instanceof Error; depth++) {
    if (at instanceof ThroughlineError) return at;
    at = at.cause;
  }
  return undefined;
}
