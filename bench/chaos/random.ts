/** Numbers from 0 to 1, without 1: the same ones for the same seed. */
export type Random = () => number;

export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One of several, each as likely as the weight beside it says. */
export function pick<T>(random: Random, weights: readonly (readonly [T, number])[]): T {
  let left = random() * weights.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [each, weight] of weights) {
    left -= weight;
    if (left < 0) return each;
  }
  throw new RangeError('no weight is above 0');
}
