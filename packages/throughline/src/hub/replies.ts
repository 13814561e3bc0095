import { z } from 'zod';
import type { StoreReader, StoreWriter } from '../store/store.ts';
import { CaseBoxes } from './case-boxes.ts';
import type { Deps } from './deps.ts';
import type { Message } from './messages.ts';
import { Records } from './records.ts';

export const replyRecords = new Records(
  'reply',
  z.object({ activity: z.string() }),
  z.object({ value: z.unknown() }),
);

/** Message-only replies, kept sealed with their case as the answer to the message they answer. */
export class Replies {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  async get(reader: StoreReader, message: Message): Promise<{ value: unknown } | undefined> {
    const boxes = new CaseBoxes(this.#deps.vault, reader);
    const found = await replyRecords.get(reader, boxes.for, message.key);
    return found?.content && { value: found.content.value };
  }

  async put(
    writer: StoreWriter,
    message: Message,
    activity: string,
    value: unknown,
    expiresAt?: number,
  ): Promise<void> {
    await replyRecords.put(writer, await this.#deps.vault.caseBoxFor(writer, activity), {
      key: message.key,
      index: { context: message.shape.ref },
      activity,
      expiresAt,
      shape: { activity },
      content: { value },
      expected: 0,
    });
  }
}
