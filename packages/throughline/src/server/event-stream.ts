import { ThroughlineError } from '../errors.ts';
import type { FeedStep } from './ports.ts';

/** Some proxies pass nothing on until they have so much. */
const padding = `:${' '.repeat(2_048)}\n\n`;
/** Milliseconds after which a reader that was cut off asks again. */
const retryMs = 1_000;
/** A reader that takes nothing for so long is dropped; it can go on where it was. */
const stalledMs = 30_000;

/**
 * Server-sent events of the WHATWG standard, one CloudEvent each; the events of a step leave in one write. The
 * stream is pulled: with a reader that does not take, nothing is read for it.
 */
export async function eventStream(
  open: (signal: AbortSignal) => Promise<AsyncIterable<FeedStep>>,
  options: { readonly signal: AbortSignal; readonly stalledMs?: number },
): Promise<Response> {
  const over = new AbortController();
  const signal = AbortSignal.any([options.signal, over.signal]);
  const steps = (await opened(open, signal, over))[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  let stalled: NodeJS.Timeout | undefined;
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        controller.enqueue(encoder.encode(`${padding}retry: ${retryMs}\n\n`));
      },
      async pull(controller) {
        clearTimeout(stalled);
        const { done, value } = await steps.next();
        if (done === true) {
          over.abort();
          controller.close();
          return;
        }
        controller.enqueue(encoder.encode(textOf(value)));
        stalled = setTimeout(() => {
          over.abort();
          controller.error(new ThroughlineError('timeout', 'the reader of the feed takes nothing'));
        }, options.stalledMs ?? stalledMs).unref();
      },
      cancel() {
        clearTimeout(stalled);
        over.abort();
      },
    },
    { highWaterMark: 1 },
  );
  return new Response(body, { headers: { 'Content-Type': 'text/event-stream; charset=utf-8' } });
}

async function opened(
  open: (signal: AbortSignal) => Promise<AsyncIterable<FeedStep>>,
  signal: AbortSignal,
  over: AbortController,
): Promise<AsyncIterable<FeedStep>> {
  try {
    return await open(signal);
  } catch (error) {
    over.abort();
    throw error;
  }
}

/** An id without data moves a reader’s place and tells it nothing. */
const textOf = ({ items, cursor }: FeedStep): string =>
  items.length === 0
    ? `: still here\nid: ${cursor}\n\n`
    : items.map((item) => `id: ${item.cursor}\ndata: ${JSON.stringify(item.event)}\n\n`).join('');
