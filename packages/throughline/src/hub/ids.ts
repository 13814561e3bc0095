import { randomBytes } from 'node:crypto';
import { makeId, type IdKind } from '../model/index.ts';

/** Gives that many random bytes; a test may hand in its own. */
export type Random = (bytes: number) => Uint8Array;

const poolBytes = 4_096;
let pool = new Uint8Array();
let taken = 0;

/** From the system, in larger pieces: asking for each few bytes by themselves costs more than using them. */
export const systemRandom: Random = (bytes) => {
  if (bytes > poolBytes) return randomBytes(bytes);
  if (taken + bytes > pool.length) {
    pool = new Uint8Array(randomBytes(poolBytes));
    taken = 0;
  }
  const piece = pool.slice(taken, taken + bytes);
  // What was given out stays nowhere else.
  pool.fill(0, taken, taken + bytes);
  taken += bytes;
  return piece;
};

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
