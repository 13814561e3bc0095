/**
 * Independent agents: a question over 20 paragraphs that stand on four shelves. In each step four
 * readers look at their own shelf at the same time, and an aggregator chooses what the next step needs.
 */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { OfferedContent, RunEvent } from 'throughline/master';
import { tell, type Check } from '../world/story.ts';
import { whyNot, type Given } from '../world/world.ts';
import { aggregator, chosenSchema, reader } from './agents.ts';
import { shelfOf, shelves, workflowOf } from './workflow.ts';

const chainSchema = z.object({
  question: z.string(),
  paragraphs: z.array(z.object({ title: z.string(), paragraph_text: z.string() })),
  question_decomposition: z.array(
    z.object({ question: z.string(), answer: z.string(), paragraph_support_idx: z.int() }),
  ),
});
const file = new URL('data/chains.jsonl', import.meta.url);
const chain = chainSchema.parse(JSON.parse(readFileSync(file, 'utf8').split('\n')[0] ?? ''));
const steps = chain.question_decomposition;

const paragraphName = (at: number): string => `paragraph-${at}`;
const offered = chain.paragraphs.map(({ title, paragraph_text: content }, at): OfferedContent => ({
  name: paragraphName(at),
  type: 'text',
  mediaType: 'text/plain',
  description: title,
  content,
}));

type Chosen = z.infer<typeof chosenSchema>;

/** Each step chose the paragraph that holds the answer, and a sentence that says it. */
function answersFound(chosen: readonly (Chosen | undefined)[]): Check {
  const saw = steps.map(({ answer, paragraph_support_idx: place }, at) => {
    const passage = chosen[at]?.passage;
    const { title, paragraph_text: text = '' } = chain.paragraphs[place] ?? {};
    const says = `${passage?.title ?? ''} ${passage?.quote ?? ''}`.includes(answer);
    const stands = passage?.title === title && text.includes(passage?.quote ?? '\0');
    return { answer, passage: passage?.quote, ok: says && stands };
  });
  return { name: 'answers-found', ok: saw.every(({ ok }) => ok), saw };
}

/** No reader was given, or fetched, a paragraph of another shelf. */
function ownShelfOnly(given: readonly Given[]): Check {
  const saw = shelves.flatMap((shelf) => {
    const texts = given.filter(({ agent }) => agent === `reader-${shelf}`);
    return chain.paragraphs.flatMap(({ paragraph_text: text }, at) =>
      shelfOf(at) !== shelf && texts.some((each) => each.text.includes(text))
        ? [`reader-${shelf}: ${paragraphName(at)}`]
        : [],
    );
  });
  return { name: 'own-shelf-only', ok: saw.length === 0 && given.length > 0, saw };
}

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
  checks: ['answers-found', 'own-shelf-only', 'at-the-same-time', 'word-for-word'],
  tell: async ({ world, fault, say }) => {
    for (const shelf of shelves) {
      await world.agent(`reader-${shelf}`, `Reads the paragraphs on shelf ${shelf}.`, reader);
    }
    const chooser = aggregator(fault === 'word-for-word');
    await world.agent('aggregator', 'Chooses among what readers found.', chooser);
    say(`${chain.question}\n`);
    const questions = steps.map(({ question }) => question);
    const workflow = workflowOf(
      questions,
      offered.map(({ name }) => name),
    );
    // Broken on purpose: the answers of the last step are looked for on shelves without them.
    const lost =
      fault === 'answers-found' ? [paragraphName(steps.at(-1)?.paragraph_support_idx ?? 0)] : [];
    const { report, output, events } = await world.ask(
      chain.question,
      {
        workflow: {
          ...workflow,
          subtasks: workflow.subtasks.map((subtask) => ({
            ...subtask,
            attempts: 1,
            needs: subtask.needs?.filter((need) => !lost.some((name) => name === need)),
          })),
        },
        offered,
      },
      {
        parallel: shelves.length,
        ...(fault === 'at-the-same-time' && { parallel: 1 }),
        ...(fault === 'own-shelf-only' && {
          selector: ({ needs }, all) => [
            ...needs,
            ...all.map(({ name }) => name).filter((name) => name.startsWith('paragraph-')),
          ],
        }),
      },
    );
    const chosen: (Chosen | undefined)[] = [];
    for (const at of steps.keys()) {
      const text = await output(`passage-${at + 1}`).catch(() => undefined);
      chosen.push(text === undefined ? undefined : chosenSchema.parse(JSON.parse(text)));
      say(
        `${at + 1}. ${steps[at]?.question ?? ''}\n   ${chosen.at(-1)?.passage.quote ?? 'nothing'}`,
      );
    }
    const { handedOver, fullHistory } = report.tokens;
    say(
      `\nHanded over ${handedOver} tokens; the full history each time would have been ${fullHistory}.`,
    );
    const open = whyNot(report);
    if (open !== '') say(`Not completed: ${open}`);
    const graded = report.subtasks.flatMap(({ verdict }) => verdict?.criteria ?? []);
    return {
      result: { passages: chosen.map((each) => each?.passage), tokens: report.tokens },
      checks: [
        answersFound(chosen),
        ownShelfOnly(world.given),
        atTheSameTime(events),
        {
          name: 'word-for-word',
          ok: graded.length === steps.length && graded.every(({ ok }) => ok),
          saw: graded.map(({ ok, reason }) => ({ ok, reason })),
        },
      ],
    };
  },
});
