import type { Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { ThroughlineError } from '../errors.ts';
import type { Env } from './env.ts';
import { parseJson } from './json.ts';
import { Refusal } from './problem.ts';
import type { Route } from './route.ts';

/** Refuses with `too-large` what is longer, before it is read. */
export const limitBody = (maxSize: number) =>
  bodyLimit({
    maxSize,
    onError: () => {
      throw new ThroughlineError('too-large', `body: is larger than ${maxSize} bytes`, {
        details: { limit: maxSize },
      });
    },
  });

/** JSON, bytes or nothing, as the route takes it; another media type is refused with 415. */
export async function readBody(c: Context<Env>, { takes }: Pick<Route, 'takes'>): Promise<unknown> {
  if (takes === 'nothing') return undefined;
  const wanted = takes === 'json' ? 'application/json' : 'application/octet-stream';
  const given = c.req.header('Content-Type')?.split(';')[0]?.trim().toLowerCase();
  if (given !== wanted) {
    const message = `Content-Type: must be ${wanted}`;
    throw new Refusal(415, new ThroughlineError('invalid', message));
  }
  const bytes = new Uint8Array(await c.req.arrayBuffer());
  return takes === 'json' ? parseJson(bytes) : bytes;
}
