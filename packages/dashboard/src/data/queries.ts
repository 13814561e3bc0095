import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import type { HubClient } from 'throughline/client';
import {
  feedTypes,
  limits,
  type Assertion,
  type CaseSummary,
  type CaseView,
  type FeedEvent,
} from 'throughline/model';
import {
  reaches,
  withNewest,
  withOlder,
  type KnownCases,
  type Stuck,
} from '../cases/known-cases.ts';
import { useSource } from './context.ts';
import { useFollowed } from './use-followed.ts';

const { pageSize } = limits;
/** Pages of the list read at once to catch up after a long pause. */
const mostPages = 20;
/** The same of stuck ones. */
const mostStuckPages = 3;
/** Assertions of one case kept on the page. */
export const mostAssertions = 20_000;

/** A long timeline shows itself while it is still being read. */
const pagesBetweenShowings = 10;

const casesKey = ['cases'] as const;

export interface CaseList {
  readonly query: UseQueryResult<KnownCases>;
  readonly isReadingOlder: boolean;
  /** Reads the next older part; does nothing when all are known. */
  readonly readOlder: () => void;
}

/** The list of cases: the newest part is followed, older ones are read on demand. */
export function useCases(): CaseList {
  const { hub } = useSource().session;
  const queries = useQueryClient();
  const [isReadingOlder, setReading] = useState(false);
  const query = useFollowed<KnownCases>({
    key: casesKey,
    read: async (before = { cases: [] }) => {
      const stuck = readStuck(hub);
      // Waited for below, whatever becomes of the rest.
      stuck.catch(() => undefined);
      let page = await hub.cases({ pageSize });
      const cases = [...page.cases];
      for (let pages = 1; !reaches(before, page) && pages < mostPages; pages++) {
        page = await hub.cases({ pageSize, ...(page.cursor && { cursor: page.cursor }) });
        cases.push(...page.cases);
      }
      // What was read on demand meanwhile must not be lost.
      const known = queries.getQueryData<KnownCases>(casesKey) ?? before;
      return { ...withNewest(known, { ...page, cases }), stuck: await stuck };
    },
  });
  const cursor = query.data?.cursor;
  const readOlder = useCallback(() => {
    if (cursor === undefined || isReadingOlder) return;
    setReading(true);
    const read = async (): Promise<void> => {
      try {
        const page = await hub.cases({ pageSize, cursor });
        queries.setQueryData<KnownCases>(casesKey, (known) => withOlder(known ?? page, page));
      } finally {
        setReading(false);
      }
    };
    // A failure shows itself at the next reading of the newest part.
    read().catch(() => undefined);
  }, [cursor, hub, isReadingOlder, queries]);
  return { query, isReadingOlder, readOlder };
}

/** Cases in which something is stuck, of all that there are: one question, or a few where it is cut. */
async function readStuck(hub: Pick<HubClient, 'cases'>): Promise<Stuck> {
  const cases: CaseSummary[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < mostStuckPages; pages++) {
    const page = await hub.cases({ stuck: true, pageSize, ...(cursor && { cursor }) });
    cases.push(...page.cases);
    cursor = page.cursor;
    if (cursor === undefined) break;
  }
  return { cases, isCut: cursor !== undefined };
}

export function useCase(id: string): UseQueryResult<CaseView> {
  const { hub } = useSource().session;
  return useFollowed({
    key: ['case', id],
    caseId: id,
    read: () => hub.caseView(id),
  });
}

export interface Timeline {
  readonly assertions: readonly Assertion[];
  /** There are more than the page keeps. */
  readonly isCut: boolean;
}

/** All assertions of a case in order; only what is new is read again. */
export function useTimeline(id: string): UseQueryResult<Timeline> {
  const { hub } = useSource().session;
  const queries = useQueryClient();
  const key = ['timeline', id];
  return useFollowed<Timeline>({
    key,
    caseId: id,
    share: false,
    apply: withEvent,
    read: async (before = { assertions: [], isCut: false }) => {
      if (before.isCut) return before;
      const assertions = [...before.assertions];
      let after = assertions.at(-1)?.seq ?? 0;
      for (let pages = 0; ;) {
        const page = await hub.timeline(id, { after, limit: pageSize });
        assertions.push(...page.assertions);
        if (page.next === undefined) break;
        after = page.next;
        if (assertions.length >= mostAssertions) return { assertions, isCut: true };
        if (++pages % pagesBetweenShowings === 0) {
          queries.setQueryData<Timeline>(key, { assertions: [...assertions], isCut: false });
        }
      }
      // What the feed brought meanwhile must not be lost.
      const known = queries.getQueryData<Timeline>(key) ?? before;
      const last = assertions.at(-1)?.seq ?? 0;
      assertions.push(...known.assertions.filter(({ seq }) => seq > last));
      const isSame = assertions.length === known.assertions.length;
      return isSame ? known : { assertions, isCut: false };
    },
  });
}

/** A timeline with one assertion more; of all else than assertions it can’t be told. */
function withEvent(timeline: Timeline, event: FeedEvent): Timeline | undefined {
  if (timeline.isCut) return timeline;
  if (event.type !== feedTypes.assertion) return undefined;
  const last = timeline.assertions.at(-1)?.seq ?? 0;
  if (event.data.seq <= last) return timeline;
  const assertions = [...timeline.assertions, event.data];
  return { assertions, isCut: assertions.length >= mostAssertions };
}

/** Both texts of a hand-over, read when somebody wants to see them. */
export function useTexts(
  caseId: string,
  taskId: string,
): UseQueryResult<{ sent: string; fullHistory: string; returned?: string }> {
  const { hub } = useSource().session;
  return useQuery({
    queryKey: ['texts', caseId, taskId],
    queryFn: () => hub.handoverTexts(caseId, taskId),
  });
}
