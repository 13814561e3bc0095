import type { Context, Hono } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import { pageSessionSeconds, sessionRequestSchema } from '../model/session.ts';
import type { Principal } from '../model/principal.ts';
import { limitBody, readBody } from './body.ts';
import type { Env } from './env.ts';
import type { ServedHub } from './ports.ts';

const bodyBytes = 1_024;

/**
 * Over https bound to the host alone by its name. Browsers tell hosts apart but not ports: two hubs
 * on one machine must not take each other's.
 */
const cookieName = (own: URL): string =>
  own.protocol === 'https:' ? '__Host-throughline' : `throughline-${own.port || '80'}`;

const attributes = (own: URL) =>
  ({
    httpOnly: true,
    sameSite: 'Strict',
    secure: own.protocol === 'https:',
    path: '/',
  }) as const;

/**
 * Whether a browser says that a page of this hub sent it. One that says nothing is no page: a cookie
 * alone is no leave.
 */
function isFromPage(c: Context<Env>, own: URL): boolean {
  const site = c.req.header('Sec-Fetch-Site');
  const origin = c.req.header('Origin');
  if (site !== undefined && site !== 'same-origin') return false;
  if (origin === undefined) return site === 'same-origin';
  const host = URL.canParse(origin) ? new URL(origin).host : undefined;
  return origin === own.origin || host === c.req.header('Host');
}

/** Who is behind the page’s cookie; undefined without one that counts. */
export async function sessionPrincipal(
  c: Context<Env>,
  hub: ServedHub,
  own: URL,
): Promise<Principal | undefined> {
  const secret = getCookie(c, cookieName(own));
  if (secret === undefined || !isFromPage(c, own)) return undefined;
  return hub.pageSession(secret);
}

/** Takes one-time codes for cookies, and cookies back. Both only from the hub’s own page. */
export function serveSessions(app: Hono<Env>, hub: ServedHub, own: URL): void {
  const check = (c: Context<Env>): void => {
    if (isFromPage(c, own)) return;
    throw new ThroughlineError(
      'unauthenticated',
      'Origin: a session is for the hub’s own page; programs call with a key',
    );
  };
  app.post('/sessions', limitBody(bodyBytes), async (c) => {
    check(c);
    const body = sessionRequestSchema.safeParse(await readBody(c, { takes: 'json' }));
    if (!body.success) {
      throw new ThroughlineError('invalid', `body: ${z.prettifyError(body.error).slice(0, 200)}`);
    }
    const secret = await hub.openPageSession(body.data.code);
    setCookie(c, cookieName(own), secret, { ...attributes(own), maxAge: pageSessionSeconds });
    return c.body(null, 204);
  });
  app.delete('/sessions', async (c) => {
    check(c);
    const secret = getCookie(c, cookieName(own));
    if (secret !== undefined) await hub.endPageSession(secret);
    deleteCookie(c, cookieName(own), attributes(own));
    return c.body(null, 204);
  });
}
