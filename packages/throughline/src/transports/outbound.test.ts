import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { ThroughlineError } from '../errors.ts';
import { createOutbound, type OutboundOptions, type ResolveHost } from './index.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function listen(server: Server, host = '127.0.0.1', port = 0): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.listen(port, host, () => resolve(undefined));
  await promise;
  closing.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
const serve = (listener: RequestListener, host?: string, port?: number): Promise<number> =>
  listen(createServer(listener), host, port);
/** Speaks bytes instead of HTTP. */
const speak = (talk: (socket: Socket) => void): Promise<number> =>
  listen(
    createTcpServer((socket) => {
      socket.on('error', () => undefined);
      talk(socket);
    }),
  );

const onLoopback: OutboundOptions = {
  allowAddresses: ['127.0.0.1'],
  plainHttpHosts: ['*'],
  ports: 'any',
};
const outbound = (options: OutboundOptions = {}) => createOutbound({ ...onLoopback, ...options });
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
const codeOf = (sent: Promise<unknown>): Promise<unknown> =>
  sent.then(
    () => 'sent',
    (error: unknown) => (error instanceof ThroughlineError ? error.code : error),
  );
const toLoopback: ResolveHost = () => Promise.resolve(['127.0.0.1']);

/** Serves `/from` with a redirect and counts what else is asked for. */
async function redirecting(location: (port: number) => string, status = 302) {
  const seen: { url: string; headers: IncomingMessage['headers'] }[] = [];
  const port: number = await serve((request, response) => {
    if (request.url === '/from') {
      response.writeHead(status, { Location: location(port) }).end('moved');
    } else {
      seen.push({ url: request.url ?? '', headers: request.headers });
      response.end('there');
    }
  });
  return { port, seen, url: `http://127.0.0.1:${port}/from` };
}

/** Holds every request until told. */
async function holding() {
  const held: (() => void)[] = [];
  let most = 0;
  let now = 0;
  let wake: (() => void) | undefined;
  const port = await serve((_request, response) => {
    most = Math.max(most, ++now);
    held.push(() => {
      now--;
      response.end();
    });
    wake?.();
  });
  const arrived = async (count: number): Promise<void> => {
    while (held.length < count) {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      wake = () => resolve(undefined);
      await promise;
    }
  };
  return { url: `http://127.0.0.1:${port}/`, held, arrived, most: () => most };
}

describe('an outbound call', () => {
  it('brings a request to the URL and its answer back', async () => {
    const port = await serve((request, response) => {
      const seen = `${request.method} ${request.url}`;
      response.writeHead(202, { 'X-Seen': seen, 'Set-Cookie': ['a=1', 'b=2'] });
      request.pipe(response);
    });
    const url = `http://127.0.0.1:${port}/hook?x=1#part`;
    const answer = await outbound().send({ url, method: 'POST', body: 'päckchen' });
    expect(answer).toMatchObject({ url, status: 202 });
    expect(text(answer.body)).toBe('päckchen');
    expect(answer.headers.get('x-seen')).toBe('POST /hook?x=1');
    expect(answer.headers.get('set-cookie')).toBe('a=1, b=2');
  });

  it('sends the headers of this call and none of its own that could be a credential', async () => {
    const seen: string[][] = [];
    const port = await serve((request, response) => {
      expect(request.headers.connection).toBe('close');
      seen.push(Object.keys(request.headers).toSorted());
      response.setHeader('Set-Cookie', 'session=1').end();
    });
    const out = outbound();
    const url = `http://127.0.0.1:${port}/`;
    await out.send({ url, headers: { Authorization: 'Bearer x', DPoP: 'y', Cookie: 'z' } });
    await out.send({ url });
    const always = ['accept-encoding', 'connection', 'host', 'user-agent'];
    expect(seen).toEqual([[...always, 'authorization', 'cookie', 'dpop'].toSorted(), always]);
  });

  it.each([
    'Host',
    'content-length',
    'Transfer-Encoding',
    'Connection',
    'upgrade',
    'Proxy-Authorization',
    'Expect',
  ])('refuses %s among the headers', async (name) => {
    const sent = outbound().send({ url: 'http://127.0.0.1:1/', headers: { [name]: 'x' } });
    await expect(sent).rejects.toMatchObject({ code: 'invalid' });
  });

  it('refuses a header that would begin another one, and does not repeat it', async () => {
    const headers = { authorization: 'secret\r\nhost: other.example' };
    const port = await serve((_request, response) => response.end());
    const sent = outbound().send({ url: `http://127.0.0.1:${port}/`, headers });
    const error = await sent.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'invalid', details: { sent: false } });
    expect(String(error)).not.toContain('secret');
  });

  it('is unavailable, and says that nothing went out, where nobody listens or a name has no address', async () => {
    const port = await serve(() => undefined);
    closing.pop()?.();
    const refused = outbound().send({ url: `http://127.0.0.1:${port}/` });
    const unavailable = { code: 'unavailable', retryable: true, details: { sent: false } };
    await expect(refused).rejects.toMatchObject(unavailable);
    const url = 'http://hooks.example/';
    const nameless = outbound({ resolve: () => Promise.resolve([]) }).send({ url });
    await expect(nameless).rejects.toMatchObject(unavailable);
    const unknown = outbound({ resolve: () => Promise.reject(new Error('ENOTFOUND')) }).send({
      url,
    });
    await expect(unknown).rejects.toMatchObject(unavailable);
  });

  it('is unavailable, and says that something went out, when the peer breaks off', async () => {
    const port = await speak((socket) => socket.once('data', () => socket.destroy()));
    const sent = outbound().send({ url: `http://127.0.0.1:${port}/`, method: 'POST' });
    await expect(sent).rejects.toMatchObject({ code: 'unavailable', details: { sent: true } });
  });

  it('resolves a name as the system does', async () => {
    const port = await serve((request, response) => response.end(request.headers.host));
    const out = outbound({ allowAddresses: ['127.0.0.0/8', '::1'] });
    const answer = await out.send({ url: `http://localhost:${port}/` });
    expect(text(answer.body)).toBe(`localhost:${port}`);
  });
});

describe('DNS that lies', () => {
  it('is asked once, so that what it says later changes nothing', async () => {
    const port = await serve((_request, response) => response.end('checked'));
    await serve((_request, response) => response.end('rebound'), '127.0.0.2', port);
    const answers = [['127.0.0.1'], ['127.0.0.2']];
    const out = outbound({ resolve: () => Promise.resolve(answers.shift() ?? []) });
    const url = `http://hooks.example:${port}/`;
    expect(text((await out.send({ url })).body)).toBe('checked');
    expect(answers).toEqual([['127.0.0.2']]);
    await expect(out.send({ url })).rejects.toMatchObject({
      code: 'invalid',
      details: { rule: 'address', fault: 'loopback' },
    });
  });

  it.each([
    ['a private address among allowed ones', ['127.0.0.1', '10.0.0.1']],
    ['a mapped one', ['::ffff:127.0.0.1']],
    ['one with a zone', ['fe80::1%lo']],
    ['one with the zone of a public one', ['2606:4700::1%lo']],
    ['a name', ['localhost']],
    ['metadata', ['169.254.169.254']],
  ])('gets no connection with %s', async (_name, addresses) => {
    let connections = 0;
    const port = await speak(() => connections++);
    const out = outbound({ resolve: () => Promise.resolve(addresses) });
    const sent = out.send({ url: `http://hooks.example:${port}/` });
    await expect(sent).rejects.toMatchObject({ code: 'invalid', details: { rule: 'address' } });
    await expect(sent).rejects.not.toThrow(/10\.0\.0\.1|169\.254/);
    expect(connections).toBe(0);
  });

  it('is pinned for a name in any script', async () => {
    const port = await serve((request, response) => response.end(request.headers.host));
    const asked: string[] = [];
    const resolve = (host: string) => {
      asked.push(host);
      return Promise.resolve(['127.0.0.1']);
    };
    const answer = await outbound({ resolve }).send({ url: `http://bücher.example.:${port}/` });
    expect(asked).toEqual(['xn--bcher-kva.example.']);
    expect(text(answer.body)).toBe(`xn--bcher-kva.example.:${port}`);
  });

  it('may name an address that is down beside one that is up', async () => {
    const port = await serve((_request, response) => response.end('up'));
    const out = outbound({
      allowAddresses: ['127.0.0.0/8'],
      resolve: () => Promise.resolve(['127.0.0.3', '127.0.0.1']),
    });
    expect(text((await out.send({ url: `http://hooks.example:${port}/` })).body)).toBe('up');
  });
});

describe('a redirect', () => {
  it('is an answer like any other', async () => {
    const { url, seen } = await redirecting(() => '/to');
    const answer = await outbound().send({ url });
    expect([answer.status, answer.headers.get('location'), seen]).toEqual([302, '/to', []]);
  });

  it('is followed where the options say so, with all headers on the same origin', async () => {
    const { url, seen, port } = await redirecting(() => '/to', 307);
    const headers = { Authorization: 'Bearer x' };
    const answer = await outbound({ redirects: 1 }).send({ url, headers });
    expect(answer.url).toBe(`http://127.0.0.1:${port}/to`);
    expect(seen).toMatchObject([{ url: '/to', headers: { authorization: 'Bearer x' } }]);
  });

  it('carries no credential to another origin', async () => {
    const { url, seen } = await redirecting((port) => `http://other.example:${port}/to`);
    const headers = { Authorization: 'x', Cookie: 'x', DPoP: 'x', 'X-Token': 'x', Accept: 'a/b' };
    await outbound({ redirects: 1, resolve: toLoopback }).send({ url, headers });
    const names = seen.flatMap((request) => Object.keys(request.headers)).toSorted();
    expect(names).toEqual(['accept', 'accept-encoding', 'connection', 'host', 'user-agent']);
  });

  it.each([
    ['loopback', (port: number) => `http://127.0.0.2:${port}/to`, 'address'],
    ['another spelling of it', (port: number) => `//0x7f000002:${port}/to`, 'address'],
    ['a file', () => 'file:///etc/passwd', 'scheme'],
    ['another reading of a URL', () => '/\\other.example/', 'url'],
    ['a name that leads to loopback', (port: number) => `http://other.example:${port}/`, 'address'],
  ])('to %s is refused', async (_name, location, rule) => {
    const { url, seen } = await redirecting(location);
    const out = outbound({ redirects: 3, resolve: () => Promise.resolve(['127.0.0.2']) });
    await expect(out.send({ url })).rejects.toMatchObject({ code: 'invalid', details: { rule } });
    expect(seen).toEqual([]);
  });

  it('to a host off the list is refused', async () => {
    const { url } = await redirecting((port) => `http://other.example:${port}/to`);
    const out = outbound({ redirects: 3, allowHosts: ['127.0.0.1'], resolve: toLoopback });
    await expect(out.send({ url })).rejects.toMatchObject({ details: { rule: 'host' } });
  });

  it('is not followed for a call that does something', async () => {
    const { url, seen } = await redirecting(() => '/to', 307);
    const answer = await outbound({ redirects: 3 }).send({ url, method: 'POST', body: 'x' });
    expect([answer.status, seen]).toEqual([307, []]);
  });

  it('ends after the stated number', async () => {
    let asked = 0;
    const port = await serve((_request, response) => {
      response.writeHead(302, { Location: `/${++asked}` }).end();
    });
    const sent = outbound({ redirects: 2 }).send({ url: `http://127.0.0.1:${port}/` });
    expect(await codeOf(sent)).toBe('unavailable');
    expect(asked).toBe(3);
  });
});

describe('a peer that takes its time', () => {
  const never = Promise.withResolvers<never>().promise;

  it('has a limit for DNS', async () => {
    const out = outbound({ connectMs: 20, resolve: () => never });
    const sent = out.send({ url: 'http://hooks.example/' });
    await expect(sent).rejects.toMatchObject({
      code: 'timeout',
      message: expect.stringContaining('DNS'),
    });
  });

  it('has a limit for TLS', async () => {
    const port = await speak(() => undefined);
    const sent = outbound({ connectMs: 20 }).send({ url: `https://127.0.0.1:${port}/` });
    await expect(sent).rejects.toMatchObject({
      code: 'timeout',
      message: expect.stringContaining('connect'),
    });
  });

  it('has a limit for the head of its answer, however often it sends a little', async () => {
    const port = await speak((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const drip = setInterval(() => socket.write('X-A: b\r\n'), 5);
      socket.on('close', () => clearInterval(drip));
    });
    const sent = outbound({ headersMs: 60 }).send({ url: `http://127.0.0.1:${port}/` });
    await expect(sent).rejects.toMatchObject({
      code: 'timeout',
      message: expect.stringContaining('head'),
    });
  });

  it('has a limit for the whole, however often it sends a little', async () => {
    const ended = Promise.withResolvers<undefined>();
    const port = await serve((_request, response) => {
      const drip = setInterval(() => response.write('.'), 5);
      response.on('close', () => {
        clearInterval(drip);
        ended.resolve(undefined);
      });
    });
    const sent = outbound({ totalMs: 80 }).send({ url: `http://127.0.0.1:${port}/` });
    await expect(sent).rejects.toMatchObject({
      code: 'timeout',
      message: expect.stringContaining('the call'),
    });
    await ended.promise;
  });

  it('can be given up, before and meanwhile', async () => {
    const asked = Promise.withResolvers<undefined>();
    const port = await serve(() => asked.resolve(undefined));
    const url = `http://127.0.0.1:${port}/`;
    const early = outbound().send({ url, signal: AbortSignal.abort() });
    await expect(early).rejects.toMatchObject({ code: 'unavailable', retryable: false });
    const caller = new AbortController();
    const sent = outbound().send({ url, signal: caller.signal });
    await asked.promise;
    caller.abort(new Error('stopping'));
    await expect(sent).rejects.toMatchObject({
      code: 'unavailable',
      cause: { message: 'stopping' },
    });
  });
});

describe('sizes', () => {
  it('let an answer of exactly the limit through, and not one byte more', async () => {
    const port = await serve((request, response) =>
      response.end('x'.repeat(Number(request.url?.slice(1)))),
    );
    const out = outbound({ responseBytes: 1_000 });
    const ask = (size: number, responseBytes?: number) =>
      codeOf(
        out.send({
          url: `http://127.0.0.1:${port}/${size}`,
          ...(responseBytes === undefined ? {} : { responseBytes }),
        }),
      );
    expect(await Promise.all([ask(1_000), ask(1_001)])).toEqual(['sent', 'too-large']);
    expect(await Promise.all([ask(10, 10), ask(11, 10)])).toEqual(['sent', 'too-large']);
    expect(await Promise.all([ask(1_001, 5_000), ask(1, -1)])).toEqual(['too-large', 'too-large']);
  });

  it('stop an endless answer while it streams', async () => {
    const closed = Promise.withResolvers<undefined>();
    const port = await serve((_request, response) => {
      const chunk = Buffer.alloc(65_536);
      const more = (): void => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', more).on('close', () => closed.resolve(undefined));
      more();
    });
    const sent = outbound({ responseBytes: 100_000 }).send({ url: `http://127.0.0.1:${port}/` });
    expect(await codeOf(sent)).toBe('too-large');
    await closed.promise;
  });

  it('keep a compressed answer compressed, so that it can’t swell', async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000));
    const port = await serve((_request, response) => {
      response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(bomb);
    });
    const answer = await outbound({ responseBytes: bomb.length }).send({
      url: `http://127.0.0.1:${port}/`,
    });
    expect(answer.headers.get('content-encoding')).toBe('gzip');
    expect(Buffer.from(answer.body).equals(bomb)).toBe(true);
  });

  it('bound the headers of an answer', async () => {
    const port = await speak((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`);
    });
    expect(await codeOf(outbound().send({ url: `http://127.0.0.1:${port}/` }))).toBe('too-large');
  });

  it('bound a request before anything goes out', async () => {
    const out = outbound({ requestBytes: 4, resolve: () => expect.unreachable('DNS was asked') });
    const sent = out.send({ url: 'http://hooks.example/', method: 'POST', body: 'ääb' });
    await expect(sent).rejects.toMatchObject({ code: 'too-large', details: { sent: false } });
  });
});

describe('many calls', () => {
  it('go out a few at a time, wait in a bounded queue, and are refused beyond it', async () => {
    const { url, held, arrived, most } = await holding();
    const out = outbound({ concurrent: 2, waiting: 2 });
    const sent = Array.from({ length: 4 }, () => codeOf(out.send({ url })));
    await expect(out.send({ url })).rejects.toMatchObject({
      code: 'unavailable',
      retryable: true,
      details: { sent: false },
    });
    await arrived(2);
    for (const answer of held.splice(0)) answer();
    await arrived(2);
    for (const answer of held.splice(0)) answer();
    expect(await Promise.all(sent)).toEqual(['sent', 'sent', 'sent', 'sent']);
    expect(most()).toBe(2);
  });

  it('give their turn to the next when they are given up while they wait', async () => {
    const { url, held, arrived } = await holding();
    const out = outbound({ concurrent: 1, waiting: 2 });
    const caller = new AbortController();
    const first = codeOf(out.send({ url }));
    const second = codeOf(out.send({ url, signal: caller.signal }));
    const third = codeOf(out.send({ url }));
    caller.abort();
    expect(await second).toBe('unavailable');
    await arrived(1);
    held.splice(0)[0]?.();
    await arrived(1);
    held.splice(0)[0]?.();
    expect(await Promise.all([first, third])).toEqual(['sent', 'sent']);
  });

  it('keep their place until DNS has answered, so that slow names can’t pile up', async () => {
    const slow = Promise.withResolvers<readonly string[]>();
    const out = outbound({ concurrent: 1, waiting: 0, connectMs: 10, resolve: () => slow.promise });
    const url = 'http://hooks.example:1/';
    expect(await codeOf(out.send({ url }))).toBe('timeout');
    await expect(out.send({ url })).rejects.toThrow(/wait already/);
    slow.resolve(['10.0.0.1']);
    await new Promise(setImmediate);
    await expect(out.send({ url })).rejects.toMatchObject({ code: 'invalid' });
  });

  it('keep their place until a connection that is no longer wanted is gone', async () => {
    const connected = Promise.withResolvers<undefined>();
    const port = await speak(() => connected.resolve(undefined));
    const out = outbound({ concurrent: 1, waiting: 0, connectMs: 60_000 });
    const url = `https://127.0.0.1:${port}/`;
    const caller = new AbortController();
    const sent = codeOf(out.send({ url, signal: caller.signal }));
    await connected.promise;
    caller.abort();
    expect(await sent).toBe('unavailable');
    await expect(out.send({ url })).rejects.toThrow(/wait already/);
  });
});
