import type { UseQueryResult } from '@tanstack/react-query';
import { useSyncExternalStore, type ReactElement } from 'react';
import { useSource } from '../data/context.ts';
import { clock } from '../words/time.ts';
import { Icon } from './icon.tsx';

const words = {
  opening: 'Connecting …',
  live: 'Live',
  asking: 'Read every few seconds',
  cut: '',
} as const;

/** Whether what is shown is what the hub holds now. */
export function Freshness({ query }: { readonly query: UseQueryResult }): ReactElement {
  const { live } = useSource();
  const state = useSyncExternalStore(live.watch, () => live.state);
  const since = clock(new Date(query.dataUpdatedAt).toISOString());
  const isBehind = query.isError || query.fetchStatus === 'paused' || state === 'cut';
  return (
    <p className="freshness" role="status" data-behind={isBehind}>
      <Icon name={isBehind ? 'warning' : 'dot'} />
      {isBehind ? `Hub not reached. Shown as of ${since}; trying again` : words[state]}
    </p>
  );
}
