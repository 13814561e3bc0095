import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { ThroughlineError } from '../errors.ts';
import { bareHost } from './host-pattern.ts';
import { type Stop, unlessAborted } from './stop.ts';

/** All addresses of a host. A name that has none is an empty list, or an error. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

export const resolveBySystem: ResolveHost = async (host) =>
  (await lookup(host, { all: true, order: 'verbatim' })).map(({ address }) => address);

/**
 * All addresses of a URL's host, asked for once.
 *
 * @throws ThroughlineError `unavailable` when it has none; `timeout`.
 */
export async function addressesOf(
  url: URL,
  resolve: ResolveHost,
  ms: number,
  stop: Stop,
): Promise<readonly string[]> {
  const host = bareHost(url.hostname);
  if (isIP(host) !== 0) return [host];
  const limit = stop.within(ms, 'DNS');
  let cause: unknown;
  try {
    const work = resolve(url.hostname);
    stop.hold(work);
    const addresses = await unlessAborted(work, stop.signal);
    if (addresses.length > 0) return addresses;
  } catch (error) {
    if (stop.signal.aborted) throw error;
    cause = error;
  } finally {
    limit.clear();
  }
  throw new ThroughlineError('unavailable', `${url.origin}: its host has no address in DNS`, {
    cause,
    details: { sent: false },
  });
}
