import type { Counter } from './counter.ts';
import { htmlToMarkdown } from './html.ts';
import { encodings } from './lossless.ts';
import { cutProse } from './prose.ts';
import type { Work } from './work.ts';

/**
 * HTML as Markdown, turned once. Undefined for other texts, for a page that can't be turned, and for one
 * of which a pinned fact would be lost: such a page stays whole.
 */
export function markdownOf(work: Work): string | undefined {
  if (work.found.kind !== 'html' || work.markdown !== undefined) return work.markdown;
  const converted = htmlToMarkdown(work.source);
  if ('because' in converted) {
    work.found = { kind: 'whole', because: converted.because };
  } else if (work.pinned.some((fact) => !converted.markdown.includes(fact))) {
    work.found = { kind: 'whole', because: 'a pinned fact is in its markup' };
  } else {
    work.markdown = converted.markdown;
    const { leftOut } = converted;
    if (leftOut.length > 0) work.notes.push(`Left out of the page: ${leftOut.join(', ')}.`);
  }
  return work.markdown;
}

/** Puts Markdown, of which parts can be kept, in the place of HTML. */
export function readHtml(works: readonly Work[], counter: Counter): void {
  for (const work of works) {
    const text = markdownOf(work);
    if (text === undefined) continue;
    const { tokens, ...cut } = cutProse(text, counter);
    const mediaType = 'text/markdown';
    work.cut = { ...cut, mediaType };
    Object.assign(work, { text, after: tokens, did: 'encoded', strategy: 'markdown', mediaType });
  }
}

/** A form this much longer in characters than what must be reached can't be short enough in tokens. */
const hopeless = 1.6;

/**
 * Writes JSON in its smallest form, as far as that loses neither data nor a pinned fact.
 *
 * @param share Tokens that are left ÷ tokens now. A form that can't reach it is not counted but only
 *   remembered, to be cut. Absent: the smallest form is wanted however far that gets.
 */
export function encodeSmallest(
  works: readonly Work[],
  { count }: Counter,
  share: number | undefined,
): void {
  for (const work of works) {
    if (work.found.kind !== 'json') continue;
    const most = work.source.length * (share ?? 1) * hopeless;
    const found = encodings(work.source);
    const csv = found.find(({ name }) => name === 'csv');
    if (csv !== undefined) work.asCsv = csv.text;
    for (const { name, mediaType, text } of found) {
      if (share !== undefined && text.length > most) continue;
      const tokens = count(text);
      if (tokens >= work.after || !work.pinned.every((fact) => text.includes(fact))) continue;
      Object.assign(work, { text, after: tokens, did: 'encoded', strategy: name });
      if (name === 'json') delete work.mediaType;
      else work.mediaType = mediaType;
    }
  }
}
