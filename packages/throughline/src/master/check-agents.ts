import { peerUrl } from '../bindings/a2a/peer-fetch.ts';
import { ThroughlineError } from '../errors.ts';
import type { KnownAgent } from './connection.ts';

/**
 * Refuses agents that a Master could never call, before it makes any plan with them.
 *
 * @throws ThroughlineError `invalid` for the same id twice, or an address that may not be called.
 */
export function checkAgents(agents: readonly KnownAgent[], allowPlainHttp?: boolean): void {
  const ids = new Set<string>();
  for (const { id, url } of agents) {
    if (ids.has(id)) throw new ThroughlineError('invalid', `agent ${id}: is there twice`);
    ids.add(id);
    try {
      peerUrl(url, allowPlainHttp);
    } catch (cause) {
      if (!(cause instanceof ThroughlineError)) throw cause;
      throw new ThroughlineError(cause.code, `agent ${id}: ${cause.message}`, { cause });
    }
  }
}
