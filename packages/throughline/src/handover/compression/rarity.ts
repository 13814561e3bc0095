import { encode } from 'gpt-tokenizer/encoding/o200k_base';

/** Place in the vocabulary of a word that is neither common nor rare. */
const middle = 8_100;
/** Gained for each time that a word is e times as rare, up to `most`. */
const gain = 0.15;
const most = 1.3;
/** A word of more letters is rare; looking it up would take time by its square. */
const longest = 24;

/**
 * How much a word tells of what is asked: less than 1 where it is common in English, as “kind” or “use”.
 * The vocabulary of o200k_base stands roughly in the order of frequency, so that a common word is one
 * early token, whatever texts are at hand.
 */
export function rarity(word: string): number {
  if (word.length > longest) return most;
  const [place = middle, ...more] = encode(` ${word}`);
  return more.length > 0 ? most : Math.min(most, 1 + gain * Math.log(Math.max(1, place) / middle));
}
