import { readFileSync } from 'node:fs';
import { ThroughlineError } from '../errors.ts';
import type { JwtOptions } from '../hub/index.ts';
import { createOutbound } from '../transports/index.ts';

/** Whose tokens a hub takes beside its own keys, as an operator sets it. */
export interface JwtSettings extends Omit<JwtOptions, 'keys'> {
  /** Where the issuer publishes its keys; https, or http on this machine. */
  readonly jwksUrl?: string;
  /** A file with the issuer’s keys. */
  readonly jwksFile?: string;
}

const loopback: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];
/** Unlike a URL of somebody else, an operator’s may lead into the operator’s own network. */
const ownNetworks = [
  '127.0.0.0/8',
  '::1',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  'fc00::/7',
];
const keySetBytes = 1_048_576;

/** Throws `invalid` for a file that holds no keys, and for a URL that may not be called. */
export function jwtOptions({ jwksUrl, jwksFile, ...rest }: JwtSettings): JwtOptions {
  if ((jwksUrl === undefined) === (jwksFile === undefined)) {
    throw new ThroughlineError('invalid', '--jwks-url, --jwks-file: give one of the two');
  }
  if (jwksUrl === undefined) return { ...rest, keys: readKeys(jwksFile ?? '') };
  const host = URL.canParse(jwksUrl) ? new URL(jwksUrl).hostname : '';
  const outbound = createOutbound({
    allowHosts: [host],
    allowAddresses: ownNetworks,
    ports: 'any',
    plainHttpHosts: loopback.includes(host) ? [host] : [],
    responseBytes: keySetBytes,
  });
  outbound.check(jwksUrl);
  return { ...rest, keys: { url: jwksUrl, send: (request) => outbound.send(request) } };
}

function readKeys(file: string): { keys: { kty: string }[] } {
  try {
    const keys: { keys: { kty: string }[] } = JSON.parse(readFileSync(file, 'utf8'));
    return keys;
  } catch (cause) {
    throw new ThroughlineError('invalid', `${file}: can’t be read as a set of keys (JWKS)`, {
      cause,
    });
  }
}
