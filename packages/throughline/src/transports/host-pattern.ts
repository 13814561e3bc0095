import { ThroughlineError } from '../errors.ts';

/** A host as lists compare it: no brackets of IPv6, no dot at the end. `hostname` is a parsed URL's. */
export const bareHost = (hostname: string): string =>
  hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');

export type MatchHost = (host: string) => boolean;

/**
 * Matches bare hosts against `name.example`, an IP address, `*.example` (any depth below, not itself)
 * or `*`. Patterns are normalised as URLs are: case, IDN, spellings of addresses.
 *
 * @throws ThroughlineError `invalid` for a pattern that is no host.
 */
export function hostMatcher(patterns: readonly string[]): MatchHost {
  const exact = new Set<string>();
  const suffixes: string[] = [];
  for (const pattern of patterns) {
    if (pattern === '*') return () => true;
    const below = pattern.startsWith('*.');
    const host = below ? pattern.slice(2) : pattern;
    const url = /[/\\?#@*:\s]/.test(host.replace(/^\[[\da-f:.]+\]$/i, ''))
      ? null
      : URL.parse(`https://${host}/`);
    if (url === null) {
      throw new ThroughlineError(
        'invalid',
        `${JSON.stringify(pattern)} is no host pattern; write name.example, *.example, an IP address ([…] for IPv6) or *`,
      );
    }
    const bare = bareHost(url.hostname);
    if (below) suffixes.push(`.${bare}`);
    else exact.add(bare);
  }
  return (host) => exact.has(host) || suffixes.some((suffix) => host.endsWith(suffix));
}
