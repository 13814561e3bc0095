import type { Part } from '../handover/parts.ts';
import type { Work } from './work.ts';
import type { MessageHandler } from './handler.ts';

/** Runs the handler of plain messages; its answer completes the task. */
export async function doMessage(
  work: Work,
  handler: MessageHandler,
  parts: readonly Part[],
  messageId: string,
): Promise<void> {
  const { publisher, io } = work;
  const text = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n');
  const answer = await handler(
    { text, parts, messageId },
    {
      ...io,
      progress: (said) => {
        if (!io.signal.aborted) publisher.state({ state: 'in-progress' }, { text: said });
      },
    },
  );
  if (io.signal.aborted) return;
  if (answer.parts !== undefined && answer.parts.length > 0) {
    publisher.value('answer', answer.parts);
  }
  publisher.state({ state: 'completed' }, { text: answer.text });
}
