import { describe, expect, it } from 'vitest';
import { ThroughlineError } from '../errors.ts';
import { createOutbound, type OutboundOptions } from './index.ts';

const anyPlain: OutboundOptions = { plainHttpHosts: ['*'], ports: 'any' };

/** What a URL is refused for: the rule, and for an address what kind it is; '' when it is not. */
function verdict(url: string, options: OutboundOptions = anyPlain): string {
  try {
    createOutbound(options).check(url);
    return '';
  } catch (error) {
    if (!(error instanceof ThroughlineError) || error.code !== 'invalid') throw error;
    const { rule, fault } = error.details;
    return typeof fault === 'string' ? `${String(rule)} ${fault}` : String(rule);
  }
}

const noDns = (): never => expect.unreachable('DNS was asked');

const hostile: Readonly<Record<string, readonly string[]>> = {
  'address loopback': [
    'http://127.0.0.1/',
    'http://127.0.0.1./',
    'http://127.255.255.254/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0X7F.0.0.1/',
    'http://017700000001/',
    'http://0177.0.0.01/',
    'http://00000177.0.0.1/',
    'http://127.1/',
    'http://127.0.1/',
    'http://0x7f.1/',
    'http://127%2e0%2E0.1/',
    'http://%31%32%37.0.0.1/',
    'http://127。0。0。1/',
    'http://127．0．0．1/',
    'http://①②⑦.⓪.⓪.①/',
    'http://127.0.0\u00ad.1/',
    'http://[::1]/',
    'http://[0:0:0:0:0:0:0:1]/',
    'http://[0000:0000::0001]:8080/',
    'http://localhost/',
    'http://LOCALHOST./',
    'http://anything.localhost/',
    'http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/',
    'http://loc%61lhost/',
    'http://local\u00adhost/',
  ],
  'address unspecified': ['http://0/', 'http://0.0.0.0/', 'http://0.1/', 'http://[::]/'],
  'address metadata': [
    'http://169.254.169.254/latest/meta-data/',
    'http://2852039166/',
    'http://0xa9fea9fe/',
    'http://0251.0376.0251.0376/',
    'http://169.254.43518/',
    'http://168.63.129.16/',
    'http://100.100.100.200/',
    'http://192.0.0.192/',
    'http://[fd00:ec2::254]/',
  ],
  'address link-local': ['http://169.254.0.1/', 'http://[fe80::1]/', 'http://[febf::1]/'],
  'address private': [
    'http://10.0.0.1/',
    'http://012.1/',
    'http://172.16.0.1/',
    'http://172.31.255.255/',
    'http://192.168.1.1/',
    'http://0xc0a80101/',
    'http://[fc00::1]/',
    'http://[fdff::1]/',
    'http://[fec0::1]/',
  ],
  'address carrier-shared': ['http://100.64.0.1/', 'http://100.127.255.255/'],
  'address multicast': ['http://224.0.0.1/', 'http://239.255.255.250:1900/', 'http://[ff02::1]/'],
  'address reserved': [
    'http://192.0.0.1/',
    'http://198.19.255.255/',
    'http://240.0.0.1/',
    'http://255.255.255.255/',
    'http://4294967295/',
    'http://[2001:2::1]/',
  ],
  'address documentation': [
    'http://192.0.2.1/',
    'http://198.51.100.1/',
    'http://203.0.113.1/',
    'http://[2001:db8::1]/',
    'http://[3fff::1]/',
  ],
  'address embedded': [
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[::ffff:8.8.8.8]/',
    'http://[0:0:0:0:0:ffff:10.0.0.1]/',
    'http://[::ffff:0:127.0.0.1]/',
    'http://[::127.0.0.1]/',
    'http://[64:ff9b::169.254.169.254]/',
    'http://[64:ff9b:1::7f00:1]/',
    'http://[2002:7f00:1::]/',
    'http://[2002:a9fe:a9fe::1]/',
    'http://[2001:0:7f00:1::]/',
    'http://192.88.99.1/',
  ],
  'address not-global': ['http://[100::1]/', 'http://[5f00::1]/', 'http://[4000::1]/'],
  userinfo: [
    'https://user@hooks.example/',
    'https://user:secret@hooks.example/',
    'https://hooks.example%2f@127.0.0.1/',
    'https://:secret@hooks.example/',
  ],
  scheme: [
    'file:///etc/passwd',
    'htp://hooks.example/',
    'ftp://hooks.example/',
    'gopher://127.0.0.1:6379/_',
    'javascript:alert(1)',
    'data:text/plain,x',
    'blob:https://hooks.example/1',
    'ws://hooks.example/',
  ],
  host: [
    'http://metadata/',
    'http://metadata.google.internal/',
    'http://printer.local/',
    'http://router.home.arpa./',
    'http://hooks..example/',
    'http://hooks.example../',
  ],
  url: [
    '',
    'hooks.example/path',
    '//hooks.example/',
    '/path',
    'https:hooks.example',
    'https:/hooks.example',
    'https:///hooks.example',
    'https:\\\\hooks.example\\',
    'https://hooks.example\\@127.0.0.1/',
    'https://hooks.example/a\\b',
    ' https://hooks.example/',
    'https://hooks.example/ ',
    'ht\ttps://hooks.example/',
    'https://hooks\n.example/',
    'https://hooks.example/\r\nHost:%20x',
    'https://hooks.example/\u0000',
    'https://hooks\u00a0.example/',
    'https://[fe80::1%25eth0]/',
    'https://[fe80::1%eth0]/',
    'https://[::1/',
    'https://256.256.256.256/',
    'https://1.2.3.4.5/',
    'https://127.0.0.0x100/',
    'https://hooks.example:99999/',
    'https://xn--a-ecp.example\u2003/',
    'https://hooks%00.example/',
    `https://hooks.example/${'a'.repeat(8_192)}`,
  ],
  port: ['http://hooks.example:0/'],
};
const table = Object.entries(hostile).flatMap(([why, urls]) =>
  urls.map((url) => [JSON.stringify(url).slice(0, 60), why, url] as const),
);

describe('a URL that somebody else chose', () => {
  it.each(table)('%s is refused: %s', async (_name, why, url) => {
    expect(verdict(url)).toBe(why);
    const sent = createOutbound({ ...anyPlain, resolve: noDns }).send({ url });
    await expect(sent).rejects.toMatchObject({ code: 'invalid' });
  });

  it('http://xn--/ is refused, which is a URL in some versions of Node', () => {
    expect(['host', 'url']).toContain(verdict('http://xn--/'));
  });

  it.each([
    'https://hooks.example/a?b=c#d',
    'https://HOOKS.example:8443/%5c%20',
    'https://bücher.example/',
    'https://xn--bcher-kva.example./',
    'https://8.8.8.8/',
    'https://[2606:4700:4700::1111]/',
    'https://172.32.0.1/',
    'https://100.128.0.1/',
  ])('%s is let through', (url) => {
    expect(verdict(url, {})).toBe('');
  });

  it('needs https, and one of the usual ports, unless the options say otherwise', () => {
    expect(verdict('http://hooks.example/', {})).toBe('scheme');
    expect(verdict('http://hooks.example/', { plainHttpHosts: ['other.example'] })).toBe('scheme');
    expect(verdict('http://hooks.example/', { plainHttpHosts: ['hooks.example'] })).toBe('');
    expect(verdict('https://hooks.example:9000/', { ports: [9000] })).toBe('');
    expect(verdict('https://hooks.example/', { ports: [9000] })).toBe('port');
  });

  it('can’t be used to scan the ports of a host', () => {
    const outbound = createOutbound();
    const isOpen = (port: number): boolean => {
      try {
        outbound.check(`https://hooks.example:${port}/`);
        return true;
      } catch {
        return false;
      }
    };
    const open = Array.from({ length: 10_000 }, (_, port) => port).filter(isOpen);
    expect(open).toEqual([80, 443, 8080, 8443]);
  });

  it('is held to the lists of hosts, however it is spelled', () => {
    const options = {
      allowHosts: ['Hooks.example', '*.bücher.example'],
      denyHosts: ['b.hooks.example', '*.evil.bücher.example'],
    };
    const of = (host: string): string => verdict(`https://${host}/`, options);
    expect(of('hooks.example')).toBe('');
    expect(of('ⓗooks.example.')).toBe('');
    expect(of('x.y.xn--bcher-kva.example')).toBe('');
    expect(of('xn--bcher-kva.example')).toBe('host');
    expect(of('a.evil.bücher.example')).toBe('host');
    expect(of('a.hooks.example')).toBe('host');
    expect(of('hooks.example.evil.example')).toBe('host');
    expect(of('evilhooks.example')).toBe('host');
    // Cyrillic о: looks the same, is another name, and does not normalise to it.
    expect(of('hоoks.example')).toBe('host');
    expect(of('8.8.8.8')).toBe('host');
  });

  it('may lead to an address that is not public only where the options name it', () => {
    const named = { allowAddresses: ['10.1.0.0/16', '::1', '64:ff9b::/96'] };
    const of = (host: string): string => verdict(`https://${host}/`, named);
    expect(of('10.1.2.3')).toBe('');
    expect(of('[::1]')).toBe('');
    expect(of('localhost')).toBe('');
    expect(of('[64:ff9b::808:808]')).toBe('');
    expect(of('10.2.0.1')).toBe('address private');
    expect(of('127.0.0.1')).toBe('address loopback');
    expect(of('[::ffff:10.1.2.3]')).toBe('address embedded');
  });

  it('may not lead to an address that the options deny, allowed or public', () => {
    const options = { allowAddresses: ['10.0.0.0/8'], denyAddresses: ['10.1.0.0/16', '8.8.8.8'] };
    expect(verdict('https://10.1.2.3/', options)).toBe('address denied');
    expect(verdict('https://8.8.8.8/', options)).toBe('address denied');
    expect(verdict('https://10.2.0.1/', options)).toBe('');
  });

  it('may be a local name where the list of hosts holds it', () => {
    expect(verdict('https://agent/', { allowHosts: ['agent'] })).toBe('');
    expect(verdict('https://agent.corp.internal/', { allowHosts: ['*.internal'] })).toBe('');
  });

  it.each([
    'http://127.0.0.1/path-secret?key=query-secret#part-secret',
    'https://user-secret:pass-secret@hooks.example/path-secret?query-secret',
    'https://hooks.example:22/path-secret',
    'https://query-secret\\x',
    'data:query-secret',
  ])('shows no more than its origin when refused: %s', (url) => {
    expect.assertions(1);
    try {
      createOutbound().check(url);
    } catch (error) {
      const { message, details, cause } = error instanceof ThroughlineError ? error : {};
      expect(JSON.stringify([message, details, String(cause)])).not.toContain('secret');
    }
  });
});

describe('the options', () => {
  it.each([
    { allowHosts: ['https://hooks.example'] },
    { allowHosts: ['hooks.example:443'] },
    { allowHosts: ['user@hooks.example'] },
    { denyHosts: ['hooks.*.example'] },
    { denyHosts: [''] },
    { plainHttpHosts: ['a b'] },
    { allowAddresses: ['10.0.0.0/33'] },
    { allowAddresses: ['10.0.0.0/'] },
    { allowAddresses: ['10.0.0.0/8/8'] },
    { allowAddresses: ['10.1'] },
    { denyAddresses: ['fe80::1%eth0'] },
    { denyAddresses: ['hooks.example'] },
    { connectMs: 0 },
    { totalMs: Number.POSITIVE_INFINITY },
    { redirects: 6 },
    { concurrent: 0 },
  ] satisfies OutboundOptions[])('are refused when they mean nothing: %j', (options) => {
    expect(() => createOutbound(options)).toThrow(expect.objectContaining({ code: 'invalid' }));
  });
});
