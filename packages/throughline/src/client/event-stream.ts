import { ThroughlineError } from '../errors.ts';

/** One event of a stream, or, without `data`, a sign of life that may move the reader’s place. */
export interface StreamEvent {
  /** As of this event; empty before the first one. */
  readonly id: string;
  readonly data?: string;
}

/** Characters that one event may have. */
const longest = 32 * 1_024 * 1_024;

/**
 * Server-sent events as the WHATWG standard reads them, as far as a hub writes them: `id`, `data`, comments.
 * What a cut leaves half is dropped.
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<StreamEvent, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  let id = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      const blocks = rest.split('\n\n');
      rest = blocks.pop() ?? '';
      if (rest.length > longest) {
        throw new ThroughlineError('too-large', 'the hub sends an event longer than is taken');
      }
      for (const block of blocks) {
        const event = eventOf(block, id);
        ({ id } = event);
        yield event;
      }
    }
  } finally {
    // Where it broke off, that is known already.
    await reader.cancel().catch(() => undefined);
  }
}

function eventOf(block: string, before: string): StreamEvent {
  let id = before;
  const data: string[] = [];
  for (const line of block.split('\n')) {
    if (line.startsWith('id: ')) id = line.slice('id: '.length);
    if (line.startsWith('data: ')) data.push(line.slice('data: '.length));
  }
  return data.length === 0 ? { id } : { id, data: data.join('\n') };
}
