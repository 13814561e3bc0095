import { A2A_PROTOCOL_VERSION, type AgentCard, type AgentInterface } from '@a2a-js/sdk';
import { JsonRpcTransportFactory, RestTransportFactory, type Transport } from '@a2a-js/sdk/client';
import { ThroughlineError } from '../../errors.ts';
import { grpcPackages } from './grpc-packages.ts';
import { peerUrl } from './peer-fetch.ts';

/** Ways to speak A2A 1.0, by the names of ours. */
export const peerTransports = ['jsonrpc', 'http-json', 'grpc'] as const;
export type PeerTransport = (typeof peerTransports)[number];

const bindings: Readonly<Record<PeerTransport, string>> = {
  jsonrpc: 'JSONRPC',
  'http-json': 'HTTP+JSON',
  grpc: 'GRPC',
};

export interface OpenedTransport {
  readonly transport: Transport;
  readonly kind: PeerTransport;
  readonly address: string;
  /** Headers that the transport does not add by itself. */
  readonly headers: Readonly<Record<string, string>>;
  readonly close: () => void;
}

export interface TransportOptions {
  readonly card: AgentCard;
  /** Where the card was found; undefined for one that was handed in. */
  readonly from: URL | undefined;
  readonly prefer: PeerTransport | undefined;
  readonly allowPlainHttp: boolean | undefined;
  readonly fetch: typeof fetch;
  readonly headers: Readonly<Record<string, string>>;
}

/** Interfaces of version 1.0 that we speak: the preferred one first, then in the card's order. */
function interfacesOf({ card, prefer }: TransportOptions): [PeerTransport, AgentInterface][] {
  const found = card.supportedInterfaces.flatMap((each): [PeerTransport, AgentInterface][] => {
    const kind = peerTransports.find((name) => bindings[name] === each.protocolBinding);
    const speaks = kind !== undefined && each.protocolVersion === A2A_PROTOCOL_VERSION;
    return speaks ? [[kind, each]] : [];
  });
  const isPreferred = ([kind]: [PeerTransport, AgentInterface]): boolean => kind === prefer;
  return [...found.filter(isPreferred), ...found.filter((each) => !isPreferred(each))];
}

/**
 * Opens the first interface of a card that may be used. Credentials go to the card's own origin
 * alone, on gRPC to its host. Throws `unsupported` when the card names none that we speak.
 */
export async function openTransport(options: TransportOptions): Promise<OpenedTransport> {
  const { card, from } = options;
  const [first] = interfacesOf(options);
  if (first === undefined) {
    const where = from?.origin ?? card.supportedInterfaces[0]?.url ?? card.name;
    throw new ThroughlineError(
      'unsupported',
      `${where}: no JSON-RPC, HTTP+JSON or gRPC interface of A2A 1.0`,
    );
  }
  const [kind, { url }] = first;
  return kind === 'grpc' ? openGrpcTransport(options, url) : openHttp(options, kind, url);
}

function checkPlace(from: URL | undefined, own: string, address: string): void {
  if (from === undefined || own === address) return;
  throw new ThroughlineError(
    'invalid',
    `the card at ${from.origin} names ${address} as the agent's address; connect to that one, or pass the card itself`,
  );
}

async function openHttp(
  { card, from, allowPlainHttp, ...options }: TransportOptions,
  kind: 'jsonrpc' | 'http-json',
  url: string,
): Promise<OpenedTransport> {
  const address = peerUrl(url, allowPlainHttp);
  checkPlace(from, from?.origin ?? '', address.origin);
  const Factory = kind === 'jsonrpc' ? JsonRpcTransportFactory : RestTransportFactory;
  const transport = await new Factory({ fetchImpl: options.fetch }).create(address.href, card);
  return { transport, kind, address: address.href, headers: {}, close: () => undefined };
}

/** `host:port`, or a URL with one. Plain text only where plain HTTP would be. */
async function openGrpcTransport(
  { card, from, allowPlainHttp, headers }: TransportOptions,
  address: string,
): Promise<OpenedTransport> {
  const secure =
    address.startsWith('https://') || (!isPlain(address) && from?.protocol === 'https:');
  const bare = address.replace(/^[a-z]+:\/\//, '').replace(/\/$/, '');
  const url = peerUrl(`${secure ? 'https' : 'http'}://${bare}`, allowPlainHttp);
  checkPlace(from, from?.hostname ?? '', url.hostname);
  const { grpc, client } = await grpcPackages();
  const grpcChannelCredentials = secure
    ? grpc.credentials.createSsl()
    : grpc.credentials.createInsecure();
  const transport = await new client.GrpcTransportFactory({ grpcChannelCredentials }).create(
    bare,
    card,
  );
  const close = (): void => {
    // The SDK keeps its channel to itself and has no way to close it.
    const channel: unknown = Reflect.get(transport, 'grpcClient');
    if (channel instanceof grpc.Client) channel.close();
  };
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return { transport, kind: 'grpc', address, headers: Object.fromEntries(lower), close };
}

const isPlain = (address: string): boolean => address.startsWith('http://');
