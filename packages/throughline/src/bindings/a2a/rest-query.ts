import { taskStateFromJSON, TaskState } from '@a2a-js/sdk';
import { z } from 'zod';
import { ThroughlineError } from '../../errors.ts';
import { limits } from '../../model/limits.ts';
import { protobufNames } from './params.ts';

const whole = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,10}$/, { message: 'must be a whole number' })
    .transform(Number)
    .pipe(z.int().min(least).max(most))
    .optional();

const historyLength = whole(0, 2_147_483_647);

export const historyQuery = z.object({ historyLength });
export const pageQuery = z.object({
  pageSize: whole(0, limits.pageSize),
  pageToken: z.string().optional(),
});

const state = z
  .string()
  .transform((name) => taskStateFromJSON(/^\d+$/.test(name) ? Number(name) : name))
  .refine((found) => found !== TaskState.UNRECOGNIZED, { message: 'must be a state of a task' })
  .optional();

const listQuery = z.object({
  contextId: z.string().optional(),
  status: state,
  pageSize: whole(1, limits.pageSize),
  pageToken: z.string().optional(),
  historyLength,
  statusTimestampAfter: z.iso.datetime({ offset: true }).optional(),
  includeArtifacts: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional(),
});

/**
 * A query by its schema, also with parameters as protobuf calls them. Throws `invalid` naming the
 * one that is malformed or there twice; an empty one counts as absent, and parameters that nobody knows are let through.
 */
export function parseQuery<S extends z.ZodObject>(url: string, schema: S): z.output<S> {
  const found: Record<string, string> = {};
  const names = protobufNames(Object.keys(schema.shape));
  for (const [said, value] of new URL(url).searchParams) {
    const name = names.get(said) ?? said;
    if (found[name] !== undefined) throw invalid(name, 'is there twice');
    if (value !== '') found[name] = value;
  }
  const parsed = schema.safeParse(found);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalid(issue?.path.join('.') ?? '', issue?.message ?? 'is malformed');
}

const invalid = (name: string, what: string): ThroughlineError =>
  new ThroughlineError('invalid', `query ${name.slice(0, 64)}: ${what}`, { details: { name } });

/** `GET /tasks?…` as the parameters of ListTasks. */
export const listRequest = (url: string, tenant: string): Readonly<Record<string, unknown>> => ({
  tenant,
  ...parseQuery(url, listQuery),
});
