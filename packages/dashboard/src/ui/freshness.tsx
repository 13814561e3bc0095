import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { clock } from '../words/time.ts';
import { Icon } from './icon.tsx';

/** Whether what is shown is what the hub holds now. */
export function Freshness({ query }: { readonly query: UseQueryResult }): ReactElement {
  const since = clock(new Date(query.dataUpdatedAt).toISOString());
  const isBehind = query.isError || query.fetchStatus === 'paused';
  return (
    <p className="freshness" role="status" data-behind={isBehind}>
      <Icon name={isBehind ? 'warning' : 'dot'} />
      {isBehind ? `Hub not reached. Shown as of ${since}; trying again` : 'Live'}
    </p>
  );
}
