import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StubHub } from './conformance.ts';
import { serveHub, type ServedHubHandle } from './serve.ts';

const folder = mkdtempSync(join(tmpdir(), 'served-page-'));
const page = join(folder, 'page');
const hub = new StubHub();
let served: ServedHubHandle<StubHub>;

const write = (path: string, text: string): void => writeFileSync(join(page, path), text);

beforeAll(async () => {
  mkdirSync(join(page, 'assets'), { recursive: true });
  writeFileSync(join(folder, 'domain.key'), 'secret');
  write('index.html', '<!doctype html><title>Throughline</title>');
  write('secret.js', 'beside the assets');
  write('assets/main-Ab12.js', 'start();');
  write('assets/main-Ab12.css', 'body {}');
  write('assets/mark-Ab12.svg', '<svg/>');
  write('assets/notes.txt', 'secret');
  mkdirSync(join(page, 'assets/folder.js'));
  served = await serveHub({ hub, port: 0, page });
});
afterAll(async () => {
  await served.close();
  rmSync(folder, { recursive: true });
});

/** Status of a path as it is written, which a client of fetch would tidy up. */
async function statusOf(path: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const { port, host } = new URL(served.url);
  const socket = connect(Number(port), '127.0.0.1', () =>
    socket.end(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`),
  );
  let text = '';
  socket.on('data', (chunk) => (text += chunk.toString()));
  socket.on('close', () => resolve(text));
  return (await promise).split(' ')[1] ?? '';
}

describe('the page a hub serves', () => {
  it('is there without a key, under a policy that allows its own origin alone', async () => {
    const response = await fetch(`${served.url}/`);
    expect(await response.text()).toContain('<title>Throughline</title>');
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'cache-control': 'no-cache',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
        "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
      'content-type': 'text/html; charset=utf-8',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
  });

  it.each([
    ['main-Ab12.js', 'text/javascript; charset=utf-8', 'start();'],
    ['main-Ab12.css', 'text/css; charset=utf-8', 'body {}'],
    ['mark-Ab12.svg', 'image/svg+xml', '<svg/>'],
  ])('has %s for good', async (name, mediaType, text) => {
    const response = await fetch(`${served.url}/assets/${name}`);
    expect(await response.text()).toBe(text);
    expect(response.headers.get('Content-Type')).toBe(mediaType);
    expect(response.headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable');
    expect(response.headers.get('Content-Security-Policy')).toContain("script-src 'self'");
  });

  it.each([
    '/assets/',
    '/assets/notes.txt',
    '/assets/folder.js',
    '/assets/nothing.js',
    '/assets/__proto__',
    '/assets/../secret.js',
    '/assets/../../domain.key',
    '/assets/..%2fsecret.js',
    '/assets/..%2f..%2fdomain.key',
    '/assets/%2e%2e/secret.js',
    '/assets/..\\secret.js',
    '/assets//main-Ab12.js',
    '/secret.js',
    '/index.html',
  ])('has nothing at %s', async (path) => {
    expect(['400', '401']).toContain(await statusOf(path));
  });

  it('leaves the API’s answers under the API’s policy', async () => {
    const { headers } = await fetch(`${served.url}/health`);
    expect(headers.get('Content-Security-Policy')).toBe(
      "default-src 'none'; frame-ancestors 'none'",
    );
    expect(headers.get('Cache-Control')).toBe('no-store');
  });

  it('is read once: what is put into the folder later is not served', async () => {
    write('assets/late-Ab12.js', 'late');
    symlinkSync(join(folder, 'domain.key'), join(page, 'assets/link.js'));
    expect(await statusOf('/assets/late-Ab12.js')).toBe('401');
    expect(await statusOf('/assets/link.js')).toBe('401');
  });

  it('is missing where no folder is named, and refused where the folder holds none or too much', async () => {
    const without = await serveHub({ hub, port: 0 });
    const headers = { Authorization: 'Bearer agent' };
    expect((await fetch(`${without.url}/`, { headers })).status).toBe(404);
    await without.close();
    const refusal = { code: 'invalid', message: expect.stringContaining('holds no page') };
    await expect(serveHub({ hub, port: 0, page: folder })).rejects.toMatchObject(refusal);
    write('assets/huge.js', '');
    truncateSync(join(page, 'assets/huge.js'), 17 * 1024 * 1024);
    await expect(serveHub({ hub, port: 0, page })).rejects.toThrow('a page has at most');
  });
});
