/** Function words of English: they say nothing about what a text is about. */
const stopWords: ReadonlySet<string> = new Set(
  (
    'a an the of in on at to for and or is are was were be been being do does did has have had it its ' +
    'by with from as that this these those which who whom whose what when where why how many much ' +
    'there here he she they his her their him them we you i not no so if into than then also can ' +
    'could would should may might will shall s about'
  ).split(' '),
);

const ascii = /^[\x20-\x7e\s]*$/;
const word = /[\p{L}\p{N}]+/gu;
const asciiWord = /[a-z0-9]+/g;
/** Scripts that write no spaces between words. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** Lower case, compatibility forms resolved, marks and apostrophes inside words taken out. */
function fold(text: string): string {
  const plain = ascii.test(text) ? text : text.normalize('NFKD').replaceAll(/\p{M}+/gu, '');
  const lower = plain.toLowerCase();
  return /['’`]/.test(lower) ? lower.replaceAll(/(?<=\p{L})['’`](?=\p{L})/gu, '') : lower;
}

/** Turns texts into terms, and remembers the stems of words it has met. */
export interface Terms {
  /** The terms of a text in order: stems, function words left out, pairs where no spaces are written. */
  of(text: string): string[];
}

/** Terms of words met before: none of a function word, several where no spaces are written. */
const known = new Map<string, readonly string[]>();
const mostKnown = 32_768;
const longestKnown = 32;

export function makeTerms(): Terms {
  return {
    of: (text) => {
      const terms: string[] = [];
      for (const found of fold(text).match(ascii.test(text) ? asciiWord : word) ?? []) {
        for (const term of known.get(found) ?? newTermsOf(found)) terms.push(term);
      }
      return terms;
    },
  };
}

function newTermsOf(found: string): readonly string[] {
  const terms = termsOf(found);
  if (found.length > longestKnown) return terms;
  if (known.size >= mostKnown) known.clear();
  known.set(found, terms);
  return terms;
}

function termsOf(found: string): readonly string[] {
  if (stopWords.has(found)) return [];
  return unspaced.test(found) ? pairs(found) : [stem(found)];
}

/** Each two neighbouring characters: the usual terms where words can't be told apart. */
function pairs(run: string): string[] {
  const characters = Array.from(run);
  if (characters.length < 2) return characters;
  return characters.slice(1).map((character, at) => `${characters[at] ?? ''}${character}`);
}

const longEndings =
  /(ational|ation|ition|ion|ment|ness|ance|ence|ity|ive|able|ible|ical|ous|al|er|or|ed|ing|ly)$/;

/**
 * A light stem: endings of English cut off, so that “publisher”, “published” and “publishing” meet. It
 * need not be a word; words with digits and short ones stay as they are.
 */
export function stem(of: string): string {
  if (of.length <= 3 || /\d/.test(of)) return of;
  let rest = of.replace(/ies$/, 'y');
  if (!/(ss|us|is)$/.test(rest)) rest = rest.replace(/s$/, '');
  rest =
    rest.length > 5
      ? rest.replace(longEndings, '')
      : rest.replace(/(ing|ed|er|ly)$/, (ending) =>
          rest.length - ending.length >= 3 ? '' : ending,
        );
  if (rest.length > 3) rest = rest.replace(/e$/, '').replace(/y$/, 'i');
  return rest.replace(/([bdfgmnprt])\1$/, '$1');
}

/** One letter more, less, other, or two exchanged. */
export function isTypo(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false;
  let from = 0;
  while (from < a.length && from < b.length && a[from] === b[from]) from += 1;
  let [left, right] = [a.length - 1, b.length - 1];
  while (left >= from && right >= from && a[left] === b[right]) {
    left -= 1;
    right -= 1;
  }
  const isExchanged =
    left - from === 1 && right - from === 1 && a[from] === b[from + 1] && a[from + 1] === b[from];
  return (left - from < 1 && right - from < 1) || isExchanged;
}
