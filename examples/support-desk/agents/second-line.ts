/** The second line: picks a case up by its contextId, with nothing but its grant. */
import { connectA2a } from 'throughline/a2a';
import type { MessageHandler } from 'throughline/agent';
import { answerFollowUp } from '../followup.ts';
import { answerIn } from './desk-agent.ts';
import { chosenTransport } from './process.ts';

export interface SecondLineOptions {
  deskUrl: string;
  /** Its own key: it sees what it was granted, not what whoever asks may see. */
  credential: string;
}

/** Answers from what the desk found earlier in this context; looks nothing up again. */
export function secondLine({ deskUrl, credential }: SecondLineOptions): MessageHandler {
  return async ({ text }, io) => {
    const connection = await connectA2a({
      url: deskUrl,
      credential: `Bearer ${credential}`,
      self: { kind: 'agent', name: 'Second line' },
      ...chosenTransport(),
    });
    try {
      const { tasks } = await connection.listTasks({ contextId: io.contextId });
      const found = await Promise.all(
        tasks
          .filter(({ state }) => state === 'completed')
          .map((task) => connection.getTask(task.taskId ?? '')),
      );
      const answer = answerIn(
        found.flatMap(({ outputs }) => outputs.flatMap(({ parts }) => parts)),
      );
      if (answer === undefined) {
        return { text: 'I may not see the history of this case. Ask its owner for a grant.' };
      }
      const followUp = answerFollowUp(text, answer);
      return {
        text: followUp.answer,
        parts: [{ kind: 'data', mediaType: 'application/json', data: followUp }],
      };
    } finally {
      await connection.close();
    }
  };
}
