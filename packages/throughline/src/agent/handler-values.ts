import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import { limits } from '../model/limits.ts';

/*
 * What a handler gives back. It may be JavaScript that nothing has checked, and what is wrong with it would
 * come up only at the Master, as a return that does not fit.
 */
const strings = z.array(z.string());

/** `HandlerResult`. */
export const resultSchema = z.object({
  criteria: z
    .array(
      z.object({
        id: z.string(),
        passed: z.boolean(),
        evidence: strings,
        traces: strings.nullish(),
      }),
    )
    .optional(),
  confidence: z.number().min(0).max(1).nullish(),
  failure: z.string().optional(),
});

/** `MessageAnswer`. */
export const answerSchema = z.object({
  text: z.string(),
  parts: z
    .array(z.looseObject({ kind: z.enum(['text', 'data', 'bytes', 'url']) }))
    .max(limits.parts)
    .optional(),
  asks: z.boolean().optional(),
  ends: z.enum(['completed', 'failed', 'cancelled']).optional(),
});

/** @throws ThroughlineError `internal`, which the operator gets to read and the caller does not. */
export function checkValue(schema: z.ZodType, value: unknown, what: string): void {
  const { error } = schema.safeParse(value);
  if (error === undefined) return;
  throw new ThroughlineError('internal', `${what} is not usable:\n${z.prettifyError(error)}`);
}
