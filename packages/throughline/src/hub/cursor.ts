import type { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import type { KeyBox } from './vault.ts';

const invalid = () =>
  new ThroughlineError(
    'invalid',
    'cursor: is not one that this list gave for this caller and filter; ask again without it',
  );

/**
 * Page marks that only the hub can read. `bound` names tenant, caller and filter: with another of
 * them the same mark does not open.
 */
export class Cursors<T> {
  readonly #box: KeyBox;
  readonly #schema: z.ZodType<T>;

  constructor(box: KeyBox, schema: z.ZodType<T>) {
    this.#box = box;
    this.#schema = schema;
  }

  seal(bound: readonly unknown[], place: T): string {
    const { sealed } = this.#box.seal(JSON.stringify(bound), place);
    return Buffer.from(sealed).toString('base64url');
  }

  open(bound: readonly unknown[], cursor: string): T {
    if (!/^[\w-]{40,2048}$/.test(cursor)) throw invalid();
    let place: unknown;
    try {
      place = this.#box.open(JSON.stringify(bound), Buffer.from(cursor, 'base64url'));
    } catch {
      throw invalid();
    }
    const result = this.#schema.safeParse(place);
    if (!result.success) throw invalid();
    return result.data;
  }
}
