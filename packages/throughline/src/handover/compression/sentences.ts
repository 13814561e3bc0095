import { sentences } from 'sbd';

/** Beyond this the splitter, which takes quadratic time, gives way to the linear one. */
const longParagraph = 20_000;

/** Letters of a script whose sentences don't end in a full stop and a space. */
const otherScript = /[^\P{L}\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]/u;

/** In ASCII there are none, and looking at scripts is slow. */
const isAscii = (text: string): boolean => /^[\x20-\x7e\s]*$/.test(text);

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/**
 * Cuts a paragraph between its sentences; the pieces joined are the paragraph again. Latin, Greek and
 * Cyrillic text is cut by `sbd`, which knows abbreviations; all other scripts as Unicode says (UAX 29).
 */
export function splitSentences(paragraph: string): string[] {
  const body = paragraph.trimEnd();
  const cuts: number[] = [];
  let at = 0;
  for (const piece of pieces(body)) {
    at += piece.length;
    if (at < body.length) cuts.push(safeCut(body, at));
  }
  const unique = [...new Set([0, ...cuts, paragraph.length])];
  return unique.slice(1).map((end, index) => paragraph.slice(unique[index], end));
}

function pieces(paragraph: string): string[] {
  if (paragraph.length <= longParagraph && (isAscii(paragraph) || !otherScript.test(paragraph))) {
    const found = sentences(paragraph, { preserve_whitespace: true });
    if (found.join('') === paragraph) return found;
  }
  return Array.from(segmenter.segment(paragraph), ({ segment }) => segment);
}

/**
 * Moves a cut so that spaces lead the next sentence and line ends close the last one: there a token
 * ends as well, so the tokens of the pieces add up to those of the whole.
 */
function safeCut(text: string, at: number): number {
  let from = at;
  while (from > 0 && isSpace(text, from - 1)) from -= 1;
  let to = at;
  while (to < text.length && isSpace(text, to)) to += 1;
  const line = text.slice(from, to).search(/[\r\n][^\r\n]*$/);
  return line === -1 ? from : from + line + 1;
}

const isSpace = (text: string, at: number): boolean => /\s/.test(text.charAt(at));

/** The cut at `at` is one over which tokens add up. */
export function isAdditiveCut(before: string, after: string): boolean {
  if (before === '' || after === '') return true;
  const isNewLine = /[\r\n]$/.test(before) && !/^\s*[\r\n]/.test(after) && !after.startsWith('/');
  return isNewLine || (/\S$/.test(before) && /^[ \t]/.test(after) && !/^\s*[\r\n]/.test(after));
}
