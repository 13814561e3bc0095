import { z } from 'zod';
import { ThroughlineError } from '../../errors.ts';
import type { Json, StoredLogEntry, StoredRow } from '../../store/index.ts';

/** A row of a store as a backup holds it: sealed bytes as they are, in base64. */
export type BackupRow = { readonly log: StoredLogEntry } | StoredRow;

const bytes = z.string().transform((text) => new Uint8Array(Buffer.from(text, 'base64')));
const json = z.json().transform((value): Json => value);
const common = {
  activity: z.string().exactOptional(),
  shape: json,
  sealed: bytes.exactOptional(),
};
const seq = z.int().nonnegative();

const rowSchema = z.union([
  z.strictObject({
    log: z.strictObject({ ...common, id: z.string(), about: z.string(), seq, hash: z.string() }),
  }),
  z.strictObject({
    object: z.strictObject({
      ...common,
      id: z.string(),
      kind: z.string(),
      parent: z.string().exactOptional(),
      seq,
    }),
  }),
  z.strictObject({
    edge: z.strictObject({
      ...common,
      id: z.string(),
      type: z.string(),
      from: z.string(),
      to: z.string(),
      status: z.enum(['active', 'revoked']),
      seq,
    }),
  }),
  z.strictObject({
    record: z.strictObject({
      ...common,
      kind: z.string(),
      key: z.string(),
      version: z.int().positive(),
      sort: z.int(),
      index: z.record(z.string(), z.string()),
      expiresAt: z.int().exactOptional(),
    }),
  }),
]);

/** What was taken back: an API key or a grant, by its id. */
const revokedSchema = z.strictObject({ revoked: z.enum(['key', 'grant']), id: z.string() });
export type Revoked = z.infer<typeof revokedSchema>;
const ledgerSchema = z.union([revokedSchema, rowSchema]);

/** One line of JSON, with its line feed. */
export function rowLine(row: BackupRow | Revoked): string {
  const text = JSON.stringify(row, (_, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value,
  );
  return `${text}\n`;
}

export const parseRow = (line: string): BackupRow => parsed(rowSchema, line);
/** Of the file that is kept apart: wrapped keys, and what was taken back. */
export const parseLedger = (line: string): BackupRow | Revoked => parsed(ledgerSchema, line);

function parsed<T>(schema: z.ZodType<T>, line: string): T {
  try {
    return schema.parse(JSON.parse(line));
  } catch (cause) {
    throw new ThroughlineError(
      'damaged',
      'the backup holds a line that is none of its rows; take another backup',
      { cause },
    );
  }
}
