/** A short form that a text introduces, with the words it stands for. */
export interface Acronym {
  readonly short: string;
  readonly long: string;
}

const inBrackets = /\(([\p{L}\p{N}-]{2,10}?)s?\)/gu;
/** Characters before the bracket in which the long form is looked for. */
const reach = 120;
/** Words that a long form may have more than its short form has letters. */
const moreWords = 2;

/**
 * Finds short forms where they are introduced, as in “bovine coronavirus (BCoV)”: at least two capitals
 * in brackets, behind words of which one begins with the same letter.
 */
export function acronymsIn(text: string): Acronym[] {
  if (!text.includes('(')) return [];
  return Array.from(text.matchAll(inBrackets)).flatMap(({ 1: short = '', index }) => {
    if ((short.match(/\p{Lu}/gu)?.length ?? 0) < 2) return [];
    const before = text.slice(Math.max(0, index - reach), index);
    const words = before
      .trimEnd()
      .split(/\s+/)
      .slice(-short.length - moreWords);
    const enough = Math.min(short.length, 3);
    let long: string | undefined;
    for (let length = 2; length <= words.length; length++) {
      const isStart = words.at(-length)?.[0]?.toLowerCase() === short[0]?.toLowerCase();
      if (isStart) long = words.slice(-length).join(' ');
      if (isStart && length >= enough) break;
    }
    return long === undefined ? [] : [{ short, long }];
  });
}
