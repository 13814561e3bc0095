import { ThroughlineError } from '../errors.ts';
import type { KnownAgent } from './connection.ts';

/** The agent, or the way to it, failed: everything else is the Master's own trouble. */
export class AgentFailure extends Error {
  readonly error: ThroughlineError;
  constructor(error: ThroughlineError) {
    super('the agent failed', { cause: error });
    this.error = error;
  }
}

/** A store that an item lies in is away for now: tried again like an agent, which is not to blame. */
export class StoreAway extends AgentFailure {}

/** Marks what the agent is to blame for; never waits beyond the signal. */
export async function fromAgent<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const late = new ThroughlineError('timeout', 'The agent did not answer in time.');
  const onAbort = (): void => reject(late);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    if (signal.aborted) onAbort();
    return await Promise.race([signal.aborted ? aborted : work(), aborted]);
  } catch (error) {
    if (signal.aborted) throw new AgentFailure(late);
    throw error instanceof ThroughlineError ? new AgentFailure(error) : error;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}

/** Why an agent failed, and what to do where it did not let the call in. */
export function reasonOf(
  { code, message }: ThroughlineError,
  { behind, credential }: Pick<KnownAgent, 'behind' | 'credential'>,
): string {
  if (code !== 'unauthenticated') return message;
  if (credential !== undefined) {
    return `${message}. Its credential (keyFile in a file of agents) does not count there`;
  }
  const instead = behind === 'hub' ? ', and leave out behind: it is served behind another hub' : '';
  return `${message}. Give it a credential (keyFile in a file of agents)${instead}`;
}
