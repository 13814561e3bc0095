import { generateKeyPairSync, sign } from 'node:crypto';
import { createServer, type Server } from 'node:https';
import { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOutbound, type OutboundOptions } from './index.ts';

/** One DER value (X.690): tag, length, content. */
function der(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  const length =
    body.length < 128 ? [body.length] : [0x82, Math.floor(body.length / 256), body.length % 256];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}
const sequence = (...content: readonly Uint8Array[]): Buffer => der(0x30, ...content);
const hex = (text: string): Buffer => Buffer.from(text, 'hex');

/** A certificate that signs itself (RFC 5280, 4.1), for a name and 127.0.0.1. */
function certificateFor(name: string): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const algorithm = sequence(hex('06032b6570'));
  const subject = sequence(der(0x31, sequence(hex('0603550403'), der(0x0c, Buffer.from(name)))));
  const time = (year: number): Buffer => der(0x18, Buffer.from(`${year}0101000000Z`));
  const names = sequence(der(0x82, Buffer.from(name)), der(0x87, Buffer.from([127, 0, 0, 1])));
  const body = sequence(
    der(0xa0, hex('020102')),
    hex('020101'),
    algorithm,
    subject,
    sequence(time(2000), time(2999)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(hex('0603551d11'), der(0x04, names)))),
  );
  const signature = der(0x03, Buffer.concat([Buffer.alloc(1), sign(null, body, privateKey)]));
  const base64 = sequence(body, algorithm, signature).toString('base64');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${base64.replaceAll(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
  };
}

/** On a server, Node keeps the name of the client's hello there, or false. */
const nameAskedOf = (socket: TLSSocket): unknown =>
  'servername' in socket ? socket.servername : undefined;

describe('an outbound call over TLS', () => {
  const { key, cert } = certificateFor('hooks.example');
  let server: Server;
  let port = 0;

  beforeAll(async () => {
    server = createServer({ key, cert }, (request, response) => {
      if (request.headers.accept === 'redirect') {
        response.writeHead(302, { Location: `http://hooks.example:${port}/` });
      }
      response.end(request.socket instanceof TLSSocket ? String(nameAskedOf(request.socket)) : '');
    });
    const { promise, resolve } = Promise.withResolvers<undefined>();
    server.listen(0, '127.0.0.1', () => resolve(undefined));
    await promise;
    const address = server.address();
    port = typeof address === 'object' && address !== null ? address.port : 0;
  });
  afterAll(() => void server.close());

  const options: OutboundOptions = {
    allowAddresses: ['127.0.0.1'],
    plainHttpHosts: ['*'],
    ports: 'any',
    resolve: () => Promise.resolve(['127.0.0.1']),
  };
  const ask = async (host: string, ca?: string): Promise<string> => {
    const outbound = createOutbound({ ...options, ...(ca === undefined ? {} : { ca: [ca] }) });
    const { body } = await outbound.send({ url: `https://${host}:${port}/` });
    return Buffer.from(body).toString();
  };

  it('asks for the name of the URL, not for the address', async () => {
    expect(await ask('hooks.example', cert)).toBe('hooks.example');
  });

  it('asks for the same name where it ends in a dot', async () => {
    expect(await ask('hooks.example.', cert)).toBe('hooks.example');
  });

  it('asks for no name where the URL holds an address, and checks the certificate for it', async () => {
    expect(await ask('127.0.0.1', cert)).toBe('false');
  });

  it('refuses a certificate of another name', async () => {
    await expect(ask('other.example', cert)).rejects.toMatchObject({
      code: 'unavailable',
      details: { sent: false },
      message: expect.stringContaining('ERR_TLS_CERT_ALTNAME_INVALID'),
    });
  });

  it('refuses a certificate that nobody trusted signed', async () => {
    await expect(ask('hooks.example')).rejects.toMatchObject({ code: 'unavailable' });
    await expect(ask('hooks.example', certificateFor('ca.example').cert)).rejects.toMatchObject({
      code: 'unavailable',
    });
  });

  it('is not redirected to plain text, even where that is allowed', async () => {
    const outbound = createOutbound({ ...options, ca: [cert], redirects: 1 });
    const url = `https://hooks.example:${port}/`;
    outbound.check(`http://hooks.example:${port}/`);
    await expect(outbound.send({ url, headers: { accept: 'redirect' } })).rejects.toMatchObject({
      code: 'invalid',
      details: { rule: 'scheme' },
    });
  });
});
