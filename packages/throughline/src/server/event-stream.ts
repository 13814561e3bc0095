import type { FeedStep } from './ports.ts';
import type { Live } from './route.ts';

/** Some proxies pass nothing on until they have so much. */
const padding = `:${' '.repeat(2_048)}\n\n`;
/** Milliseconds after which a reader that was cut off asks again. */
const retryMs = 1_000;

type StreamOptions = Pick<Live, 'signal' | 'stalledMs' | 'drop' | 'onFailure'>;

/**
 * Server-sent events of the WHATWG standard, one CloudEvent each; the events of a step leave in one write. The
 * stream is pulled: with a reader that does not take, nothing is read for it.
 */
export async function eventStream(
  open: (signal: AbortSignal) => Promise<AsyncIterable<FeedStep>>,
  options: StreamOptions,
): Promise<Response> {
  const over = new AbortController();
  const signal = AbortSignal.any([options.signal, over.signal]);
  const steps = (await opened(open, signal, over))[Symbol.asyncIterator]();
  let stalled: NodeJS.Timeout | undefined;
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        controller.enqueue(encoder.encode(`${padding}retry: ${retryMs}\n\n`));
      },
      async pull(controller) {
        clearTimeout(stalled);
        const step = await next(steps, options);
        if (step === undefined) {
          over.abort();
          controller.close();
          return;
        }
        controller.enqueue(bytesOf(step));
        stalled = setTimeout(() => {
          over.abort();
          controller.close();
          options.drop();
        }, options.stalledMs).unref();
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

/** One that fails ends the stream: its reader comes back, and is told then if it is still so. */
async function next(
  steps: AsyncIterator<FeedStep>,
  { signal, onFailure }: StreamOptions,
): Promise<FeedStep | undefined> {
  try {
    const { done, value } = await steps.next();
    return done === true ? undefined : value;
  } catch (error) {
    if (!signal.aborted) onFailure(error);
    return undefined;
  }
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

const encoder = new TextEncoder();
/** Readers of the same are given the same items: they are written once. */
const written = new WeakMap<FeedStep['items'], Uint8Array>();

function bytesOf(step: FeedStep): Uint8Array {
  if (step.items.length === 0) return encoder.encode(textOf(step));
  const bytes = written.get(step.items) ?? encoder.encode(textOf(step));
  written.set(step.items, bytes);
  return bytes;
}

/** An id without data moves a reader’s place and tells it nothing. */
const textOf = ({ items, cursor }: FeedStep): string =>
  items.length === 0
    ? `: still here\nid: ${cursor}\n\n`
    : items.map((item) => `id: ${item.cursor}\ndata: ${JSON.stringify(item.event)}\n\n`).join('');
