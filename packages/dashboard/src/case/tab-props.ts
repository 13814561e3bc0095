import type { UseQueryResult } from '@tanstack/react-query';
import type { Timeline } from '../data/queries.ts';
import type { CaseIndex } from './case-index.ts';

/** What each view of a case gets. */
export interface TabProps {
  readonly index: CaseIndex;
  readonly timeline: UseQueryResult<Timeline>;
  /** Words that rows must hold; empty for all. */
  readonly find: string;
  /** Id of the object whose details are shown. */
  readonly selected: string | undefined;
  readonly select: (id: string | undefined) => void;
}

/** Whether texts hold every word that is looked for, in any case. */
export function holds(find: string, ...texts: readonly (string | undefined)[]): boolean {
  const text = texts.join('\n').toLowerCase();
  return find
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
