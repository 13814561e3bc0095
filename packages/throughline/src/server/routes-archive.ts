import { z } from 'zod';
import { foreignId } from '../model/ids.ts';
import { empty, route, type Route } from './route.ts';

const query = z.strictObject({ shapeOnly: z.boolean().default(false) });

/** Cases carried away: lines of JSON, the last of which tells whether all came. */
export const archiveRoutes: readonly Route[] = [
  route({
    ...empty,
    method: 'get',
    path: '/cases/{id}/export',
    summary: 'One case as JSON Lines: its log with hashes, and what was written in it',
    params: z.strictObject({ id: foreignId }),
    query,
    gives: 'lines',
    handle: async (hub, { principal, params: { id }, query: options, live }) =>
      lines(await hub.archive.exporting.case(principal, id, options), live.signal),
  }),
  route({
    ...empty,
    method: 'get',
    path: '/export',
    summary: 'All cases of an operator’s tenant as JSON Lines',
    query,
    gives: 'lines',
    handle: async (hub, { principal, query: options, live }) =>
      lines(await hub.archive.exporting.tenant(principal, options), live.signal),
  }),
];

function lines(all: AsyncIterable<Uint8Array>, signal: AbortSignal): Response {
  return new Response(ReadableStream.from(until(signal, all)), {
    headers: { 'Content-Type': 'application/jsonl' },
  });
}

/** Cut when the reader goes or the server closes; without its last line nobody takes it for whole. */
async function* until(
  signal: AbortSignal,
  all: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for await (const line of all) {
    signal.throwIfAborted();
    yield line;
  }
}
