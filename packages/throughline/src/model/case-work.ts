import { z } from 'zod';
import { labelSchema } from './activity.ts';
import { statementSchema, type Statement } from './assertion.ts';
import { foreignId, idSchema, shortText } from './ids.ts';
import { limits } from './limits.ts';

/** The assertion because of which somebody does it. */
const cause = idSchema('assertion').exactOptional();

export const causedSchema = z.object({ cause });
export type Caused = z.input<typeof causedSchema>;

export const labellingSchema = z.object({ label: labelSchema, cause });
export type Labelling = z.input<typeof labellingSchema>;

export const mergingSchema = z.object({ into: foreignId, cause });
export type Merging = z.input<typeof mergingSchema>;

export const splittingSchema = z.object({
  objective: shortText.exactOptional(),
  /** Tasks of the old case that the new one is about. */
  tasks: z.array(foreignId).max(64).default([]),
  cause,
});
export type Splitting = z.input<typeof splittingSchema>;

/** What people may say by hand; an executor's own word is not overruled, it stands beside. */
export const correctable: ReadonlySet<Statement['says']> = new Set([
  'dialog.state',
  'dialog.bound',
  'task.bound',
  'task.state',
  'task.unresolved',
  'relationship.asserted',
  'relationship.revoked',
]);

export const correctionSchema = z.object({
  corrections: z
    .array(
      z.object({
        /** Left out for a relationship that is new. */
        about: z.string().max(64).exactOptional(),
        statement: statementSchema.refine(({ says }) => correctable.has(says), {
          message: `must say one of ${[...correctable].join(', ')}`,
        }),
      }),
    )
    .min(1)
    .max(limits.parts),
  cause,
});
export type Correction = z.input<typeof correctionSchema>;

export const undoingSchema = z.object({ assertion: idSchema('assertion') });
export type Undoing = z.input<typeof undoingSchema>;

/** What was said; none when it was so already. */
export const saidSchema = z.object({ assertions: z.array(idSchema('assertion')) });
export type Said = z.infer<typeof saidSchema>;

export const splitSchema = saidSchema.extend({
  activity: idSchema('activity'),
  contextId: foreignId,
});
export type Split = z.infer<typeof splitSchema>;
