import { ThroughlineError } from '../errors.ts';
import type { Hop, OutboundResponse } from './exchange.ts';

const statuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** What another origin may see of a redirected request; everything else may be a credential. */
const harmless = /^(accept|accept-language|accept-encoding|user-agent)$/;

/** Where an answer sends a request that may be sent again as it is (RFC 9110, 15.4), as it was written. */
export function redirectOf(hop: Hop, answer: OutboundResponse): string | undefined {
  const isSafe = hop.method === 'GET' || hop.method === 'HEAD';
  return isSafe && statuses.has(answer.status) ? answer.headers.get('location') : undefined;
}

/**
 * The request to a redirect's checked target. No credential and no body crosses an origin.
 *
 * @throws ThroughlineError `invalid` where it leads from TLS to plain text.
 */
export function redirected(hop: Hop, url: URL): Hop {
  if (hop.url.protocol === 'https:' && url.protocol === 'http:') {
    throw new ThroughlineError('invalid', `${hop.url.origin}: redirects from https to http`, {
      details: { rule: 'scheme', host: url.hostname },
    });
  }
  if (url.origin === hop.url.origin) return { ...hop, url };
  const kept = Object.entries(hop.headers).filter(([name]) => harmless.test(name));
  return { ...hop, url, headers: Object.fromEntries(kept), body: undefined };
}
