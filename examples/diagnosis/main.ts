/**
 * Collaborative agents: two questions over three papers. One agent finds passages, the next takes the
 * answers out of them, the last looks them up; the Master hands on what each put out, one at a time.
 */
import { describeSent } from 'throughline/model';
import { tell } from '../world/story.ts';
import { whyNot } from '../world/world.ts';
import { extractor } from './agents.ts';
import { diagnosis, foundBy, titleOf } from './play.ts';

const { query, request, cast } = diagnosis;
const { workflow, offered } = request;

await tell({
  checks: ['answers-right', 'one-at-a-time', 'passages-alone', 'cited'],
  tell: async ({ world, fault, say }) => {
    const invents = fault === 'cited';
    const inventing = { ...cast.extractor, handler: extractor(true) };
    // The run goes on, so that what comes after is there to be looked at.
    const subtasks = workflow.subtasks.map((subtask) => ({
      ...subtask,
      criteria: subtask.criteria.map((each) => ({ ...each, required: !invents && each.required })),
    }));
    await world.perform({ ...cast, ...(invents && { extractor: inventing }) });
    const seen = await world.ask(
      query,
      {
        workflow: {
          ...workflow,
          subtasks,
          ...(fault === 'one-at-a-time' && { interaction: 'AsynchronousContextInteraction' }),
        },
        // Broken on purpose: the paper with the answer is another one.
        offered:
          fault === 'answers-right'
            ? offered.map((each) => ({ ...each, content: titleOf({ context: each.description }) }))
            : offered,
      },
      {
        ...(fault === 'passages-alone' && {
          selector: ({ needs }, all) => [...needs, ...all.slice(0, 3).map(({ name }) => name)],
        }),
      },
    );
    const { report } = seen;
    const found = await foundBy(seen.output);
    for (const { itemID, answer, paper } of found) say(`${itemID}: ${answer}\n  (${paper})`);
    say(`\n${describeSent(report.spent)}.`);
    const open = whyNot(report);
    if (open !== '') say(`Not completed: ${open}`);
    return { result: { found, tokens: report.tokens }, checks: await diagnosis.checks(seen) };
  },
});
