import type { IncomingMessage, MessageHandler } from './handler.ts';
import { answerSchema, checkValue } from './handler-values.ts';
import type { Work } from './work.ts';

/** How a task stands whose agent waits to be told. */
export const asking = { state: 'awaiting', awaiting: 'input' } as const;

/** Runs the handler of plain messages; its answer completes the task, unless it is a question. */
export async function doMessage(
  work: Work,
  handler: MessageHandler,
  message: IncomingMessage,
): Promise<void> {
  const { publisher, io } = work;
  const answer = await handler(message, {
    ...io,
    progress: (said) => {
      if (!io.signal.aborted) publisher.state({ state: 'in-progress' }, { text: said });
    },
  });
  if (io.signal.aborted) return;
  checkValue(answerSchema, answer, 'The answer of the handler');
  if (answer.parts !== undefined && answer.parts.length > 0) {
    publisher.value('answer', answer.parts);
  }
  const { asks, ends = 'completed', text } = answer;
  publisher.state(asks === true ? asking : { state: ends }, { text });
}
