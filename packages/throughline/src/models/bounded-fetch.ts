import { ThroughlineError } from '../errors.ts';

/** Bytes of one response, at most. */
export const responseBytes = 8_388_608;

/** `fetch` that follows no redirect, since the key would go along, and reads no response without end. */
export const boundedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, { ...init, redirect: 'error' });
  if (response.body === null) return response;
  let bytes = 0;
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        bytes += chunk.length;
        if (bytes <= responseBytes) controller.enqueue(chunk);
        else controller.error(tooLarge());
      },
    }),
  );
  const { status, statusText, headers } = response;
  return new Response(counted, { status, statusText, headers });
};

const tooLarge = (): ThroughlineError =>
  new ThroughlineError(
    'too-large',
    `The model's response has more than ${responseBytes} bytes; it was not read further.`,
  );
