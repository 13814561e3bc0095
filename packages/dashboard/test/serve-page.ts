import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { serve, type ServerType } from '@hono/node-server';
import { serveStatic } from '@hono/node-server/serve-static';
import { Hono, type MiddlewareHandler } from 'hono';

const dist = fileURLToPath(new URL('../dist', import.meta.url));

/** What the page needs, and no more: its own files, its own origin. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

export interface ServedPage {
  readonly url: string;
  /** What requests to the hub meet: `undefined` for the hub itself. */
  instead(answer: (() => Promise<Response>) | undefined): void;
  close(): Promise<void>;
}

const guarded: MiddlewareHandler = async (c, next) => {
  c.header('Content-Security-Policy', pagePolicy);
  c.header('X-Content-Type-Options', 'nosniff');
  c.header('Referrer-Policy', 'no-referrer');
  await next();
};

/** The built page and the hub's API under one origin, as the hub will serve them. */
export async function servePage(hubUrl: string): Promise<ServedPage> {
  const app = new Hono();
  let instead: (() => Promise<Response>) | undefined;
  app.get('/', guarded, (c) => c.html(readFileSync(join(dist, 'index.html'), 'utf8')));
  app.get('/assets/*', guarded, serveStatic({ root: dist }));
  app.all('*', async (c) => {
    if (instead !== undefined) return instead();
    const { pathname, search } = new URL(c.req.url);
    const headers = new Headers(c.req.raw.headers);
    headers.delete('host');
    headers.delete('connection');
    const { method } = c.req.raw;
    const body = method === 'GET' ? null : await c.req.arrayBuffer();
    try {
      const answer = await fetch(hubUrl + pathname + search, { method, headers, body });
      return new Response(answer.body, { status: answer.status, headers: answer.headers });
    } catch {
      return new Response('no hub', { status: 502 });
    }
  });
  const { promise, resolve } = Promise.withResolvers<number>();
  const server: ServerType = serve(
    { fetch: app.fetch, hostname: '127.0.0.1', port: 0 },
    ({ port }) => resolve(port),
  );
  const url = `http://127.0.0.1:${await promise}`;
  return {
    url,
    instead: (answer) => {
      instead = answer;
    },
    close: async () => {
      const closed = Promise.withResolvers<undefined>();
      server.close(() => closed.resolve(undefined));
      if ('closeAllConnections' in server) server.closeAllConnections();
      await closed.promise;
    },
  };
}
