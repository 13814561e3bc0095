import { ThroughlineError } from '../errors.ts';
import type { Principal } from '../model/principal.ts';
import { isLocalHost } from '../models/local-host.ts';
import type { ServeAgentOptions } from './serve-agent.ts';

/**
 * Refuses at the start what would fail at the first message: nothing to do the work, a key that is not
 * the agent's, AgentContexts in the clear over a network. A hub that is away is waited for later.
 *
 * @throws ThroughlineError `invalid`, or `unauthenticated` for a key that the hub does not know.
 */
export async function checkStart(options: ServeAgentOptions): Promise<void> {
  const { handler, onMessage, principal, onFault } = options;
  if (handler === undefined && onMessage === undefined) {
    throw new ThroughlineError(
      'invalid',
      'An agent needs something that does the work: give handler for AgentContexts, onMessage for plain messages, or both.',
    );
  }
  if (handler !== undefined) checkTransport(options);
  const owner = await ownerOfKey(options).catch((error: unknown) => {
    const isAway = error instanceof ThroughlineError && error.retryable;
    if (!isAway) throw error;
    onFault?.(error, {});
    return undefined;
  });
  if (owner !== undefined && !isSame(owner, principal)) {
    throw new ThroughlineError(
      'invalid',
      `The key belongs to ${nameOf(owner)}, and the agent is to be ${nameOf(principal)}; give it its own key, or its principal as the key has it.`,
    );
  }
}

async function ownerOfKey({ ports, principal }: ServeAgentOptions): Promise<Principal | undefined> {
  try {
    return await ports.whoAmI?.();
  } catch (error) {
    if (!(error instanceof ThroughlineError && error.code === 'unauthenticated')) throw error;
    throw new ThroughlineError(
      'unauthenticated',
      `The hub does not know the key of ${nameOf(principal)}; make one for it with \`throughline keys create\`.`,
      { cause: error },
    );
  }
}

const isSame = (a: Principal, b: Principal): boolean =>
  a.tenant === b.tenant && a.id === b.id && a.role === b.role;

const nameOf = ({ id, role, tenant }: Principal): string => `${role} ${id} of tenant ${tenant}`;

function checkTransport({
  host = '127.0.0.1',
  publicUrl,
  plainHttp = false,
}: ServeAgentOptions): void {
  const isSafe = isLocalHost(host) || publicUrl?.startsWith('https://') === true;
  if (isSafe || plainHttp) return;
  throw new ThroughlineError(
    'invalid',
    `AgentContexts would come in over plain http on ${host}. Put TLS in front and name its address as publicUrl, serve on 127.0.0.1, or allow it with plainHttp.`,
  );
}
