import { AgentCard, AGENT_CARD_PATH, A2A_PROTOCOL_VERSION, A2A_VERSION_HEADER } from '@a2a-js/sdk';
import { ThroughlineError } from '../../errors.ts';
import { A2aClient, type ConnectA2aOptions } from './client.ts';
import { parseIJsonBytes } from './i-json.ts';
import { peerFetch, peerUrl } from './peer-fetch.ts';
import { openTransport } from './peer-transport.ts';

async function fetchCard(
  url: URL,
  call: typeof fetch,
  signal: AbortSignal | undefined,
): Promise<AgentCard> {
  const base = url.href.endsWith('/') ? url.href : `${url.href}/`;
  const address = url.pathname.endsWith('.json') ? url : new URL(AGENT_CARD_PATH, base);
  const timeout = AbortSignal.timeout(10_000);
  const response = await call(address, {
    headers: { accept: 'application/json', [A2A_VERSION_HEADER]: A2A_PROTOCOL_VERSION },
    signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
  });
  if (!response.ok) {
    throw new ThroughlineError('not-found', `${address.href}: no agent card (${response.status})`);
  }
  try {
    return AgentCard.fromJSON(parseIJsonBytes(new Uint8Array(await response.arrayBuffer())));
  } catch (error) {
    if (error instanceof ThroughlineError) throw error;
    throw new ThroughlineError('invalid', `${address.href}: not an agent card`, { cause: error });
  }
}

/**
 * Connects to an A2A 1.0 agent over JSON-RPC, HTTP+JSON or gRPC, whichever its card names first or
 * `transport` prefers. Throws `unsupported` when its card names no such interface or the packages
 * for gRPC are missing, `invalid` for an address that may not be called or lies on another origin
 * than the card.
 *
 * The SDK's transports speak the wire; what they do not do is around them: bounded answers, no
 * redirects, a cut told apart from an end, repeating what may be repeated.
 */
export async function connectA2a(options: ConnectA2aOptions): Promise<A2aClient> {
  const { credential, allowPlainHttp, signal } = options;
  const where = options.card?.supportedInterfaces[0]?.url ?? options.url ?? '';
  const from =
    options.card === undefined ? peerUrl(options.url ?? where, allowPlainHttp) : undefined;
  const maxResponseBytes = options.maxResponseBytes ?? 33_554_432;
  const headers = {
    ...options.headers,
    ...(credential === undefined ? {} : { authorization: credential }),
  };
  const bounds = { allowPlainHttp, maxResponseBytes };
  const http = peerFetch({ ...bounds, headers: () => headers });
  try {
    const card = options.card ?? (await fetchCard(from ?? new URL(where), http.fetch, signal));
    const opened = await openTransport({
      card,
      from,
      prefer: options.transport,
      allowPlainHttp,
      fetch: http.fetch,
      headers,
    });
    const close = async (): Promise<void> => {
      opened.close();
      await http.close();
    };
    return new A2aClient({ ...opened, card, close }, options);
  } catch (error) {
    await http.close();
    throw error;
  }
}
