import { z } from 'zod';
import { feedQuerySchema } from '../model/feed.ts';
import { foreignId } from '../model/ids.ts';
import type { Principal } from '../model/principal.ts';
import { eventStream } from './event-stream.ts';
import type { ServedHub } from './ports.ts';
import { empty, route, type Live, type Route } from './route.ts';

const query = feedQuerySchema.strict();
type Query = z.output<typeof query>;

/** Server-sent events, each a CloudEvent: what is asserted, as it is committed. */
export const feedRoutes: readonly Route[] = [
  route({
    ...empty,
    method: 'get',
    path: '/feed',
    bySession: true,
    summary:
      'Everything that one may see, as it comes: a snapshot of the list, then each assertion',
    query,
    gives: 'events',
    handle: (hub, { principal, query: given, live }) => stream(hub, principal, given, live),
  }),
  route({
    ...empty,
    method: 'get',
    path: '/cases/{id}/feed',
    bySession: true,
    summary: 'One case, as it goes on: a snapshot of it, then each assertion in it',
    params: z.strictObject({ id: foreignId }),
    query,
    gives: 'events',
    handle: (hub, { principal, params, query: given, live }) =>
      stream(hub, principal, { ...given, case: params.id }, live),
  }),
];

/** What a browser saw last stands in its header; the address is still that of its first asking. */
function stream(
  hub: ServedHub,
  principal: Principal,
  given: Query & { readonly case?: string },
  live: Live,
): Promise<Response> {
  const { lastEventId, stillIn } = live;
  const asked = lastEventId === undefined ? given : { ...given, after: lastEventId };
  return eventStream((signal) => hub.feed.open(principal, asked, { signal, stillIn }), live);
}
