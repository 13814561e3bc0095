import type { Context, Hono } from 'hono';
import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import { narrowRequestSchema, outputOfHeader } from '../model/content.ts';
import { idSchema } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Principal } from '../model/principal.ts';
import { selectorSchema, type Selector } from '../model/resource.ts';
import { limitBody, readBody } from './body.ts';
import type { Env } from './env.ts';
import type { ServedHub } from './ports.ts';

/** A part of content: kind and fragment of a selector, both or none. */
export const selectorQuery = z.strictObject({
  conformsTo: selectorSchema.shape.conformsTo.exactOptional(),
  value: selectorSchema.shape.value.exactOptional(),
});
type SelectorQuery = z.output<typeof selectorQuery>;

/** The token that a request shows beside its key, with its proof. */
export const shownIn = (
  c: Context<Env>,
): { token: string | undefined; proof: string | undefined } => ({
  token: c.req.header('Throughline-Content-Token'),
  proof: c.req.header('DPoP'),
});

function selectorOf({ conformsTo, value }: SelectorQuery): Selector | undefined {
  if (conformsTo === undefined && value === undefined) return undefined;
  if (conformsTo !== undefined && value !== undefined) return { conformsTo, value };
  throw new ThroughlineError('invalid', 'query: a part has both conformsTo and value');
}

interface Asked {
  readonly uri: string;
  readonly query: SelectorQuery;
  readonly token?: string | undefined;
  readonly proof?: string | undefined;
  readonly inUrl?: boolean;
}

export async function answerContent(
  hub: ServedHub,
  by: Principal | undefined,
  { query, ...reading }: Asked,
): Promise<Response> {
  const selector = selectorOf(query);
  const content = await hub.content.get(by, { ...reading, selector });
  const digest = Buffer.from(content.digest.slice('sha-256:'.length), 'hex').toString('base64');
  // Somebody's file: no browser may show it as a page of ours.
  return new Response(new Uint8Array(content.bytes), {
    headers: {
      'Content-Type': content.mediaType,
      'Content-Disposition': 'attachment',
      'Content-Digest': `sha-256=:${digest}:`,
      ...(content.outputOf === undefined ? {} : { [outputOfHeader]: content.outputOf }),
    },
  });
}

/**
 * Reading, and narrowing a right to read, by those who have no key of this hub: with a token bound to a key of theirs, or with one that
 * stands in the URL. Whoever shows neither goes on to where a key is asked for.
 */
export function serveBearers(app: Hono<Env>, hub: ServedHub, origin: string): void {
  app.get('/content/:id', async (c, next) => {
    const { token, proof } = shownIn(c);
    const inUrl = c.req.query('ctx');
    const isBearer = inUrl !== undefined || (token !== undefined && proof !== undefined);
    // A look at the head is answered like a reading, and would use up what is good once.
    const isReading = c.req.method === 'GET' && c.req.header('Authorization') === undefined;
    if (!isBearer || !isReading) return next();
    const id = idSchema('resource').safeParse(c.req.param('id')).data ?? 'none';
    const { ctx: _token, ...given } = c.req.query();
    const query = selectorQuery.safeParse(given).data;
    if (query === undefined) {
      throw new ThroughlineError('invalid', 'query: a part has conformsTo and value, and no more');
    }
    const shown = inUrl === undefined ? { token, proof } : { token: inUrl, inUrl: true };
    const answer = await asUnauthenticated(
      answerContent(hub, undefined, { uri: `${origin}/content/${id}`, query, ...shown }),
    );
    // A link leaves no traces: neither in a cache nor in what a page is told of where it came from.
    answer.headers.set('Cache-Control', 'no-store');
    answer.headers.set('Referrer-Policy', 'no-referrer');
    return answer;
  });
  app.post('/content-tokens/narrow', limitBody(limits.bodyBytes), async (c, next) => {
    const { proof } = shownIn(c);
    if (c.req.header('Authorization') !== undefined || proof === undefined) return next();
    const request = narrowRequestSchema.safeParse(await readBody(c, { takes: 'json' }));
    if (!request.success) {
      throw new ThroughlineError('invalid', 'body: needs token, uris, seconds and thumbprint');
    }
    const narrowed = hub.content.narrowToken(undefined, request.data, proof);
    return c.json({ token: await asUnauthenticated(narrowed) });
  });
}

/** Without a right there is one answer, whether the content is there or not. */
async function asUnauthenticated<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof ThroughlineError) || error.code !== 'not-found') throw error;
    throw new ThroughlineError('unauthenticated', 'a key of this hub, or a valid token, is needed');
  }
}
