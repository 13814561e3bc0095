import { Extensions, HTTP_EXTENSION_HEADER } from '@a2a-js/sdk';
import { LEGACY_HTTP_EXTENSION_HEADER } from '@a2a-js/sdk/compat/v0_3';
import { ServerCallContext, type User } from '@a2a-js/sdk/server';
import { ThroughlineError } from '../../errors.ts';
import { correlationExtension, type Envelope } from '../../model/envelope.ts';
import type { Caller, Principal } from '../../model/principal.ts';
import { traceFrom, type Trace } from '../../telemetry/trace.ts';
import { parseCursor } from './marks.ts';
import type { A2aPorts } from './ports.ts';
import { legacyVersion } from './version.ts';

const stateKey = 'throughline.call';
/** Longest credential that is looked at: with what else a call carries, a hub reads headers up to 16 KiB. */
const credentialBytes = 15_360;

/** Whose credential it is. Throws `unauthenticated`, for one that is longer than any without asking. */
export async function authenticated(
  ports: Pick<A2aPorts, 'authenticate'>,
  credential: string | undefined,
): Promise<Caller> {
  if (credential === undefined) return { principal: await ports.authenticate(credential) };
  if (credential.length > credentialBytes) {
    const what = `the credential is over ${credentialBytes} bytes; send a key of this hub as Bearer`;
    throw new ThroughlineError('unauthenticated', what);
  }
  return { principal: await ports.authenticate(credential), credential };
}

/** What the route established about a call; travels in the SDK's call context. */
class Call {
  readonly caller: Caller;
  readonly trace: Trace | undefined;
  readonly cursor: number | undefined;
  seq: number | undefined;

  constructor(caller: Caller, trace: Trace | undefined, cursor: number | undefined) {
    this.caller = caller;
    this.trace = trace;
    this.cursor = cursor;
  }
}

const userOf = (principal: Principal): User => ({
  isAuthenticated: true,
  userName: principal.id,
});

/** A call context of the SDK that knows who calls. Only a route that authenticated may make one. */
export function callContext(
  caller: Caller,
  options: {
    trace?: Trace | undefined;
    extensions?: string[];
    version?: string;
    /** Number of the last update that the caller has of the task it subscribes to. */
    cursor?: number | undefined;
  } = {},
): ServerCallContext {
  return new ServerCallContext({
    user: userOf(caller.principal),
    requestedExtensions: options.extensions ?? [],
    requestedVersion: options.version ?? '1.0',
    state: new Map([[stateKey, new Call(caller, options.trace, options.cursor)]]),
  });
}

/**
 * The context of an authenticated call from its headers, or what its wire has in place of them.
 * Throws `invalid` for a cursor that is none.
 */
export function contextFrom(
  caller: Caller,
  version: string,
  valueOf: (name: string) => string | undefined,
): ServerCallContext {
  const extensions = Extensions.parseServiceParameter(
    valueOf(HTTP_EXTENSION_HEADER) ?? valueOf(LEGACY_HTTP_EXTENSION_HEADER),
  );
  const context = callContext(caller, {
    version,
    extensions,
    trace: traceFrom({ get: (name) => valueOf(name) ?? null }),
    cursor: parseCursor(valueOf('last-event-id')),
  });
  if (extensions.includes(correlationExtension)) {
    context.addActivatedExtension(correlationExtension);
  }
  return context;
}

/** The header that says which extensions are in effect; empty where none is. */
export function activeExtensions(context: ServerCallContext): Record<string, string> {
  const active = context.activatedExtensions ?? [];
  const name =
    context.requestedVersion === legacyVersion
      ? LEGACY_HTTP_EXTENSION_HEADER
      : HTTP_EXTENSION_HEADER;
  return active.length === 0 ? {} : { [name]: Extensions.toServiceParameter(active) };
}

function callOf(context: ServerCallContext): Call {
  const call = context.state.get(stateKey);
  if (call instanceof Call) return call;
  throw new ThroughlineError(
    'unauthenticated',
    'the call names no caller; send an Authorization header',
  );
}

/** Who calls. Throws `unauthenticated` for a context that no authenticating route made. */
export const callerOf = (context: ServerCallContext): Caller => callOf(context).caller;

export const traceOf = (context: ServerCallContext): Trace | undefined => callOf(context).trace;

export const cursorOf = (context: ServerCallContext): number | undefined => callOf(context).cursor;

/** Marks go only to those who know of them: by the extension, or since they named one. */
export const wantsMarks = (context: ServerCallContext): boolean =>
  cursorOf(context) !== undefined ||
  (context.activatedExtensions ?? []).includes(correlationExtension);

/** The number of the update that a stream gave last, for a wire that has a place of its own for it. */
export const lastSeqOf = (context: ServerCallContext): number | undefined => callOf(context).seq;

export function noteSeq(context: ServerCallContext, seq: number | undefined): void {
  callOf(context).seq = seq;
}

/** What an executor may know of the call it works for, beside the SDK's request context. */
export interface Execution {
  /** Who sent the message; the same one when a restart runs the task again. */
  readonly caller: Principal;
  /** Correlation envelope of the message; untrusted. */
  readonly envelope?: Envelope;
  readonly trace?: Trace;
  /** A process that died began this task before. */
  readonly resumed: boolean;
}

const executionKey = 'throughline.execution';

class Held {
  readonly execution: Execution;

  constructor(execution: Execution) {
    this.execution = execution;
  }
}

export function holdExecution(context: ServerCallContext, execution: Execution): void {
  context.state.set(executionKey, new Held(execution));
}

/** The Execution behind `requestContext.context`; undefined outside an executor of this binding. */
export function executionOf(context: ServerCallContext): Execution | undefined {
  const held = context.state.get(executionKey);
  return held instanceof Held ? held.execution : undefined;
}
