import { formatSSEErrorEvent, formatSSEEvent } from '@a2a-js/sdk';

export interface SseOptions<T> {
  /** Milliseconds without an event after which a comment is sent, so that no proxy hangs up. */
  readonly heartbeatMs: number;
  /** One event's id, by which a reader may come back, and its JSON. */
  readonly show: (event: T) => { readonly id?: number | undefined; readonly data: unknown };
  /** What the stream says last when its source throws. */
  readonly failure: (error: unknown) => unknown;
}

const encoder = new TextEncoder();

/**
 * Server-sent events from a source, written only as fast as they are read. When the reader goes
 * away the source is told to return.
 */
export function eventStream<T>(
  source: AsyncIterator<T, void, undefined>,
  options: SseOptions<T>,
): ReadableStream<Uint8Array> {
  let next: Promise<IteratorResult<T, void>> | undefined;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        next ??= source.next();
        try {
          const result = await orBeat(next, options.heartbeatMs);
          if (result === undefined) {
            controller.enqueue(encoder.encode(':\n\n'));
            return;
          }
          next = undefined;
          if (result.done === true) controller.close();
          else controller.enqueue(encoder.encode(eventText(options.show(result.value))));
        } catch (error) {
          controller.enqueue(encoder.encode(formatSSEErrorEvent(options.failure(error))));
          controller.close();
        }
      },
      async cancel() {
        await source.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

const eventText = ({ id, data }: { id?: number | undefined; data: unknown }): string =>
  `${id === undefined ? '' : `id: ${id}\n`}${formatSSEEvent(data)}`;

/** Undefined when nothing came for so long. */
async function orBeat<T>(next: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const beat = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
    timer.unref();
  });
  try {
    return await Promise.race([next, beat]);
  } finally {
    clearTimeout(timer);
  }
}
