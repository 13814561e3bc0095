import { isIP } from 'node:net';
import { ThroughlineError } from '../errors.ts';
import { type AddressOptions, createAddressRules } from './address-rules.ts';
import { bareHost, hostMatcher } from './host-pattern.ts';

/** What a refused URL broke; in an error's `details.rule`. */
export type UrlRule = 'url' | 'scheme' | 'userinfo' | 'port' | 'host' | 'address';

export interface UrlOptions extends AddressOptions {
  /** Hosts that may be called, and no others: `name.example`, `*.example`. Default: any public one. */
  readonly allowHosts?: readonly string[];
  /** Hosts that may not be called. Wins over `allowHosts`. */
  readonly denyHosts?: readonly string[];
  /** Hosts that may be called over plain `http`. Default none: `https` only. */
  readonly plainHttpHosts?: readonly string[];
  /** Ports that may be called. Default 80, 443, 8080, 8443. */
  readonly ports?: readonly number[] | 'any';
}

export interface UrlRules {
  /** The URL, parsed (WHATWG) and allowed as far as can be told without DNS. @throws ThroughlineError `invalid` */
  parse(url: string, base?: URL): URL;
  /** Refuses a host of which one address may not be called. @throws ThroughlineError `invalid` */
  checkAddresses(url: URL, addresses: readonly string[]): void;
}

const defaultPorts = [80, 443, 8080, 8443];
const urlCharacters = 8_192;
/** Names that mean something else in each network; public DNS does not serve them. */
const localNames = ['local', 'internal', 'home.arpa', 'onion'];

/** Blanks, control characters (by their category) and backslashes. */
const ambiguous = /[\s\\\p{Cc}]/u;

/** Never more of a URL than its origin: paths and queries carry secrets. */
function refuse(rule: UrlRule, url: URL | undefined, why: string, fault?: string): never {
  const where = url === undefined ? 'a URL' : `${url.protocol}//${url.host}`;
  throw new ThroughlineError('invalid', `${where} may not be called: ${why}`, {
    details: {
      rule,
      ...(url === undefined ? {} : { host: url.hostname }),
      ...(fault === undefined ? {} : { fault }),
    },
  });
}

/**
 * Parses as browsers do, and refuses what parsers are known to read in more than one way:
 * blanks, control characters, backslashes, and a scheme without exactly two slashes.
 */
function parseUrl(text: string, base?: URL): URL {
  if (text.length > urlCharacters) {
    refuse('url', undefined, `it is longer than ${urlCharacters} characters`);
  }
  if (ambiguous.test(text)) {
    refuse('url', undefined, 'it holds a blank, a control character or a backslash; encode them');
  }
  const url = URL.parse(text, base?.href);
  if (url === null) refuse('url', undefined, 'it is not a URL; write https://host/path');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    refuse('scheme', undefined, 'its scheme is not https');
  }
  if (base === undefined && !/^https?:\/\/[^/]/i.test(text)) {
    refuse('url', undefined, 'its scheme is not followed by exactly two slashes');
  }
  return url;
}

/** @throws ThroughlineError `invalid` for an option that is no host, address or network. */
export function createUrlRules(options: UrlOptions): UrlRules {
  const listed = options.allowHosts && hostMatcher(options.allowHosts);
  const denied = hostMatcher(options.denyHosts ?? []);
  const plain = hostMatcher(options.plainHttpHosts ?? []);
  const ports = options.ports ?? defaultPorts;
  const judge = createAddressRules(options);

  const checkAddresses = (url: URL, addresses: readonly string[]): void => {
    for (const address of addresses) {
      const fault = judge(address);
      // The address itself would map somebody's network for whoever reads the error.
      if (fault !== undefined) refuse('address', url, `it leads to a ${fault} address`, fault);
    }
  };

  const checkHost = (url: URL, host: string): void => {
    if (host.split('.').includes('')) refuse('host', url, 'its host has an empty label');
    if (denied(host)) refuse('host', url, 'its host is on the list of denied ones');
    if (listed !== undefined && !listed(host)) {
      refuse('host', url, 'its host is not on the list of allowed ones');
    }
    if (isIP(host) !== 0) return checkAddresses(url, [host]);
    if (host === 'localhost' || host.endsWith('.localhost')) {
      // RFC 6761, 6.3: such a name is loopback, in whichever family is there.
      if (judge('::1') !== undefined) checkAddresses(url, ['127.0.0.1']);
      return;
    }
    const isLocal =
      !host.includes('.') || localNames.some((name) => `.${host}`.endsWith(`.${name}`));
    if (isLocal && listed === undefined) {
      refuse('host', url, 'its host is a name of some local network; an operator may list it');
    }
  };

  return {
    checkAddresses,
    parse(text, base) {
      const url = parseUrl(text, base);
      if (url.username !== '' || url.password !== '') {
        refuse('userinfo', url, 'it holds a user name or password; send a header instead');
      }
      const host = bareHost(url.hostname);
      if (url.protocol === 'http:' && !plain(host)) {
        refuse('scheme', url, 'it is not https');
      }
      const port = Number(url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : url.port);
      if (port === 0 || (ports !== 'any' && !ports.includes(port))) {
        refuse('port', url, `its port ${port} is not on the list of allowed ones`);
      }
      checkHost(url, host);
      return url;
    },
  };
}
