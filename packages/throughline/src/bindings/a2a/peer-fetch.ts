import { isIP } from 'node:net';
import { Agent } from 'undici';
import { ThroughlineError } from '../../errors.ts';

export interface PeerFetchOptions {
  /** Plain http to another machine is refused unless this is set. */
  readonly allowPlainHttp?: boolean | undefined;
  /** Bytes of one answer, a stream's included. */
  readonly maxResponseBytes: number;
  readonly headers: () => Readonly<Record<string, string>>;
}

/** What was in the way, and whether the request may have reached the peer. */
export type Sent = 'no' | 'unknown';

export const unreachable = (url: string, why: string, sent: Sent, cause?: unknown) =>
  new ThroughlineError('unavailable', `${url}: ${why}`, { details: { sent }, cause });

/** Whether the peer can not have seen the request. */
export const notSent = (error: unknown): boolean =>
  error instanceof ThroughlineError && error.details['sent'] === 'no';

const neverConnected = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' ||
  hostname === '[::1]' ||
  (isIP(hostname) === 4 && hostname.startsWith('127.'));

/** A URL that may be called; throws `invalid` for other schemes and for plain http off loopback. */
export function peerUrl(url: string, allowPlainHttp = false): URL {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const plain = parsed?.protocol === 'http:';
  if (parsed === undefined || !(plain || parsed.protocol === 'https:')) {
    throw new ThroughlineError('invalid', `the agent's address must be an http or https URL`);
  }
  if (parsed.username !== '' || parsed.password !== '') {
    throw new ThroughlineError('invalid', `the agent's address must not hold a credential`);
  }
  if (plain && !allowPlainHttp && !isLoopback(parsed.hostname)) {
    throw new ThroughlineError(
      'invalid',
      `${parsed.origin}: plain http to another machine is refused; use https, or allow it by name`,
    );
  }
  return parsed;
}

function codeOf(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : undefined;
}

/**
 * `fetch` for one peer: only URLs that may be called, no redirects (a credential would follow them),
 * answers bounded in size. A failure says whether the request may have reached the peer. Close the
 * dispatcher when done.
 */
export function peerFetch(options: PeerFetchOptions): {
  fetch: typeof fetch;
  readonly close: () => Promise<void>;
} {
  // How long a call may take is the caller's to say, by its signal.
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0, connect: { timeout: 10_000 } });
  const call: typeof fetch = async (input, init) => {
    const url = peerUrl(
      input instanceof Request ? input.url : String(input),
      options.allowPlainHttp,
    );
    const where = `${url.origin}${url.pathname}`;
    const headers = { ...options.headers(), ...Object.fromEntries(new Headers(init?.headers)) };
    const redirect = 'manual';
    let response: Response;
    try {
      response = await fetch(url, Object.assign({}, init, { headers, redirect, dispatcher }));
    } catch (error) {
      if (init?.signal?.aborted === true) throw error;
      const code = codeOf(error);
      const sent = code !== undefined && neverConnected.has(code) ? 'no' : 'unknown';
      throw unreachable(where, sent === 'no' ? 'not reached' : 'the connection broke', sent, error);
    }
    return checked(response, where, options.maxResponseBytes);
  };
  return { fetch: call, close: () => dispatcher.destroy() };
}

/** What is wrong when somebody else answers. */
const doubt = '; is this the address of an A2A agent?';

function checked(response: Response, where: string, limit: number): Response {
  const { status, statusText, headers } = response;
  if (status >= 300 && status < 400) {
    throw new ThroughlineError('invalid', `${where}: redirects (${status}) are not followed`);
  }
  const type = headers.get('content-type') ?? '';
  // Problem details are the word of whatever stands before the agent, not the agent's own.
  const speaksJson = type.includes('json') && !type.includes('problem+json');
  if (!speaksJson && status >= 400) {
    void response.body?.cancel().catch(() => undefined);
    if (status === 401 || status === 403) {
      throw new ThroughlineError('unauthenticated', `${where}: the credential is not accepted`);
    }
    if (status === 429)
      throw new ThroughlineError('quota', `${where}: too many calls`, { retryable: true });
    if (status >= 502) throw unreachable(where, `answered ${status}`, 'unknown');
    const isPlace = status === 404 || status === 405;
    throw new ThroughlineError('internal', `${where}: answered ${status}${isPlace ? doubt : ''}`);
  }
  if (type.includes('text/html')) {
    void response.body?.cancel().catch(() => undefined);
    throw new ThroughlineError('invalid', `${where}: answered with a web page${doubt}`);
  }
  if (response.body === null) return response;
  let size = 0;
  const bounded = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      size += chunk.length;
      if (size > limit) {
        controller.error(
          new ThroughlineError('too-large', `${where}: answered over ${limit} bytes`),
        );
      } else {
        controller.enqueue(chunk);
      }
    },
  });
  return new Response(response.body.pipeThrough(bounded), { status, statusText, headers });
}
