import { BlockList, isIP } from 'node:net';
import { ThroughlineError } from '../errors.ts';

/**
 * Networks that no URL chosen by somebody else may lead to, by why. The first match names the reason.
 * IANA's special-purpose registries, and the clouds' metadata addresses, one of which is public.
 */
const refused = [
  [
    'metadata',
    [
      '169.254.169.254',
      '169.254.170.2',
      '168.63.129.16',
      '100.100.100.200',
      '192.0.0.192',
      'fd00:ec2::254',
      'fd20:ce::254',
    ],
  ],
  ['unspecified', ['0.0.0.0/8', '::']],
  ['loopback', ['127.0.0.0/8', '::1']],
  ['private', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fec0::/10']],
  ['link-local', ['169.254.0.0/16', 'fe80::/10']],
  ['carrier-shared', ['100.64.0.0/10']],
  ['multicast', ['224.0.0.0/4', 'ff00::/8']],
  [
    'documentation',
    ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20'],
  ],
  // Mapped, translated and compatible IPv4, NAT64, Teredo, 6to4 and its relays: each hides another address.
  [
    'embedded',
    [
      '::ffff:0:0/96',
      '::ffff:0:0:0/96',
      '::/96',
      '64:ff9b::/96',
      '64:ff9b:1::/48',
      '2001::/32',
      '2002::/16',
      '192.88.99.0/24',
    ],
  ],
  ['reserved', ['192.0.0.0/24', '198.18.0.0/15', '240.0.0.0/4', '2001::/23']],
] as const;

export type AddressFault = (typeof refused)[number][0] | 'denied' | 'not-global';

/** A list per family: one list for both would let an IPv4 address match the IPv6 network of mapped ones. */
class Networks {
  readonly #v4 = new BlockList();
  readonly #v6 = new BlockList();

  constructor(networks: readonly string[]) {
    for (const network of networks) {
      const [address = '', prefix, ...rest] = network.split('/');
      const family = address.includes('%') ? 0 : isIP(address);
      const bits = family === 4 ? 32 : 128;
      const length = prefix === undefined ? bits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1;
      if (family === 0 || rest.length > 0 || length < 0 || length > bits) {
        throw new ThroughlineError(
          'invalid',
          `${JSON.stringify(network)} is neither an IP address nor a network; write it as 10.1.2.3, 10.0.0.0/8 or fd00::/8`,
        );
      }
      if (family === 4) this.#v4.addSubnet(address, length, 'ipv4');
      else this.#v6.addSubnet(address, length, 'ipv6');
    }
  }

  has(address: string): boolean {
    return isIP(address) === 4 ? this.#v4.check(address, 'ipv4') : this.#v6.check(address, 'ipv6');
  }
}

const reasons = refused.map(([reason, networks]) => [reason, new Networks(networks)] as const);
/** All of IPv6 that is handed out for global use; what lies elsewhere is refused unseen. */
const globalV6 = new Networks(['2000::/3']);

export interface AddressOptions {
  /** Addresses and networks that may be called although they are not public: `10.1.2.3`, `fd00::/8`. */
  readonly allowAddresses?: readonly string[];
  /** Public addresses and networks that may not be called. Wins over `allowAddresses`. */
  readonly denyAddresses?: readonly string[];
}

/** Why an address may not be called, or undefined when it may. */
export type JudgeAddress = (address: string) => AddressFault | undefined;

/** @throws ThroughlineError `invalid` for an option that is no address or network. */
export function createAddressRules(options: AddressOptions): JudgeAddress {
  const allowed = new Networks(options.allowAddresses ?? []);
  const denied = new Networks(options.denyAddresses ?? []);
  return (address) => {
    // An address with a zone is one of a link, and the lists would not know it.
    if (isIP(address) === 0 || address.includes('%')) return 'link-local';
    if (denied.has(address)) return 'denied';
    if (allowed.has(address)) return undefined;
    const match = reasons.find(([, networks]) => networks.has(address));
    if (match !== undefined) return match[0];
    return isIP(address) === 6 && !globalV6.has(address) ? 'not-global' : undefined;
  };
}
