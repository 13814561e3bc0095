import { AgentCard, AGENT_CARD_PATH, A2A_PROTOCOL_VERSION, A2A_VERSION_HEADER } from '@a2a-js/sdk';
import { JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import { ThroughlineError } from '../../errors.ts';
import { A2aClient, type ConnectA2aOptions } from './client.ts';
import { parseIJsonBytes } from './i-json.ts';
import { peerFetch, peerUrl } from './peer-fetch.ts';

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
 * Connects to an A2A 1.0 agent over JSON-RPC. Throws `unsupported` when its card names no such
 * interface, `invalid` for an address that may not be called or lies on another origin than the card.
 *
 * The SDK's transport speaks the wire; what it does not do is around it: bounded answers, no
 * redirects, a cut told apart from an end, repeating what may be repeated.
 */
export async function connectA2a(options: ConnectA2aOptions): Promise<A2aClient> {
  const { credential, headers, allowPlainHttp, signal } = options;
  const where = options.card?.supportedInterfaces[0]?.url ?? options.url ?? '';
  const url = peerUrl(options.url ?? where, allowPlainHttp);
  const maxResponseBytes = options.maxResponseBytes ?? 33_554_432;
  const all = { ...headers, ...(credential === undefined ? {} : { authorization: credential }) };
  const bounds = { allowPlainHttp, maxResponseBytes };
  const http = peerFetch({ ...bounds, headers: () => all });
  try {
    const card = options.card ?? (await fetchCard(url, http.fetch, signal));
    const found = card.supportedInterfaces.find(
      ({ protocolBinding, protocolVersion }) =>
        protocolBinding === 'JSONRPC' && protocolVersion === A2A_PROTOCOL_VERSION,
    );
    if (found === undefined) {
      throw new ThroughlineError('unsupported', `${url.origin}: no JSON-RPC interface of A2A 1.0`);
    }
    const address = peerUrl(found.url, allowPlainHttp);
    if (options.card === undefined && address.origin !== url.origin) {
      throw new ThroughlineError(
        'invalid',
        `the card at ${url.origin} names ${address.origin} as the agent's address; connect to that one, or pass the card itself`,
      );
    }
    const factory = new JsonRpcTransportFactory({ fetchImpl: http.fetch });
    const transport = await factory.create(address.href, card);
    const parts = { card, url: address.href, transport, close: http.close };
    return new A2aClient(parts, options);
  } catch (error) {
    await http.close();
    throw error;
  }
}
