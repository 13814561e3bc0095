import { hubAway, retrying, type Backoff } from '../bindings/a2a/retry.ts';
import type { AgentPorts } from './ports.ts';

/**
 * Ports that wait for a hub which is away, until the task is cancelled. All calls may be made twice:
 * an output takes the place of the one of its name.
 */
export const patient = (
  ports: AgentPorts,
  signal: AbortSignal,
  backoff: Backoff = hubAway,
): AgentPorts => ({
  getContent: (uri, token, prove) =>
    retrying(backoff, () => ports.getContent(uri, token, prove), { signal }),
  renewToken: (token, prove) => retrying(backoff, () => ports.renewToken(token, prove), { signal }),
  putOutput: (output) => retrying(backoff, () => ports.putOutput(output), { signal }),
});
