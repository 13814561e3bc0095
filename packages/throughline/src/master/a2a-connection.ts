import { connectA2a, type PeerTransport } from '../bindings/a2a/index.ts';
import type { A2aPorts } from '../bindings/a2a/ports.ts';
import { contentAccessKey, proofKeyParam, thumbprint } from '../model/content.ts';
import type { Observation } from '../model/observation.ts';
import type { Caller, Principal } from '../model/principal.ts';
import { bareHost, hostMatcher } from '../transports/host-pattern.ts';
import type { AgentConnection, Connect, KnownAgent } from './connection.ts';
import type { MasterPorts } from './ports.ts';
import { sharing } from './shared-connections.ts';

export interface A2aConnectOptions {
  readonly ports: Pick<MasterPorts, 'callToken'>;
  /** Where the client side tells what it sees. */
  readonly a2a: Pick<A2aPorts, 'observe'>;
  /** The Master's own principal and name. */
  readonly principal: Principal;
  readonly name: string;
  /** Plain http to another machine is refused unless this is set. */
  readonly allowPlainHttp?: boolean | undefined;
  /** Which way to speak with agents whose card names it. Default: the first that the card names. */
  readonly transport?: PeerTransport | undefined;
  /** Bytes of one answer. Default 32 MiB. */
  readonly maxResponseBytes?: number | undefined;
  /** Hosts outside of the domain that are told the trace id. Default: none. */
  readonly traceHosts?: readonly string[] | undefined;
  /** Milliseconds before a broken connection is taken up again for the first time. */
  readonly retryMs: number;
  /** Told of observations that could not be recorded. */
  readonly onFault?: ((error: unknown) => void) | undefined;
}

/** Life of a call token; a connection that outlives it is opened anew. */
const callSeconds = 3_600;

/** An attempt ends by its own deadline; the binding's limit only must not come before. */
const timeoutMs = 86_400_000;

/** Reaches agents over A2A. */
export function connectOverA2a(options: A2aConnectOptions): Connect {
  const {
    ports,
    a2a,
    principal,
    name,
    allowPlainHttp,
    maxResponseBytes,
    retryMs,
    onFault,
    transport,
  } = options;
  const isTraced = hostMatcher(options.traceHosts ?? []);
  return sharing(async (agent, opening): Promise<AgentConnection> => {
    const client = await connectA2a({
      url: agent.url,
      self: { kind: 'agent', name, principal: principal.id },
      principal: agent.id,
      ports: { observe: (caller, seen) => observeInputs(a2a, caller, seen) },
      caller: { principal },
      retry: { attempts: 3, firstMs: retryMs, capMs: 5_000 },
      onFault: (error) => onFault?.(error),
      signal: opening,
      carriesTrace: agent.behind === 'hub' || isTraced(hostOf(agent.url)),
      ...(await credentialOf(ports, agent)),
      ...(allowPlainHttp !== undefined && { allowPlainHttp }),
      ...(transport !== undefined && { transport }),
      ...(maxResponseBytes !== undefined && { maxResponseBytes }),
    });
    return {
      url: client.url,
      extensions: client.extensions,
      ...proofKeyIn(client.extensionParams.get(contentAccessKey)),
      encode: (message) => client.encode(message),
      send: (message, place, signal) => client.watch(message, { place, signal, timeoutMs }),
      follow: (taskId, place, signal) => client.follow(taskId, { place, signal, timeoutMs }),
      cancel: (taskId, place, signal) => client.cancel(taskId, { place, signal, timeoutMs }),
      close: () => client.close(),
    };
  });
}

/** What is no thumbprint binds nothing: a token bound to it could be read by nobody. */
function proofKeyIn(params: Readonly<Record<string, unknown>> | undefined): { proofKey?: string } {
  const { data } = thumbprint.safeParse(params?.[proofKeyParam]);
  return data === undefined ? {} : { proofKey: data };
}

const hostOf = (url: string): string => (URL.canParse(url) ? bareHost(new URL(url).hostname) : '');

/**
 * What a task put out is the Master's to say: it knows where the bytes went, and the same output
 * would be there twice.
 */
async function observeInputs(
  a2a: Pick<A2aPorts, 'observe'>,
  caller: Caller,
  seen: readonly Observation[],
): Promise<void> {
  const told = seen.filter(({ kind }) => kind !== 'artifact');
  if (told.length > 0) await a2a.observe(caller, told);
}

async function credentialOf(
  ports: A2aConnectOptions['ports'],
  agent: KnownAgent,
): Promise<{ credential?: string }> {
  if (agent.behind === 'hub') {
    const token = await ports.callToken({ audience: agent.id, seconds: callSeconds });
    return { credential: `Bearer ${token}` };
  }
  return agent.credential === undefined ? {} : { credential: agent.credential };
}
