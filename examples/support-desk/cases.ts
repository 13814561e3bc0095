/** The customer cases as the desk gets them: who writes, and the opening message. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';

const caseSchema = z.object({
  id: z.string().max(100),
  /** The bank's user id, or null for somebody the bank doesn't know. */
  customer: z.string().max(100).nullable(),
  openingMessage: z.string().max(20_000),
});

/** A case as the desk gets it. */
export type DeskCase = z.infer<typeof caseSchema>;

/** The cases, opening messages only. `path`: another file of the same shape. */
export function deskCases(path: string | URL = 'data/cases.json'): DeskCase[] {
  const text = readFileSync(new URL(path, import.meta.url), 'utf8');
  return z.array(caseSchema).parse(JSON.parse(text));
}

/** The case with this id. Throws with the number of known cases when there is none. */
export function deskCase(id: string): DeskCase {
  const cases = deskCases();
  const found = cases.find((one) => one.id === id);
  if (found === undefined) {
    const known = `${cases.length} cases, ${cases[0]?.id} to ${cases.at(-1)?.id}`;
    throw new RangeError(`No case ${JSON.stringify(id)} in data/cases.json; it holds ${known}`);
  }
  return found;
}
