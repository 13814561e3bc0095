import { isIP, type LookupFunction } from 'node:net';
import { Client } from 'undici';
import { ThroughlineError } from '../errors.ts';
import { bareHost } from './host-pattern.ts';
import { type Stop, unlessAborted } from './stop.ts';

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface OutboundResponse {
  /** The last URL asked; another than the first only where redirects are followed. */
  readonly url: string;
  readonly status: number;
  /** By lower-case name; several of one name joined by `, `. */
  readonly headers: ReadonlyMap<string, string>;
  /** As it came: a `content-encoding` is not undone. */
  readonly body: Uint8Array;
}

export interface Hop {
  readonly url: URL;
  readonly method: Method;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
}

export interface HopBounds {
  readonly connectMs: number;
  readonly headersMs: number;
  readonly responseBytes: number;
  readonly ca: readonly string[] | undefined;
}

const headerBytes = 16_384;
/** Of many addresses of one host, these are tried. */
const maxAddresses = 8;

/** Answers with the checked addresses whatever the name: nothing said by DNS later counts. */
function pinned(addresses: readonly string[]): LookupFunction {
  const answers = addresses
    .slice(0, maxAddresses)
    .map((address) => ({ address, family: isIP(address) }));
  return (_host, options, callback) => {
    if (options.all === true) return callback(null, answers);
    const [first] = answers;
    callback(null, first?.address ?? '', first?.family);
  };
}

/** One request on a connection of its own, to one of the checked addresses, and its whole answer. */
export async function exchange(
  hop: Hop,
  addresses: readonly string[],
  bounds: HopBounds,
  stop: Stop,
): Promise<OutboundResponse> {
  const { url } = hop;
  const host = bareHost(url.hostname);
  const client = new Client(url.origin, {
    connect: {
      lookup: pinned(addresses),
      timeout: bounds.connectMs,
      rejectUnauthorized: true,
      // An IP address is no server name (RFC 6066, 3); its certificate is checked all the same.
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...(bounds.ca === undefined ? {} : { ca: [...bounds.ca] }),
    },
    autoSelectFamily: true,
    allowH2: false,
    pipelining: 0,
    maxHeaderSize: headerBytes,
    maxResponseSize: bounds.responseBytes,
    // Theirs begin again with each piece that comes, so that a slow peer never meets them.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  let sent = false;
  let limit = stop.within(bounds.connectMs, 'connecting');
  client.once('connect', () => {
    sent = true;
    limit.clear();
    limit = stop.within(bounds.headersMs, "the answer's head");
  });
  const ask = async (): Promise<OutboundResponse> => {
    const { method, headers, body } = hop;
    const path = url.pathname + url.search;
    const request = { path, method, headers, body: body ?? null, signal: stop.signal };
    const answer = await client.request(request);
    limit.clear();
    return {
      url: url.href,
      status: answer.statusCode,
      headers: new Map(
        Object.entries(answer.headers).map(([name, value]) => [name, [value].flat().join(', ')]),
      ),
      body: await answer.body.bytes(),
    };
  };
  try {
    // The client looks at the signal only once it is connected.
    return await unlessAborted(ask(), stop.signal);
  } catch (error) {
    throw failure(error, url, sent, bounds);
  } finally {
    limit.clear();
    // It waits for a connection that is being made, which the caller need not.
    stop.hold(client.destroy());
  }
}

type Failure = readonly [code: 'timeout' | 'too-large' | 'invalid', what: string];

function failure(error: unknown, url: URL, sent: boolean, bounds: HopBounds): ThroughlineError {
  if (error instanceof ThroughlineError) return error;
  const size = `the answer is larger than ${bounds.responseBytes} bytes`;
  const known: Readonly<Record<string, Failure>> = {
    UND_ERR_CONNECT_TIMEOUT: ['timeout', `no connection within ${bounds.connectMs} ms`],
    UND_ERR_RES_EXCEEDED_MAX_SIZE: ['too-large', size],
    UND_ERR_HEADERS_OVERFLOW: [
      'too-large',
      `the answer's headers are larger than ${headerBytes} bytes`,
    ],
    UND_ERR_INVALID_ARG: ['invalid', 'a header of the request is malformed'],
  };
  const code =
    error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  const [kind, what] = known[code] ?? [
    'unavailable' as const,
    `${sent ? 'the exchange broke off' : 'no connection'}${code === '' ? '' : ` (${code})`}`,
  ];
  return new ThroughlineError(kind, `${url.origin}: ${what}`, { cause: error, details: { sent } });
}
