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
  const found: string[] = [];
  let [from, at, seen] = [0, 0, 0];
  for (const piece of pieces(body)) {
    at += piece.length;
    if (at <= seen || at >= body.length) continue;
    const gap = spaceAround(body, at);
    seen = gap.to;
    const cut = gap.from + endOfLines(body.slice(gap.from, gap.to));
    found.push(paragraph.slice(from, cut));
    from = cut;
  }
  return [...found, paragraph.slice(from)];
}

/** What a full stop behind it does not end a sentence by; of English `sbd` knows more. */
const shortForms = new Set(
  (
    'al approx bzw ca cf Corp Dept Dr dr ed Fig fig Figs Gen Hr Hrsg Jh Jr Mio Mme Mr Mrd Mrs Ms No Nr pp ' +
    'Prof Rep Rev Sen Sig Sra Srta St Str Ud usw vgl Vgl Vol vs zzgl гг им пр рис стр ул د م'
  ).split(' '),
);

const isCutShort = (sentence: string): boolean => {
  const end = sentence.slice(-16).trimEnd();
  const word = end.endsWith('.') && /(?:^|[^\p{L}\p{N}])(\p{L}+)\.$/u.exec(end)?.[1];
  return word !== false && word !== undefined && shortForms.has(word);
};

function pieces(paragraph: string): string[] {
  const found: string[] = [];
  for (const piece of cutPieces(paragraph)) {
    const before = found.at(-1);
    if (before !== undefined && isCutShort(before)) found[found.length - 1] = before + piece;
    else found.push(piece);
  }
  return found;
}

function cutPieces(paragraph: string): string[] {
  if (paragraph.length <= longParagraph && (isAscii(paragraph) || !otherScript.test(paragraph))) {
    const found = sentences(paragraph, { preserve_whitespace: true });
    if (found.join('') === paragraph) return found;
  }
  return Array.from(segmenter.segment(paragraph), ({ segment }) => segment);
}

interface Range {
  readonly from: number;
  readonly to: number;
}

function spaceAround(text: string, at: number): Range {
  let [from, to] = [at, at];
  while (from > 0 && isSpace(text, from - 1)) from -= 1;
  while (to < text.length && isSpace(text, to)) to += 1;
  return { from, to };
}

/**
 * Where white space between two sentences is cut: spaces lead the next sentence and line ends close the
 * last one. There a token ends as well, so the tokens of the pieces add up to those of the whole.
 */
const endOfLines = (space: string): number =>
  Math.max(space.lastIndexOf('\n'), space.lastIndexOf('\r')) + 1;

const isSpace = (text: string, at: number): boolean => /\s/.test(text.charAt(at));

/** The cut at `at` is one over which tokens add up. */
export function isAdditiveCut(before: string, after: string): boolean {
  if (before === '' || after === '') return true;
  const isNewLine = /[\r\n]$/.test(before) && !/^\s*[\r\n]/.test(after) && !after.startsWith('/');
  return isNewLine || (/\S$/.test(before) && /^[ \t]/.test(after) && !/^\s*[\r\n]/.test(after));
}
