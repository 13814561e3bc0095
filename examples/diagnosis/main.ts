/**
 * Collaborative agents: two questions over three papers. One agent finds passages, the next takes the
 * answers out of them, the last looks them up; the Master hands on what each put out, one at a time.
 */
import { readFileSync } from 'node:fs';
import { parseWorkflow, type OfferedContent, type RunEvent } from 'throughline/master';
import { agentContextSchema } from 'throughline/model';
import { z } from 'zod';
import { tell, type Check } from '../world/story.ts';
import { whyNot, type Given } from '../world/world.ts';
import { checker, diagnosisSchema, extractor, finder, librarian } from './agents.ts';

const paperSchema = z.object({
  context: z.string(),
  questions: z.array(z.object({ question: z.string(), answer: z.string() })),
});
const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');
const papers = read('data/papers.jsonl')
  .trimEnd()
  .split('\n')
  .map((line) => paperSchema.parse(JSON.parse(line)));
const titleOf = ({ context }: { context: string }): string => context.trim().split('\n')[0] ?? '';

const offered = papers.map((paper, at): OfferedContent => ({
  name: `paper-${at + 1}`,
  type: 'document',
  mediaType: 'text/plain',
  description: titleOf(paper),
  content: paper.context,
}));

const workflow = parseWorkflow(read('workflow.yaml'));

const same = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** What the data set says of the two questions, by item. */
const expected = (workflow.subtasks.find(({ id }) => id === 'find')?.todo ?? []).map(
  ({ id, description }) => {
    const paper = papers.find(({ questions }) =>
      questions.some(({ question }) => same(question) === same(description)),
    );
    const entry = paper?.questions.find(({ question }) => same(question) === same(description));
    return { id, answer: entry?.answer ?? '', paper: paper === undefined ? '' : titleOf(paper) };
  },
);

type Found = z.infer<typeof diagnosisSchema>['found'];

/** Each answer says what the data set says, and comes from its paper. */
function answersRight(found: Found): Check {
  const saw = expected.map(({ id, answer, paper }) => {
    const one = found.find(({ itemID }) => itemID === id);
    const right = one?.answer.includes(answer) === true && one.paper === paper;
    return { id, expected: answer, answer: one?.answer, right };
  });
  return { name: 'answers-right', ok: saw.every(({ right }) => right), saw };
}

/** Nothing was begun before what was under way had ended. */
function oneAtATime(events: readonly RunEvent[]): Check {
  const begun = new Set<string>();
  const saw = events.flatMap((event) => {
    if (event.kind === 'subtask-started') {
      begun.add(event.subtask);
      return [`begins ${event.subtask}`];
    }
    const ends = event.kind === 'subtask-finished' && begun.has(event.subtask);
    return ends ? [`ends ${event.subtask}`] : [];
  });
  const ok = saw.every((step, at) => step.startsWith(at % 2 === 0 ? 'begins' : 'ends'));
  return { name: 'one-at-a-time', ok: ok && saw.length > 0, saw };
}

/** The extractor may fetch the passages and nothing else: no paper as a whole. */
function passagesAlone(given: readonly Given[]): Check {
  const own = given.filter(({ agent, kind }) => agent === 'extractor' && kind === 'context');
  const saw = own.map(({ text }) =>
    agentContextSchema.parse(JSON.parse(text)).ContextItems.map(({ Description }) => Description),
  );
  const ok = saw.length > 0 && saw.every((items) => items.length === 1);
  return { name: 'passages-alone', ok, saw };
}

await tell({
  checks: ['answers-right', 'one-at-a-time', 'passages-alone', 'cited'],
  tell: async ({ world, fault, say }) => {
    await world.agent('librarian', 'Lists what there is.', librarian);
    await world.agent('finder', 'Finds passages in papers.', finder);
    await world.agent('extractor', 'Takes answers out of passages.', extractor(fault === 'cited'));
    await world.agent('checker', 'Looks answers up in papers.', checker);
    const query = expected.map(({ id }) => id).join(' and ');
    const { report, output, events } = await world.ask(
      `What do the papers say of ${query}?`,
      {
        workflow: {
          ...workflow,
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
    const text = await output('diagnosis').catch(() => '{"found":[]}');
    const { found } = diagnosisSchema.parse(JSON.parse(text));
    for (const { itemID, answer, paper } of found) say(`${itemID}: ${answer}\n  (${paper})`);
    const { handedOver, fullHistory } = report.tokens;
    say(
      `\nHanded over ${handedOver} tokens; the full history each time would have been ${fullHistory}.`,
    );
    const open = whyNot(report);
    if (open !== '') say(`Not completed: ${open}`);
    const graded = report.subtasks.flatMap(({ verdict }) => verdict?.criteria ?? []);
    return {
      result: { found, tokens: report.tokens },
      checks: [
        answersRight(found),
        oneAtATime(events),
        passagesAlone(world.given),
        {
          name: 'cited',
          ok: graded.some(({ id }) => id === 'cited') && graded.every(({ ok }) => ok),
          saw: graded.map(({ id, ok, reason }) => ({ id, ok, reason })),
        },
      ],
    };
  },
});
