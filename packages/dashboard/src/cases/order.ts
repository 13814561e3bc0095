import type { CaseSummary } from 'throughline/model';
import { plain, shortId } from '../case/case-index.ts';

/** Stuck cases first, then by latest change; the activity's id settles equal times. */
export const inOrder = (cases: readonly CaseSummary[]): CaseSummary[] =>
  cases.toSorted(
    (a, b) =>
      Number(b.stuck > 0) - Number(a.stuck > 0) ||
      Date.parse(b.updatedAt) - Date.parse(a.updatedAt) ||
      (a.activity < b.activity ? -1 : 1),
  );

export type CaseFilter = 'all' | 'stuck' | 'open' | 'closed';

const passes: Readonly<Record<CaseFilter, (each: CaseSummary) => boolean>> = {
  all: () => true,
  stuck: ({ stuck }) => stuck > 0,
  open: ({ closed }) => !closed,
  closed: ({ closed }) => closed,
};

/** Labels as they are read and as they are asked for: `ticket=4711`. */
const labelTexts = ({ labels = {} }: Pick<CaseSummary, 'labels'>): string[] =>
  Object.entries(labels).map(([name, value]) => `${name}=${value}`);

/** Names of those whose step it is in a case, where something is stuck. */
export const stepsOf = ({ whose = [] }: Pick<CaseSummary, 'whose'>): string[] =>
  whose.map(({ participant, name }) => plain(name ?? shortId(participant)));

/** Cases whose objective, labels, context id, activity id, owner or next step holds every word, in any case. */
export function findCases(
  cases: readonly CaseSummary[],
  words: string,
  filter: CaseFilter = 'all',
): CaseSummary[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return cases.filter((each) => {
    const { objective = '', contextId = '', activity, owner = '' } = each;
    const text = [objective, contextId, activity, owner, ...labelTexts(each), ...stepsOf(each)]
      .join('\n')
      .toLowerCase();
    return passes[filter](each) && wanted.every((word) => text.includes(word));
  });
}
