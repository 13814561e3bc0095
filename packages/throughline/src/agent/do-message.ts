import type { Part } from '../handover/parts.ts';
import type { Work } from './work.ts';
import type { MessageHandler } from './handler.ts';

/** How a task stands whose agent waits to be told. */
export const asking = { state: 'awaiting', awaiting: 'input' } as const;

/** Runs the handler of plain messages; its answer completes the task, unless it is a question. */
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
  publisher.state(answer.asks === true ? asking : { state: 'completed' }, { text: answer.text });
}
