import { randomBytes } from 'node:crypto';
import { makeId, type IdKind } from '../model/index.ts';

/** Gives that many random bytes; a test may hand in its own. */
export type Random = (bytes: number) => Uint8Array;

export const systemRandom: Random = (bytes) => randomBytes(bytes);

/** Makes public ids; the only place in the hub that names new things. */
export class Ids {
  readonly #random: Random;

  constructor(random: Random = systemRandom) {
    this.#random = random;
  }

  make(kind: IdKind): string {
    return makeId(kind, this.#random(16));
  }
}
