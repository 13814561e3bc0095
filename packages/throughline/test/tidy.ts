import { placeOf, type Source, visit } from './source.ts';

const maxLines = 500;
const kebabCase = /^[a-z0-9]+(-[a-z0-9]+)*(\.(test|config|d))?\.(ts|tsx|mjs)$/;

/** What standards call themselves: the only dates and numbers of that form a comment may hold. */
const namesOfStandards =
  /\bPKCS #\d+|\b(2024-11-05|2025-03-26|2025-06-18|2025-11-25|2026-07-28)\b/g;

const inComments: readonly (readonly [pattern: RegExp, problem: string])[] = [
  [/@ts-(ignore|expect-error|nocheck)/, 'switches the compiler off'],
  [/(oxlint|eslint)-disable/, 'switches the linter off'],
  [/\b(TODO|FIXME|XXX)\b/, 'leaves a note for later'],
  [/(^|\s)#\d+\b|\bissues?[ #]+\d+/i, 'names an issue'],
  [/\b(19|20)\d\d-\d\d(-\d\d)?\b/, 'holds a date'],
];

/** One sentence for each thing that does not belong in a source file. */
export function untidiness(source: Source): string[] {
  const { path, text } = source;
  const found: string[] = [];
  if (!kebabCase.test(path.split('/').at(-1) ?? '')) found.push(`${path}: is not in kebab-case`);
  const lines = text.trimEnd().split('\n').length;
  if (lines > maxLines) found.push(`${path}: has ${lines} lines, more than ${maxLines}`);
  const comments = visit(source, {
    TSAnyKeyword: (node) => {
      found.push(`${placeOf(source, node.start)}: uses any`);
    },
  });
  for (const { start, value } of comments) {
    const rest = value.replaceAll(namesOfStandards, '');
    for (const [pattern, problem] of inComments) {
      if (pattern.test(rest)) found.push(`${placeOf(source, start)}: comment ${problem}`);
    }
  }
  return found;
}
