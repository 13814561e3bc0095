import {
  A2AError,
  ContentTypeNotSupportedError,
  JsonRpcTransportError,
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
  VersionNotSupportedError,
  isJsonRpcError,
  isRestError,
  restStatusFor,
  toJsonRpcError,
  toRestErrorBody,
  type RestErrorBody,
} from '@a2a-js/sdk/errors';
import { z } from 'zod';
import { ThroughlineError, errorCodes, type ErrorCode } from '../../errors.ts';

/**
 * JSON-RPC code for what A2A has no error for: one that JSON-RPC leaves to servers and A2A takes for
 * nothing (A2A 9.5). What it means stands in the details.
 */
const serverErrorCode = -32_000;

interface WireOptions {
  readonly message: string;
  /** Of ErrorInfo, where the error is none of A2A's own. */
  readonly reason: string;
  readonly metadata: Record<string, string>;
}

const malformed = (options: WireOptions): A2AError => new RequestMalformedError(options);
const notFound = (options: WireOptions): A2AError => new TaskNotFoundError(options);
const unsupported = (options: WireOptions): A2AError => new UnsupportedOperationError(options);

/** `serverErrorCode`, with its details as A2A's own errors have them. */
function serverError({ message, ...details }: WireOptions): A2AError {
  const error = { code: serverErrorCode, message };
  const bare = new JsonRpcTransportError({ jsonrpc: '2.0', id: null, error });
  const detailed = Object.assign(bare, details);
  return Object.assign(detailed, { data: [detailed.toErrorInfo()] });
}

/** JSON-RPC −32603; `metadata.retryable` says whether the same call may succeed later. */
const internal = ({ reason, ...options }: WireOptions): A2AError =>
  Object.assign(new A2AError(options), { reason });

interface WireError {
  readonly make: (options: WireOptions) => A2AError;
  /** HTTP status of a JSON-RPC answer that says nothing but this error; default 200. */
  readonly status?: 401 | 413;
  /** HTTP+JSON and gRPC, where A2A leaves it open: HTTP status, name of google.rpc.Code, its number. */
  readonly rest?: readonly [http: number, name: string, grpc: number];
  /** The cause is ours and none of the caller's business: it gets a general sentence. */
  readonly hidden?: true;
}

/** Our codes on the A2A wire. JSON-RPC answers errors of a method with HTTP 200. */
const wireErrors: Readonly<Record<ErrorCode, WireError>> = {
  invalid: { make: malformed },
  'too-large': { make: malformed, status: 413, rest: [413, 'RESOURCE_EXHAUSTED', 8] },
  unauthenticated: { make: serverError, status: 401, rest: [401, 'UNAUTHENTICATED', 16] },
  'not-found': { make: notFound },
  gone: { make: malformed },
  'context-refused': { make: malformed },
  conflict: { make: malformed, rest: [409, 'ABORTED', 10] },
  terminal: { make: unsupported },
  unsupported: { make: unsupported },
  quota: { make: serverError, rest: [429, 'RESOURCE_EXHAUSTED', 8] },
  timeout: { make: internal, rest: [504, 'DEADLINE_EXCEEDED', 4] },
  unavailable: { make: internal, rest: [503, 'UNAVAILABLE', 14] },
  damaged: { make: internal, hidden: true },
  'newer-version': { make: internal, hidden: true },
  internal: { make: internal, hidden: true },
};

const generalSentence = 'the agent could not answer because of a fault of its own; try again later';

/**
 * The error of the A2A SDK for anything thrown; each of its transports knows how to put that on its
 * wire. Errors that are neither ours nor the SDK's tell the caller nothing of what is inside.
 */
export function toA2aError(error: unknown): A2AError {
  if (error instanceof A2AError) return error;
  if (!(error instanceof ThroughlineError)) {
    return toA2aError(new ThroughlineError('internal', generalSentence));
  }
  const { code, retryable, details, message } = error;
  const { make, hidden, rest } = wireErrors[code];
  const wait = details['retryAfterSeconds'];
  return make({
    message: hidden === true ? generalSentence : message,
    reason: rest?.[1] ?? 'INTERNAL_ERROR',
    metadata: {
      code,
      retryable: String(retryable),
      ...(typeof wait === 'number' ? { retryAfterSeconds: String(wait) } : {}),
    },
  });
}

export interface RpcErrorBody {
  readonly jsonrpc: '2.0';
  readonly id: string | number | null;
  readonly error: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** A whole JSON-RPC error answer with its HTTP status, for what fails outside a method. */
export function rpcFailure(
  error: unknown,
  id: string | number | null,
): { body: RpcErrorBody; status: 200 | 401 | 413 } {
  const { status = 200 } = error instanceof ThroughlineError ? wireErrors[error.code] : {};
  return { body: { jsonrpc: '2.0', id, error: rpcErrorOf(toA2aError(error)) }, status };
}

/** The SDK leaves out the details of what is no error of A2A's own. */
function rpcErrorOf(error: A2AError): RpcErrorBody['error'] {
  if (!(error instanceof JsonRpcTransportError)) return toJsonRpcError(error);
  return { code: error.envelopeCode, message: error.message, data: error.data };
}

/** A JSON-RPC error answer with a code of JSON-RPC itself: −32700 not JSON, −32600 not a request, −32601 no such method. */
export const rpcProtocolFailure = (
  code: -32_700 | -32_600 | -32_601,
  message: string,
  id: string | number | null = null,
): RpcErrorBody => ({ jsonrpc: '2.0', id, error: { code, message } });

const ourMetadata = z.object({ code: z.enum(errorCodes), retryable: z.enum(['true', 'false']) });

/** Where our code of an error has a place of its own on HTTP+JSON and gRPC. */
function placeOf({ metadata }: A2AError): WireError['rest'] {
  const ours = ourMetadata.safeParse(metadata);
  return ours.success ? wireErrors[ours.data.code].rest : undefined;
}

/** HTTP headers of an error answer: how to come in, when to come again. */
export function failureHeaders(thrown: unknown, status: number): Record<string, string> {
  const { retryAfterSeconds } = toA2aError(thrown).metadata ?? {};
  return {
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    ...(retryAfterSeconds === undefined ? {} : { 'retry-after': retryAfterSeconds }),
  };
}

/** A whole HTTP+JSON error answer (A2A 11.6) for anything thrown, with its HTTP status. */
export function restFailure(thrown: unknown): { body: RestErrorBody; status: number } {
  const error = toA2aError(thrown);
  const place = placeOf(error);
  const status = place?.[0] ?? restStatusFor(error);
  const { error: body } = toRestErrorBody(error, status);
  const name = place?.[1] ?? (status === 500 ? 'INTERNAL' : body.status);
  return { body: { error: { ...body, status: name } }, status };
}

/** The number of google.rpc.Code for an error of the SDK, where A2A leaves it open. */
export const grpcCodeFor = (error: A2AError): number | undefined => placeOf(error)?.[2];

/** `error.data`: what `toA2aError` put into ErrorInfo.metadata; anything else a peer may put there. */
const errorInfo = z.array(z.looseObject({ metadata: ourMetadata.optional().catch(undefined) }));

/** What the status of HTTP+JSON or gRPC says, where nothing else does. */
const peerStatuses: ReadonlyMap<number, ErrorCode> = new Map(
  errorCodes.flatMap((code): [number, ErrorCode][] => {
    const place = wireErrors[code].rest;
    return place === undefined || code === 'conflict'
      ? []
      : [
          [place[0], code],
          ...(code === 'too-large' ? [] : [[place[2], code] satisfies [number, ErrorCode]]),
        ];
  }),
);

const grpcError = z.looseObject({ transport: z.literal('grpc'), status: z.int() });

const grpcCancelled = 1;

/** On gRPC: the connection was closed on the peer's side in the middle of the call. */
export const isCutOff = (error: unknown): boolean =>
  error instanceof A2AError && !isRestError(error) && statusOf(error) === grpcCancelled;

/** HTTP status or gRPC code that an error came with. */
function statusOf(error: A2AError): number | undefined {
  if (isRestError(error)) return error.statusCode;
  const grpc = grpcError.safeParse(error);
  return grpc.success ? grpc.data.status : undefined;
}

/** Codes of errors that a peer reports, first match wins; a peer of ours says the exact code itself. */
const peerErrors: readonly (readonly [new () => A2AError, ErrorCode])[] = [
  [TaskNotFoundError, 'not-found'],
  [TaskNotCancelableError, 'terminal'],
  [UnsupportedOperationError, 'unsupported'],
  [PushNotificationNotSupportedError, 'unsupported'],
  [ContentTypeNotSupportedError, 'unsupported'],
  [VersionNotSupportedError, 'unsupported'],
  [RequestMalformedError, 'invalid'],
];

/** What a peer answered, as one of our errors; `peer` is its URL. */
export function fromA2aError(error: unknown, peer: string): ThroughlineError {
  if (error instanceof ThroughlineError) return error;
  const text = error instanceof Error ? error.message.slice(0, 500) : 'no reason given';
  const message = `${peer} answered: ${text}`;
  if (!(error instanceof A2AError)) {
    return new ThroughlineError('internal', message, { cause: error });
  }
  const said = errorInfo.safeParse(
    isJsonRpcError(error) ? error.data : [{ metadata: error.metadata }],
  );
  const { code: exact, retryable } = said.data?.find(({ metadata }) => metadata)?.metadata ?? {};
  if (exact !== undefined) {
    return new ThroughlineError(exact, message, { retryable: retryable === 'true', cause: error });
  }
  const code =
    isJsonRpcError(error) && error.envelopeCode === serverErrorCode
      ? 'unauthenticated'
      : (peerErrors.find(([type]) => error instanceof type)?.[1] ??
        peerStatuses.get(statusOf(error) ?? 0) ??
        'internal');
  return new ThroughlineError(code, message, { cause: error });
}
