import type { IncomingMessage } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { ThroughlineError } from '../errors.ts';
import { listed, OtherStores } from './conformance.ts';
import { createForeignContent, type ForeignOptions } from './index.ts';

const others = new OtherStores();
afterEach(() => {
  others.close();
});

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'read',
    (error: unknown) => (error instanceof ThroughlineError ? error.code : error),
  );
const read = (uri: string, options: Partial<ForeignOptions> = {}, size = 100) =>
  createForeignContent({ ...listed, ...options }).get(uri, { size });

describe('content in another store', () => {
  it('is read from a host that is listed, with the token of that store alone', async () => {
    const seen: IncomingMessage['headers'][] = [];
    const port = await others.open((request, response) => {
      seen.push(request.headers);
      response.setHeader('Content-Type', 'text/plain').end('terms');
    });
    const foreign = createForeignContent(listed);
    const uri = `http://store.test:${port}/content/x`;
    const content = await foreign.get(uri, { token: 'a.b.c', size: 5 });
    expect(Buffer.from(content.bytes).toString()).toBe('terms');
    expect(content.mediaType).toBe('text/plain');
    expect(seen[0]).toMatchObject({ 'throughline-content-token': 'a.b.c' });
    expect(seen[0]).not.toHaveProperty('authorization');
  });

  it.each([
    'file:///etc/passwd',
    'ftp://store.test/x',
    'data:text/plain,x',
    'https://elsewhere.test/x',
    'https://user:word@store.test/x',
    'http://169.254.169.254/latest/meta-data',
    'http://127.0.0.1/x',
    'http://[::1]/x',
    'not a uri',
  ])('is not asked for at %s', async (uri) => {
    expect(createForeignContent(listed).serves(uri)).toBe(false);
    expect(await codeOf(read(uri))).toBe('invalid');
  });

  it('is not read from a private or link-local address, whatever name it has', async () => {
    let asked = 0;
    const port = await others.open((_request, response) => {
      asked += 1;
      response.end('x');
    });
    for (const address of ['127.0.0.1', '10.0.0.1', '169.254.169.254', 'fe80::1', '::1']) {
      const resolve = () => Promise.resolve([address]);
      const options = { allowAddresses: [], resolve };
      expect(await codeOf(read(`http://store.test:${port}/x`, options))).toBe('invalid');
    }
    expect(asked).toBe(0);
  });

  it('is read from the address that was judged, also when the name means another a moment later', async () => {
    const answers = [['127.0.0.1'], ['10.0.0.1']];
    let asked = 0;
    const port = await others.open((_request, response) => response.end('judged'));
    const resolve = () => Promise.resolve(answers[asked++] ?? []);
    const { bytes } = await read(`http://store.test:${port}/x`, { resolve });
    expect(Buffer.from(bytes).toString()).toBe('judged');
    expect(asked).toBe(1);
    // A name that has a good and a bad address is not called at all.
    answers.push(['127.0.0.1', '10.0.0.1']);
    asked = 2;
    expect(await codeOf(read(`http://store.test:${port}/x`, { resolve }))).toBe('invalid');
  });

  it('is not looked for where a redirect leads off the list', async () => {
    let inside = 0;
    const hidden = await others.open((_request, response) => {
      inside += 1;
      response.end('secret');
    });
    const port = await others.open((request, response) => {
      const target =
        request.url === '/loopback'
          ? `http://127.0.0.1:${hidden}/`
          : request.url === '/file'
            ? 'file:///etc/passwd'
            : `http://elsewhere.test:${hidden}/`;
      response.writeHead(302, { Location: target }).end();
    });
    for (const path of ['/loopback', '/file', '/other']) {
      const uri = `http://store.test:${port}${path}`;
      expect(await codeOf(read(uri))).toBe('unsupported');
      expect(await codeOf(read(uri, { redirects: 3 }))).toBe('invalid');
    }
    expect(inside).toBe(0);
  });

  it.each([
    [401, 'not-found'],
    [403, 'not-found'],
    [404, 'not-found'],
    [410, 'gone'],
    [418, 'not-found'],
    [429, 'unavailable'],
    [500, 'unavailable'],
  ])('that is answered with %i is %s', async (status, code) => {
    const port = await others.open((_request, response) => response.writeHead(status).end('why'));
    expect(await codeOf(read(`http://store.test:${port}/x`))).toBe(code);
  });

  it('is not read beyond what was handed over, nor waited for without end', async () => {
    const port = await others.open((request, response) => {
      if (request.url === '/slow') response.write('x');
      else response.end('x'.repeat(101));
    });
    expect(await codeOf(read(`http://store.test:${port}/long`))).toBe('too-large');
    const slow = { totalMs: 200 };
    expect(await codeOf(read(`http://store.test:${port}/slow`, slow))).toBe('timeout');
  });
});
