import {
  useQuery,
  useQueryClient,
  type QueryKey,
  type UseQueryResult,
} from '@tanstack/react-query';
import { useEffect, useEffectEvent } from 'react';
import { ThroughlineError, type FeedEvent } from 'throughline/model';
import { useSource } from './context.ts';

export interface Followed<T> {
  readonly key: QueryKey;
  /** The case that it is part of; absent for the list of cases. */
  readonly caseId?: string;
  /** Reads it again; gets what was known. */
  readonly read: (before: T | undefined) => Promise<T>;
  /** Compare what was read with what was known, to keep what is equal. Off where it only grows. */
  readonly share?: boolean;
  /** What is known after an event of the feed; undefined: it must be read again. */
  readonly apply?: (before: T, event: FeedEvent) => T | undefined;
}

/** Something of the hub's, read now and whenever it may have changed. */
export function useFollowed<T>({
  key,
  caseId,
  read,
  share = true,
  apply,
}: Followed<T>): UseQueryResult<T> {
  const queries = useQueryClient();
  const { live, onSignedOut } = useSource();
  const query = useQuery<T>({
    queryKey: key,
    queryFn: () => read(queries.getQueryData<T>(key)),
    structuralSharing: share,
  });
  const { refetch, error } = query;
  const refresh = useEffectEvent(async () => {
    await refetch({ throwOnError: true, cancelRefetch: false });
  });
  const take = useEffectEvent((event: FeedEvent): boolean => {
    const before = queries.getQueryData<T>(key);
    const after = before === undefined ? undefined : apply?.(before, event);
    if (after === undefined) return false;
    if (after !== before) queries.setQueryData<T>(key, after);
    return true;
  });
  useEffect(
    () =>
      live.follow(caseId === undefined ? { of: 'cases' } : { of: 'case', id: caseId }, {
        refresh: async () => {
          await refresh();
        },
        apply: (event) => take(event),
      }),
    [live, caseId],
  );
  const isOut = error instanceof ThroughlineError && error.code === 'unauthenticated';
  useEffect(() => {
    if (isOut) onSignedOut();
  }, [isOut, onSignedOut]);
  return query;
}
