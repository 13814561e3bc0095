import type { z } from 'zod';
import { ThroughlineError } from '../errors.ts';

const echo = (id: string): string => JSON.stringify(id.length > 64 ? `${id.slice(0, 64)}…` : id);

/** The one answer for what is not there and for what the caller may not see. */
export const notFound = (what: string, id: string): ThroughlineError =>
  new ThroughlineError(
    'not-found',
    `${what} ${echo(id)} does not exist or is not open to you; check the id and your rights`,
  );

/** The one answer for a context that was never issued, has expired or is not the caller's. */
export const contextRefused = (contextId: string): ThroughlineError =>
  new ThroughlineError(
    'context-refused',
    `context ${echo(contextId)} can't be used: it was not issued to you or is over; send without a contextId to get a new one`,
  );

/** Parses what came from outside; `invalid` names the fields at fault, never their values. */
export function parse<S extends z.ZodType>(schema: S, value: unknown, what: string): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues.slice(0, 8);
  const fields = issues.map((issue) => ({ path: issue.path.join('.'), message: issue.message }));
  const first = fields[0];
  throw new ThroughlineError(
    'invalid',
    `${what}: ${first === undefined || first.path === '' ? 'the value' : first.path} ${first?.message ?? 'is malformed'}`,
    { details: { fields } },
  );
}
