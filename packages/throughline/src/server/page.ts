import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { Hono } from 'hono';
import { ThroughlineError } from '../errors.ts';
import type { Env } from './env.ts';
import { securityHeaders } from './guard.ts';

/** What the page needs, and no more: its own files, its own origin. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Files of any other kind are not served. */
const mediaTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const most = { files: 200, bytes: 16 * 1024 * 1024 } as const;

const headersOf = (cache: string) => ({
  ...securityHeaders,
  'Cache-Control': cache,
  'Content-Security-Policy': policy,
});
/** The names of assets hold their hash: another content has another name. */
const indexHeaders = headersOf('no-cache');
const assetHeaders = headersOf('public, max-age=31536000, immutable');

interface PageFile {
  readonly mediaType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/**
 * Serves the page of a folder: `index.html` at `/`, what lies in `assets` under its name. Files are
 * read once, here: no request reaches the file system. Throws `invalid` for a folder that is no page.
 */
export function servePage(app: Hono<Env>, folder: string): void {
  const { index, assets } = readPage(folder);
  app.get('/', (c) => {
    c.set('headers', indexHeaders);
    return c.body(index.bytes, 200, { 'Content-Type': index.mediaType });
  });
  app.get('/assets/:name', async (c, next) => {
    const file = assets.get(c.req.param('name'));
    if (file === undefined) return next();
    c.set('headers', assetHeaders);
    return c.body(file.bytes, 200, { 'Content-Type': file.mediaType });
  });
}

function readPage(folder: string) {
  const at = join(folder, 'assets');
  const index = join(folder, 'index.html');
  if (!existsSync(index)) {
    throw new ThroughlineError('invalid', `${folder}: holds no page; build it, or name its folder`);
  }
  const names = existsSync(at) ? readdirSync(at) : [];
  const paths = names.map((name) => [name, join(at, name)] as const);
  const served = paths.filter(([, path]) => isServed(path));
  const bytes = [index, ...served.map(([, path]) => path)].reduce(
    (sum, path) => sum + statSync(path).size,
    0,
  );
  if (served.length > most.files || bytes > most.bytes) {
    const message = `${folder}: has ${served.length} files of ${bytes} bytes, and a page has at most ${most.files} of ${most.bytes}`;
    throw new ThroughlineError('invalid', message);
  }
  return { index: read(index), assets: new Map(served.map(([name, path]) => [name, read(path)])) };
}

const isServed = (path: string): boolean =>
  mediaTypes[extname(path)] !== undefined && statSync(path).isFile();

const read = (path: string): PageFile => ({
  mediaType: mediaTypes[extname(path)] ?? '',
  bytes: new Uint8Array(readFileSync(path)),
});
