/** What each case needs, for checks alone. No agent module may import this. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';

const expectedSchema = z.object({
  id: z.string(),
  requiredDocuments: z.array(z.string()),
  /** Transactions that end up disputed as wrong cash back. */
  disputedTransactions: z.array(z.string()).optional(),
});

/** What a case needs. */
export type ExpectedCase = z.infer<typeof expectedSchema>;

/** Every case's needs. `path`: another file of the same shape. */
export function expectedCases(path: string | URL = 'data/expected.json'): ExpectedCase[] {
  const text = readFileSync(new URL(path, import.meta.url), 'utf8');
  return z.array(expectedSchema).parse(JSON.parse(text));
}
