/**
 * Independent agents: a question over 20 paragraphs that stand on four shelves. In each step four
 * readers look at their own shelf at the same time, and an aggregator chooses what the next step needs.
 */
import type { AgentHandler } from 'throughline/agent';
import type { RunEvent } from 'throughline/master';
import { describeSent } from 'throughline/model';
import { tell, type Check } from '../world/story.ts';
import { whyNot } from '../world/world.ts';
import { aggregator } from './agents.ts';
import { chosenBy, paragraphName, research, steps } from './play.ts';
import { shelves } from './workflow.ts';

const { query, request, cast, master } = research;
const { workflow, offered } = request;

/** The four readers of a step were at work before the first of them was done. */
function atTheSameTime(events: readonly RunEvent[]): Check {
  const saw = steps.map((_, at) => {
    const ofStep = events.filter(
      (event) => 'subtask' in event && (event.subtask ?? '').startsWith(`read-${at + 1}-`),
    );
    const done = ofStep.findIndex(({ kind }) => kind === 'subtask-finished');
    return ofStep.slice(0, done).filter(({ kind }) => kind === 'subtask-started').length;
  });
  return { name: 'at-the-same-time', ok: saw.every((count) => count === shelves.length), saw };
}

await tell({
  checks: ['answers-found', 'own-shelf-only', 'word-for-word', 'at-the-same-time'],
  tell: async ({ world, fault, say }) => {
    // In the last step, so that none is lost after it.
    const last = `passage-${steps.length}`;
    const invents: AgentHandler = (context, io) =>
      aggregator(context.todoItems.some(({ itemID }) => itemID === last))(context, io);
    const inventing = { ...cast.aggregator, handler: invents };
    await world.perform({ ...cast, ...(fault === 'word-for-word' && { aggregator: inventing }) });
    say(`${query}\n`);
    // Broken on purpose: the answers of the last step are looked for on shelves without them.
    const lost =
      fault === 'answers-found' ? [paragraphName(steps.at(-1)?.paragraph_support_idx ?? 0)] : [];
    const seen = await world.ask(
      query,
      {
        workflow: {
          ...workflow,
          subtasks: workflow.subtasks.map((subtask) => ({
            ...subtask,
            needs: subtask.needs?.filter((need) => !lost.some((name) => name === need)),
          })),
        },
        offered,
      },
      {
        ...master,
        ...(fault === 'at-the-same-time' && { parallel: 1 }),
        ...(fault === 'own-shelf-only' && {
          selector: ({ needs }, all) => [
            ...needs,
            ...all.map(({ name }) => name).filter((name) => name.startsWith('paragraph-')),
          ],
        }),
      },
    );
    const { report, events } = seen;
    const chosen = await chosenBy(seen.output);
    for (const [at, { question }] of steps.entries()) {
      say(`${at + 1}. ${question}\n   ${chosen[at]?.passage.quote ?? 'nothing'}`);
    }
    say(`\n${describeSent(report.spent)}.`);
    const open = whyNot(report);
    if (open !== '') say(`Not completed: ${open}`);
    return {
      result: { passages: chosen.map((each) => each?.passage), tokens: report.tokens },
      checks: [...(await research.checks(seen)), atTheSameTime(events)],
    };
  },
});
