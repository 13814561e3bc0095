import { modelAgent, type AgentHandler } from 'throughline/agent';
import type { MasterOptions, OfferedContent, WorkflowInput } from 'throughline/master';
import type { Model } from 'throughline/models';
import { whyNot, World } from '../../examples/world/world.ts';
import { canary, type Caught, type Conversation } from './delegations.ts';

/**
 * Has a Master delegate every question of these conversations to an agent with a model, over a hub, and
 * gives what reached that agent for each, in order. What was said in confidence stands in the user's
 * words to the Master, and in an item of its own that no subtask needs.
 *
 * @param share TargetRatio of every subtask.
 * @param selector Chooses the context instead of the plan, to see a leak caught.
 */
export async function catchOurs(
  conversations: readonly Conversation[],
  share: number,
  selector?: MasterOptions['selector'],
): Promise<Caught[]> {
  const world = await World.open();
  try {
    const reached = new Map<string, Caught>();
    await world.agent('worker', 'Works.', catching(reached));
    const caught: Caught[] = [];
    for (const conversation of conversations) {
      const workflow = planOf(conversation, share);
      const { report } = await world.ask(
        `${canary}\nAnswer the questions.`,
        { workflow, offered: offeredOf(conversation) },
        { ...(selector && { selector }) },
      );
      const open = whyNot(report);
      if (open !== '') throw new Error(`A conversation was not worked through: ${open}`);
      for (const { id } of workflow.subtasks) caught.push(reached.get(id) ?? { prompt: '' });
      reached.clear();
      world.given.length = 0;
    }
    return caught;
  } finally {
    await world.close();
  }
}

/** Works with a mock model, and notes by subtask all that came. */
const catching =
  (reached: Map<string, Caught>): AgentHandler =>
  async (context, io) => {
    const texts: string[] = [];
    for (const { ContextID: id } of context.ContextItems) texts.push((await io.fetch(id)).text());
    const beside = [JSON.stringify(context), ...texts].join('\n');
    const model = mock((prompt) => void reached.set(context.SubTaskID, { prompt, beside }));
    return modelAgent({ model, instructions: 'Work.' })(context, io);
  };

function mock(asked: (prompt: string) => void): Model {
  const usage = { inputTokens: 1, outputTokens: 1 };
  return {
    name: 'mock',
    text: () => Promise.reject(new Error('Only structured output is asked for.')),
    object: async ({ prompt, schema }) => {
      asked(prompt);
      const answers = [{ itemID: 'answer', answer: 'Done.', citations: [] }];
      return { value: schema.parse({ answers, confidence: 1 }), usage };
    },
  };
}

const nameOf = (at: number): string => `text-${at}`;

const planOf = ({ texts, delegations }: Conversation, share: number) =>
  ({
    name: 'Delegated',
    subtasks: delegations.map(({ question }, at) => ({
      id: `question-${at}`,
      name: question,
      agent: 'worker',
      needs: texts.map((_, of) => nameOf(of)),
      todo: [{ id: 'answer', description: question }],
      evaluation: 'relaxed' as const,
      compression: {
        Strategy: 'target_ratio',
        TargetRatio: share,
        LossTolerance: 'low' as const,
        MustPreserveFields: [],
      },
    })),
  }) satisfies WorkflowInput;

function offeredOf({ texts }: Conversation): OfferedContent[] {
  const about = { type: 'text', mediaType: 'text/plain' } as const;
  return [
    { ...about, name: 'confidence', description: 'Diary', content: canary },
    ...texts.map(({ title, text }, at) => ({
      ...about,
      name: nameOf(at),
      description: title === '' ? 'What there is' : title,
      content: text,
    })),
  ];
}
