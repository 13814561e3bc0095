import { ThroughlineError } from '../errors.ts';
import { Refusal } from './problem.ts';

/** Names under which a hub on this machine is reached, as URL.hostname gives them. */
const loopback: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Whether only this machine can reach an address that a server listens on. */
export const isLoopback = (host: string): boolean =>
  loopback.has(host) || loopback.has(`[${host}]`);

const hostnameOf = (authority: string): string | undefined =>
  URL.canParse(`http://${authority}`) ? new URL(`http://${authority}`).hostname : undefined;

const notServed = (header: string): Refusal =>
  new Refusal(
    header === 'Host' ? 421 : 403,
    new ThroughlineError(
      'invalid',
      `${header}: is neither a loopback name nor this hub’s own origin; call the hub by its origin`,
    ),
  );

/**
 * Refuses what a page of somebody else’s site can make a browser send: a name that was rebound to
 * this machine (421), a foreign Origin (403). Throws Refusal.
 */
export function checkSource(
  headers: { readonly host: string | undefined; readonly origin: string | undefined },
  own: URL,
): void {
  const host = hostnameOf(headers.host ?? '');
  if (host === undefined || !(loopback.has(host) || host === own.hostname)) {
    throw notServed('Host');
  }
  const { origin } = headers;
  if (origin === undefined || origin === own.origin) return;
  if (!URL.canParse(origin) || !loopback.has(new URL(origin).hostname)) throw notServed('Origin');
}

/** Answers are data for programs: nothing may sniff, frame, run, keep or leak them. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

/** Events must reach their reader as they come: no proxy may gather or rewrite them. */
export const streamHeaders: Readonly<Record<string, string>> = {
  ...securityHeaders,
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
};
